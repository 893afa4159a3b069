"""Photo stories in complete crawls: the made-up picture Web on loopback, the real spider, stages and store, three visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from newsportal_lab.evaluate.dedup import score_pairs
from tests.photo_crawls import crawl, opened, stored_galleries

if TYPE_CHECKING:
    from madeup.photos import MadeUpPhotos
    from madeup.photos.measure import StoredStory
    from madeup.server import Visit

pytestmark = pytest.mark.slow

SITES = ("jiangan", "songling", "yuntai", "beigang", "guanlan", "qiushui", "lanting", "huaxin", "gulang", "xinghai")
WHOLE = 0.99
"""Share of the stories that are complete with pictures and captions in order, and without others (paper C: 99.5 / 97.2 %)."""

SAME_PRECISION, SAME_RECALL = 0.95, 0.923
"""For pairs of stories that are the same (paper C)."""


@dataclass(frozen=True)
class CrawlRun:
    """One visit: its report, the stored stories after it, and its requests."""

    report: dict[str, Any]
    kept: list[StoredStory]
    requests: list[Visit]


@pytest.fixture(scope="module")
def photos() -> Iterator[MadeUpPhotos]:
    from madeup.photos import MadeUpPhotos

    with MadeUpPhotos() as photos:
        yield photos


@pytest.fixture(scope="module")
def runs(photos: MadeUpPhotos, tmp_path_factory: pytest.TempPathFactory) -> list[CrawlRun]:
    """Return three visits of all hosts that need no browser; some pages fail at the first visit, some always."""
    photos.reset()
    sources = photos.sources(tmp_path_factory.mktemp("套图") / "sources.yaml")
    found = []
    for visit in range(3):
        photos.visit, photos.requests = visit, []
        report = crawl(sources)
        store = opened(sources)
        found.append(CrawlRun(report, stored_galleries(store), list(photos.requests)))
        store.close()
    return found


def row(report: dict[str, Any], key: str) -> dict[str, Any]:
    return next(source for source in report["sources"] if source["source"] == f"gallery:{key}")


@pytest.mark.parametrize("visit", [0, 1, 2])
def test_stories_are_complete_with_ordered_captions(photos: MadeUpPhotos, runs: list[CrawlRun], visit: int) -> None:
    from madeup.photos.measure import collected

    found = collected(runs[visit].kept, photos.gold(), visit)
    late = sum(story.late == 1 for story in photos.gold()) if visit == 0 else 0  # their only page fails: nothing of them can be stored
    assert found.right >= WHOLE * (found.stories - late), found.wrong
    assert found.precision >= WHOLE, found.wrong


@pytest.mark.parametrize("key", SITES)
def test_every_layout_is_supported(photos: MadeUpPhotos, runs: list[CrawlRun], key: str) -> None:
    from madeup.photos.measure import collected

    stories = [story for story in runs[1].kept if story.url.startswith(photos.url(key))]
    found = collected(stories, photos.gold(key), 1)
    assert found.right >= found.stories - 1, found.wrong
    assert found.captions_right >= 0.98 * found.captions


def test_logos_and_advertisements_are_dropped(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    urls = {picture.url for story in photos.gold() for part in story.pictures for picture in part}
    assert [picture.url for story in runs[1].kept for picture in story.pictures if picture.url not in urls] == []


def test_titles_authors_and_times_match_gold(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    gold = {story.url: story for story in photos.gold()}
    wrong = {}
    for stored in runs[1].kept:
        expected = gold[stored.url]
        right = (expected.title, expected.author, datetime.fromisoformat(expected.published))
        if (stored.title, stored.author, stored.published) != right:
            wrong[expected.key] = (stored.title, stored.author, stored.published)
    assert len(wrong) <= 0.01 * len(gold), wrong


def test_same_stories_are_folded_and_others_not(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    from madeup.photos import STATIC, alike
    from madeup.photos.measure import folded

    joined, right = folded(runs[1].kept, photos.gold())
    score = score_pairs(joined, right)
    assert score.wanted >= 100
    assert score.precision >= SAME_PRECISION, sorted(map(sorted, joined - right))
    assert score.recall >= SAME_RECALL, sorted(map(sorted, right - joined))
    assert len(joined & alike(photos.world, STATIC)) <= 2


def test_version_with_most_pictures_heads_story(runs: list[CrawlRun]) -> None:
    stories: dict[str, list[StoredStory]] = {}
    for version in runs[1].kept:
        stories.setdefault(version.story, []).append(version)
    several = [group for group in stories.values() if len(group) > 1]
    assert len(several) >= 50
    for group in several:
        (head,) = (version for version in group if version.head)
        assert len(head.pictures) == max(len(version.pictures) for version in group)


def test_only_failed_pages_are_requested_again(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    late = [story for story in photos.gold() if story.late is not None and len(story.pages) > 2]
    assert len(late) >= 8
    second = {(visit.site, visit.path) for visit in runs[1].requests}
    for story in late:
        pages = [urlsplit(url)._replace(scheme="", netloc="").geturl() for url in story.pages]
        assert (story.site, pages[(story.late or 1) - 1]) in second, story.key
        assert (story.site, pages[0]) not in second, story.key


def test_third_visit_requests_only_index_and_missing_pages(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    pages = {urlsplit(url)._replace(scheme="", netloc="").geturl() for story in photos.gold() for url in story.pages}
    missing = {
        urlsplit(gold.pages[gold.lost - 1])._replace(scheme="", netloc="").geturl() for gold in photos.gold() if gold.lost is not None
    }
    requested = {visit.path for visit in runs[2].requests if visit.path in pages}
    assert requested <= missing
    assert runs[2].report["total"]["stored"] == 0


def test_videos_paid_links_and_searches_are_not_requested(runs: list[CrawlRun]) -> None:
    requested = {visit.path for run in runs for visit in run.requests}
    assert [path for path in requested if "/video/" in path or "vid=" in path or "click" in path or path.startswith("/search")] == []


def test_pictures_are_requested_once_with_accepted_referer(photos: MadeUpPhotos, runs: list[CrawlRun]) -> None:
    """No picture is refused because of its Referer, and none is fetched twice."""
    images = [visit for visit in runs[0].requests if "/pics/" in visit.path and "_s." not in visit.path and "_640." not in visit.path]
    assert len(images) >= 1500
    assert {visit.status for visit in images} <= {200, 206}
    assert len({(visit.site, visit.path) for visit in images}) >= 0.99 * len(images)
    for visit in images:
        referer = urlsplit(visit.headers["Referer"])
        assert f"{referer.scheme}://{referer.netloc}" in photos.addresses.values()
