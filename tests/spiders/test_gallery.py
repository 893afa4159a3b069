"""The spider of photo stories on a small site: requests, stored stories and waiting links."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from forked import Started
from link_rows import waiting

sys.path.insert(0, str(Path(__file__).resolve().parent))  # to import picture_site
from picture_site import PictureSite, crawl, html, serving, write_sources

from newsportal.crawl.list_filters import MAX_FRUITLESS
from newsportal.items import Gallery, Link
from newsportal.store import open_store
from newsportal.store.gallery_tables import StoredGallery
from newsportal.store.store import Store

pytestmark = pytest.mark.slow

SEED = "  seed: /photo/2026/\n"
PATTERN = SEED + "  pattern: '{id}_{n}.html'\n"


@pytest.fixture
def site() -> Iterator[PictureSite]:
    with serving() as site:
        yield site


def numbered(site: PictureSite, id: int, pages: int, *, total: int | None = None) -> str:
    """Add a story of ``pages`` numbered pages; return the path of the first."""
    for number in range(1, pages + 1):
        site.page(f"/photo/2026/{id}_{number}.html", f"第{id}号桥", number, total)
    return f"/photo/2026/{id}_1.html"


def open_portal_store(sources: Path) -> Store:
    return open_store(f"sqlite:///{sources.parent}/data/newsportal.db", create=False)


def stories(sources: Path) -> dict[str, StoredGallery]:
    """Return the stored stories by the last part of their URLs."""
    store = open_portal_store(sources)
    found = {article.url.rpartition("/")[2]: store.galleries.gallery(article.id) for article in store.all_articles()}
    store.close()
    return {name: gallery for name, gallery in found.items() if gallery is not None}


def texts(row: dict[str, Any]) -> list[str]:
    return [note["text"] for note in row["notes"]]


def shown_pictures(sources: Path, name: str) -> list[str]:
    store = open_portal_store(sources)
    found = [picture.image.url.rpartition("-")[2] for picture in store.galleries.pictures(stories(sources)[name].id)]
    store.close()
    return found


def test_pages_of_pattern_are_fetched_to_the_end(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 11, 4), numbered(site, 12, 1), "/photo/about.html", "/news/2026/1.html")
    sources = write_sources(tmp_path, site, PATTERN)
    row = crawl(sources)
    assert (row["entries"], row["stored"], row["failed"]) == (2, 2, {})
    found = stories(sources)
    assert {name: (story.complete, story.pages, story.pictures) for name, story in found.items()} == {
        "11_1.html": (True, 4, 4),
        "12_1.html": (True, 1, 1),
    }
    assert shown_pictures(sources, "11_1.html") == ["1.jpg", "2.jpg", "3.jpg", "4.jpg"]
    assert texts(row) == ["photo stories: 2 complete"]
    again = crawl(sources)
    assert (again["known"], again["new"]) == (2, 0)
    assert site.requests.count("/photo/2026/11_2.html") == 1, "a complete story is not requested again"


def test_redirect_to_front_page_and_repeated_page_end_story(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 21, 3), numbered(site, 22, 2))
    site.pages["/photo/2026/21_4.html"] = (302, "/")
    site.pages["/"] = html("首页", "<h1>首页</h1><img src='/pic/front.jpg' width=900 height=600>")
    site.pages["/photo/2026/22_3.html"] = site.pages["/photo/2026/22_2.html"]
    sources = write_sources(tmp_path, site, PATTERN)
    assert crawl(sources)["stored"] == 2
    assert {name: (s.complete, s.pages) for name, s in stories(sources).items()} == {"21_1.html": (True, 3), "22_1.html": (True, 2)}


def test_pager_is_followed_and_all_its_pages_are_known(site: PictureSite, tmp_path: Path) -> None:
    names = ("/photo/2026/c.html", "/photo/2026/c_2.html", "/photo/2026/c_3.html")
    for number, path in enumerate(names, 1):
        site.page(path, "春汛", number, next=names[number] if number < 3 else None)
    site.index("/photo/", names[0])
    sources = write_sources(tmp_path, site, SEED)
    assert crawl(sources)["stored"] == 1
    assert shown_pictures(sources, "c.html") == ["1.jpg", "2.jpg", "3.jpg"]
    site.index("/photo/", names[2], names[1])
    assert crawl(sources)["known"] == 2


def test_unlinked_pages_are_found_by_common_url_patterns(site: PictureSite, tmp_path: Path) -> None:
    """The pager is drawn by a script: no pattern, no link, no page count."""
    names = [f"/photo/2026/{id}_1.html" for id in (81, 82, 83)]
    numbered(site, 81, 3)
    numbered(site, 82, 1)
    site.page("/photo/2026/82_2.html", "另一座桥", 1)
    numbered(site, 83, 2)
    site.pages["/photo/2026/83_2.html"] = (302, "/photo/")
    site.index("/photo/", *names)
    sources = write_sources(tmp_path, site, SEED)
    row = crawl(sources)
    assert (row["stored"], row["failed"], texts(row)) == (3, {}, ["photo stories: 3 complete"])
    assert {name: story.pages for name, story in stories(sources).items()} == {"81_1.html": 3, "82_1.html": 1, "83_1.html": 1}
    assert shown_pictures(sources, "81_1.html") == ["1.jpg", "2.jpg", "3.jpg"]
    assert (crawl(sources)["known"], site.requests.count("/photo/2026/81_4.html")) == (3, 1)


def test_story_with_failed_page_is_completed_on_next_visit(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 31, 5, total=5))
    third, site.pages["/photo/2026/31_3.html"] = site.pages["/photo/2026/31_3.html"], 404
    sources = write_sources(tmp_path, site, PATTERN)
    row = crawl(sources)
    text, waits = texts(row)
    assert (row["stored"], text) == (1, "photo stories: 0 complete; 1 incomplete (http-404 × 1)")
    assert waits.startswith("1 link is waiting for a retry (incomplete)")
    story = stories(sources)["31_1.html"]
    assert (story.complete, story.missing, story.pictures, story.failure) == (False, (3,), 4, "http-404")
    site.pages["/photo/2026/31_3.html"] = third
    site.requests.clear()
    row = crawl(sources)
    assert (row["same"], texts(row)[-1]) == (1, "photo stories: 0 complete; 1 finished")
    assert sorted(site.requests, reverse=True) == ["/photo/2026/31_3.html", "/photo/"], "only missing pages are requested"
    assert shown_pictures(sources, "31_1.html") == [f"{number}.jpg" for number in range(1, 6)]
    assert stories(sources)["31_1.html"].complete
    assert waiting(open_portal_store(sources), "gallery:图站") == []


def test_missing_page_is_given_up_after_max_tries(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 41, 2, total=3))
    sources = write_sources(tmp_path, site, PATTERN)
    crawl(sources)
    store = open_portal_store(sources)
    (article,) = store.all_articles()
    link = Link(article.url, article.source)
    nothing = Gallery(article.url, article.title, link, article.fetched, identity=article.identity, failure="http-404", later=True)
    fruitless = [store.galleries.save(nothing, now=article.fetched).fruitless_visits for _ in range(MAX_FRUITLESS - 1)]
    assert fruitless[-1] == MAX_FRUITLESS - 1
    assert texts(crawl(sources))[-1].endswith("1 incomplete (http-404 × 1); 1 no longer retried")
    site.requests.clear()
    row = crawl(sources)
    assert (site.requests, row["known"]) == (["/photo/"], 1)
    assert not stories(sources)["41_1.html"].complete


def test_index_page_among_stories_is_counted_and_skipped(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 51, 2), "/photo/2026/list.html")
    site.index("/photo/2026/list.html", *(f"/photo/2026/{number}_1.html" for number in range(60, 80)))
    sources = write_sources(tmp_path, site, PATTERN)
    row = crawl(sources)
    assert (row["stored"], sum(row["failed"].values())) == (1, 1)
    assert set(stories(sources)) == {"51_1.html"}
    site.requests.clear()
    assert crawl(sources)["known"] == 2
    assert site.requests == ["/photo/"], "the index page is skipped for hours"


def test_index_pager_is_followed_until_all_stories_are_known(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 61, 1), more='<div class="pages"><a href="/photo/?p=2">下一页</a></div>')
    site.index("/photo/?p=2", numbered(site, 62, 1), more='<div class="pages"><a href="/photo/?p=3">下一页</a></div>')
    site.index("/photo/?p=3", numbered(site, 63, 1))
    sources = write_sources(tmp_path, site, PATTERN + "  pages: 2\n")
    crawl(sources)
    assert set(stories(sources)) == {"61_1.html", "62_1.html"}
    site.requests.clear()
    crawl(sources)
    assert site.requests == ["/photo/"]


def test_robots_txt_applies_to_every_page(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 71, 3, total=3))
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /photo/2026/71_2"
    sources = write_sources(tmp_path, site, PATTERN)
    crawl(sources)
    story = stories(sources)["71_1.html"]
    assert (story.complete, story.missing, story.failure) == (False, (2,), "robots")
    assert "/photo/2026/71_2.html" not in site.requests
    assert waiting(open_portal_store(sources), "gallery:图站") == [], "forbidden pages do not wait"


def test_killed_crawl_resumes(site: PictureSite, tmp_path: Path) -> None:
    site.index("/photo/", numbered(site, 81, 6, total=6))
    sources = write_sources(tmp_path, site, PATTERN)
    process = Future[Started]()
    alive = [process]

    def kill(path: str) -> None:
        if path == "/photo/2026/81_6.html" and alive:
            alive.pop().result().kill()

    site.before = kill
    child = Started("crawl", "gallery", "--json", "--sources", str(sources))
    process.set_result(child)
    assert child.wait(600) != 0
    assert stories(sources) == {}
    before = open_portal_store(sources).galleries.pages(site.at.removeprefix("http://") + "/photo/2026/81_1.html")
    assert before, "pages are saved as they arrive"
    site.requests.clear()
    row = crawl(sources)
    assert (row["stored"], row["left"]) == (1, 0)
    assert stories(sources)["81_1.html"].complete
    assert shown_pictures(sources, "81_1.html") == [f"{number}.jpg" for number in range(1, 7)]
    assert not {page.url.removeprefix(site.at) for page in before} & set(site.requests), "saved pages are not requested again"
