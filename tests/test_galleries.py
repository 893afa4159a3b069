"""Photo stories end to end: the made-up picture Web on loopback, the real spider, stages and store, two visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from newsportal_lab.evaluate.dedup import per_pair
from tests.photo_crawls import crawl, kept_in, opened

if TYPE_CHECKING:
    from madeup.photos import MadeUpPhotos
    from madeup.photos.measure import Kept
    from madeup.server import Visit

pytestmark = pytest.mark.slow

SITES = ("jiangan", "songling", "yuntai", "beigang", "guanlan", "qiushui", "lanting", "huaxin", "gulang", "xinghai")
WHOLE = 0.99
"""Of the stories, complete with pictures and captions in order, and nothing else among them (paper C: 99.5 / 97.2 %)."""

SAME_PRECISION, SAME_RECALL = 0.95, 0.923
"""Of pairs of stories that are one (paper C)."""


@dataclass(frozen=True)
class Run:
    """One visit: its report, what the store held after it, and what was asked for during it."""

    report: dict[str, Any]
    kept: list[Kept]
    requests: list[Visit]


@pytest.fixture(scope="module")
def photos() -> Iterator[MadeUpPhotos]:
    from madeup.photos import MadeUpPhotos

    with MadeUpPhotos() as photos:
        yield photos


@pytest.fixture(scope="module")
def runs(photos: MadeUpPhotos, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three visits of all hosts that need no browser; some pages fail at the first, some for ever."""
    photos.reset()
    sources = photos.sources(tmp_path_factory.mktemp("套图") / "sources.yaml")
    found = []
    for visit in range(3):
        photos.visit, photos.requests = visit, []
        report = crawl(sources)
        store = opened(sources)
        found.append(Run(report, kept_in(store), list(photos.requests)))
        store.close()
    return found


def row(report: dict[str, Any], key: str) -> dict[str, Any]:
    return next(one for one in report["sources"] if one["source"] == f"gallery:{key}")


@pytest.mark.parametrize("visit", [0, 1, 2])
def test_stories_are_whole_with_pictures_and_captions_in_order(photos: MadeUpPhotos, runs: list[Run], visit: int) -> None:
    from madeup.photos.measure import collected

    found = collected(runs[visit].kept, photos.gold(), visit)
    late = sum(told.late == 1 for told in photos.gold()) if visit == 0 else 0  # their only page fails: nothing is to be stored of them
    assert found.right >= WHOLE * (found.stories - late), found.wrong
    assert found.precision >= WHOLE, found.wrong


@pytest.mark.parametrize("key", SITES)
def test_no_layout_is_left_behind(photos: MadeUpPhotos, runs: list[Run], key: str) -> None:
    from madeup.photos.measure import collected

    kept = [one for one in runs[1].kept if one.url.startswith(photos.url(key))]
    found = collected(kept, photos.gold(key), 1)
    assert found.right >= found.stories - 1, found.wrong
    assert found.captions_right >= 0.98 * found.captions


def test_no_logo_and_no_advertisement_is_among_the_pictures(photos: MadeUpPhotos, runs: list[Run]) -> None:
    own = {picture.url for told in photos.gold() for part in told.pictures for picture in part}
    assert [picture.url for one in runs[1].kept for picture in one.pictures if picture.url not in own] == []


def test_titles_authors_and_times_are_the_stories_own(photos: MadeUpPhotos, runs: list[Run]) -> None:
    gold = {told.url: told for told in photos.gold()}
    wrong = {}
    for one in runs[1].kept:
        told = gold[one.url]
        right = (told.title, told.author, datetime.fromisoformat(told.published))
        if (one.title, one.author, one.published) != right:
            wrong[told.key] = (one.title, one.author, one.published)
    assert len(wrong) <= 0.01 * len(gold), wrong


def test_stories_that_are_one_are_folded_and_others_are_not(photos: MadeUpPhotos, runs: list[Run]) -> None:
    from madeup.photos import STATIC, alike
    from madeup.photos.measure import folded

    joined, right = folded(runs[1].kept, photos.gold())
    score = per_pair(joined, right)
    assert score.wanted >= 100
    assert score.precision >= SAME_PRECISION, sorted(map(sorted, joined - right))
    assert score.recall >= SAME_RECALL, sorted(map(sorted, right - joined))
    assert len(joined & alike(photos.world, STATIC)) <= 2


def test_the_story_with_most_pictures_heads_its_copies(runs: list[Run]) -> None:
    stories: dict[str, list[Kept]] = {}
    for one in runs[1].kept:
        stories.setdefault(one.story, []).append(one)
    several = [group for group in stories.values() if len(group) > 1]
    assert len(several) >= 50
    for group in several:
        (head,) = (one for one in group if one.head)
        assert len(head.pictures) == max(len(one.pictures) for one in group)


def test_a_page_that_failed_is_asked_for_again_and_alone(photos: MadeUpPhotos, runs: list[Run]) -> None:
    late = [told for told in photos.gold() if told.late is not None and len(told.pages) > 2]
    assert len(late) >= 8
    second = {(visit.site, visit.path) for visit in runs[1].requests}
    for told in late:
        pages = [urlsplit(url)._replace(scheme="", netloc="").geturl() for url in told.pages]
        assert (told.site, pages[(told.late or 1) - 1]) in second, told.key
        assert (told.site, pages[0]) not in second, told.key


def test_a_third_visit_asks_for_index_pages_and_what_is_missing_alone(photos: MadeUpPhotos, runs: list[Run]) -> None:
    pages = {urlsplit(url)._replace(scheme="", netloc="").geturl() for told in photos.gold() for url in told.pages}
    lost = {urlsplit(told.pages[told.lost - 1])._replace(scheme="", netloc="").geturl() for told in photos.gold() if told.lost is not None}
    asked = {visit.path for visit in runs[2].requests if visit.path in pages}
    assert asked <= lost
    assert runs[2].report["total"]["stored"] == 0


def test_films_paid_links_and_searches_are_never_asked_for(runs: list[Run]) -> None:
    asked = {visit.path for run in runs for visit in run.requests}
    assert [path for path in asked if "/video/" in path or "vid=" in path or "click" in path or path.startswith("/search")] == []


def test_pictures_are_asked_for_as_their_hosts_expect(photos: MadeUpPhotos, runs: list[Run]) -> None:
    """No picture is refused for its Referer, and none is fetched twice."""
    own = [visit for visit in runs[0].requests if "/pics/" in visit.path and "_s." not in visit.path and "_640." not in visit.path]
    assert len(own) >= 1500
    assert {visit.status for visit in own} <= {200, 206}
    assert len({(visit.site, visit.path) for visit in own}) >= 0.99 * len(own)
    for visit in own:
        referer = urlsplit(visit.headers["Referer"])
        assert f"{referer.scheme}://{referer.netloc}" in photos.addresses.values()
