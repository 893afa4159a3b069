"""Photo stories with a killed worker, with two workers, and in a browser: the same stories, each once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from killed_crawl import crawl_and_kill
from sqlalchemy import select

from newsportal.store.galleries import PAGES
from newsportal.store.gallery_tables import GALLERY_PAGES
from newsportal.store.link_tables import LINKS, STORED
from tests.forked import Started
from tests.photo_crawls import SECONDS, crawl, opened, stored_galleries

if TYPE_CHECKING:
    from madeup.photos import MadeUpPhotos
    from madeup.photos.measure import StoredStory

pytestmark = pytest.mark.slow

HOSTS = ("yuntai", "songling", "qiushui")
"""One with stories read link by link, one with a pattern, one with one page per story."""

WORDS = ("crawl", "gallery", "--json", "--sources")
MOMENTS = (60, 250, 400)
"""Requests after which the worker is killed: among the first stories, in the middle, among the pictures."""


@pytest.fixture(scope="module")
def photos() -> Iterator[MadeUpPhotos]:
    from madeup.photos import MadeUpPhotos

    with MadeUpPhotos() as photos:
        yield photos


@pytest.fixture(scope="module")
def undisturbed(photos: MadeUpPhotos, tmp_path_factory: pytest.TempPathFactory) -> list[StoredStory]:
    """Return what a worker stores without being killed."""
    photos.reset()
    photos.visit = 1
    sources = photos.sources(tmp_path_factory.mktemp("whole") / "sources.yaml", *HOSTS)
    crawl(sources)
    return stored(sources)


def stored(sources: Path) -> list[StoredStory]:
    store = opened(sources)
    try:
        return stored_galleries(store)
    finally:
        store.close()


def read_pages(sources: Path) -> tuple[set[str], set[str]]:
    """Return the URLs that must not be requested again: of complete stories whose links are finished (a kill may come between a story and
    its link), and of saved pages of unfinished stories."""
    store = opened(sources)
    try:
        with store.galleries._read() as connection:
            over = set(connection.scalars(select(LINKS.c.id).where(LINKS.c.state == STORED)))
            read_urls = {page.url for page in PAGES.validate_python(connection.scalars(select(GALLERY_PAGES.c.content)).all())}
        stories = [article for article in store.all_articles() if article.id in over]
        complete = {article.url for article in stories if (found := store.galleries.gallery(article.id)) and found.complete}
    finally:
        store.close()
    return complete, read_urls


def plain(stories: list[StoredStory]) -> list[tuple[object, ...]]:
    """Return what must be the same in any case: everything but the ids of stories."""
    return sorted(
        (row.url, row.complete, row.title, tuple((picture.url, picture.caption or "") for picture in row.pictures)) for row in stories
    )


def groups(stories: list[StoredStory]) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for story in stories:
        found.setdefault(story.story, set()).add(story.url)
    return {frozenset(urls) for urls in found.values() if len(urls) > 1}


def test_undisturbed_crawl_is_complete(photos: MadeUpPhotos, undisturbed: list[StoredStory]) -> None:
    from madeup.photos.measure import collected

    found = collected(undisturbed, photos.gold(*HOSTS), 1)
    assert found.right >= 0.99 * found.stories, found.wrong


def test_repeatedly_killed_crawl_ends_with_same_stories(photos: MadeUpPhotos, undisturbed: list[StoredStory], tmp_path: Path) -> None:
    photos.reset()
    photos.visit = 1
    sources = photos.sources(tmp_path / "sources.yaml", *HOSTS)
    history: list[tuple[int, set[str], set[str]]] = []  # requests so far, and the pages read by then
    for moment in MOMENTS:
        crawl_and_kill(photos, moment, *WORDS, str(sources))
        history.append((len(photos.requests), *read_pages(sources)))
    half = stored(sources)
    assert len(half) < len(undisturbed), "the crawl must be killed midway"
    crawl(sources)
    for before, complete, kept_pages in history:
        pages = [(visit.site, visit.path) for visit in photos.requests[before:]]
        places = {photos.url(*page): photos.world.by_path[page][1] for page in pages if page in photos.world.by_path}  # without the lists
        again = {url for url, place in places.items() if url in complete or (url in kept_pages and place > 1)}
        assert again == set(), "only first pages of unfinished stories are requested again"
    assert history[-1][1], "there were complete stories"
    assert any(kept_pages for _, _, kept_pages in history), "there were saved pages of incomplete stories"
    stories = stored(sources)
    assert plain(stories) == plain(undisturbed)
    assert groups(stories) == groups(undisturbed)


def test_two_workers_store_every_story_once(photos: MadeUpPhotos, undisturbed: list[StoredStory], tmp_path: Path) -> None:
    photos.reset()
    photos.visit = 1
    sources = photos.sources(tmp_path / "sources.yaml", *HOSTS)
    workers = [Started(*WORDS, str(sources)) for _ in range(2)]
    outputs = [worker.communicate(timeout=2 * SECONDS) for worker in workers]
    for worker, (_, errors) in zip(workers, outputs, strict=True):
        assert worker.returncode == 0, errors[-3000:]
        assert "Traceback" not in errors, errors[-3000:]
    rows = [row for output, _ in outputs for row in json.loads(output)["sources"]]
    lists = {source: [row["list_pages"] for row in rows if row["source"] == source] for source in {row["source"] for row in rows}}
    assert all(sum(pages) > 0 for pages in lists.values()), lists
    assert sum(row["entries"] for row in rows) > 0
    stories = stored(sources)
    assert plain(stories) == plain(undisturbed)
    assert groups(stories) == groups(undisturbed)


@pytest.mark.browser
def test_scripted_stories_are_read_in_browser(photos: MadeUpPhotos, tmp_path: Path) -> None:
    from madeup.photos.measure import collected

    photos.reset()
    photos.visit = 1
    sources = photos.sources(tmp_path / "sources.yaml", "weilan")
    crawl(sources)
    found = collected(stored(sources), photos.gold("weilan"), 1)
    assert found.right == found.stories == found.stored == 12, found.wrong


def test_scripted_stories_fail_without_browser(photos: MadeUpPhotos, tmp_path: Path) -> None:
    photos.reset()
    sources = photos.sources(tmp_path / "sources.yaml", "weilan")
    sources.write_text(sources.read_text("utf-8").replace("    render: true\n", ""), "utf-8")
    report = crawl(sources)
    assert report["total"]["stored"] == 0
    assert sum(report["total"]["failed"].values()) >= 12
