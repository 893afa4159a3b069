"""The made-up picture Web has the properties that the tests of photo stories rely on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image

if TYPE_CHECKING:
    from madeup.photos import MadeUpPhotos


@pytest.fixture(scope="module")
def photos() -> Iterator[MadeUpPhotos]:
    from madeup.photos import MadeUpPhotos

    with MadeUpPhotos() as photos:
        yield photos


def test_layouts_reposts_and_similar_stories(photos: MadeUpPhotos) -> None:
    from madeup.photos import SITES, STATIC, alike
    from madeup.photos.measure import StoredStory, folded

    gold = photos.gold(*SITES)
    assert len(gold) == len({story.url for story in gold}) >= 280
    assert min(Counter(story.site for story in gold).values()) >= 12
    assert len({SITES[story.site].layout for story in gold}) == 11
    _, right = folded([StoredStory(story.url, True, (), "") for story in gold], gold)
    assert len(right) >= 100
    assert len(alike(photos.world, STATIC)) >= 100
    assert sum(story.late is not None for story in gold) >= 20
    assert sum(story.lost is not None for story in gold) >= 4


def test_seed_determines_world(photos: MadeUpPhotos) -> None:
    from madeup.photos import World

    again = World(photos.now, 1, photos.addresses)
    assert again.editions == photos.world.editions
    assert World(photos.now, 2, photos.addresses).editions != again.editions


def test_captions_and_pictures_of_a_story_differ_from_each_other(photos: MadeUpPhotos) -> None:
    for edition in photos.world.editions:
        captions = [shot.caption for shot in edition.shots if shot.caption]
        assert len(set(captions)) == len(captions)
        assert len({shot.url for shot in edition.shots}) == len(edition.shots) >= 3


def test_pages_and_pictures_respond(photos: MadeUpPhotos) -> None:
    from madeup.client import get

    photos.reset()
    for edition in photos.world.editions[::9]:
        for number, path in enumerate(edition.paths, start=1):
            status = get(photos.url(edition.site, path))[0]
            assert status == (503 if number in (edition.late, edition.lost) else 200)
        shot = edition.shots[-1]
        status, headers, body = get(shot.url, Referer=photos.url(edition.site, edition.path), Range="bytes=0-999999")
        assert status == 206
        with Image.open(BytesIO(body)) as picture:
            assert picture.size == shot.drawing.size
            assert picture.get_format_mimetype() == headers["content-type"]


def test_index_pages_link_to_stories_and_traps(photos: MadeUpPhotos) -> None:
    from madeup.client import get, links
    from madeup.photos import SITES
    from madeup.photos.lists import TRAPS, index_path, pages

    for key, site in SITES.items():
        found: list[str] = []
        for number in range(1, pages(photos.world, key) + 1):
            status, _, body = get(photos.url(key, index_path(key, number)))
            assert status == 200
            found += links(body.decode(site.encoding))
        assert {edition.path for edition in photos.world.of(key)} <= set(found)
        assert set(TRAPS[key]) <= set(found)
        assert {get(photos.url(key, path))[0] for path in TRAPS[key]} <= {200, 404}


def test_pictures_need_referer(photos: MadeUpPhotos) -> None:
    from madeup.client import get

    first = {site: photos.world.of(site)[0].shots[0].url for site in ("guanlan", "songling", "qiushui")}
    assert get(first["guanlan"])[0] == 403  # the picture host
    assert get(first["songling"], Referer="http://elsewhere.example/")[0] == 403
    assert get(first["songling"], referer=photos.url("songling", "/"))[0] == 200  # header names are case-insensitive
    status, _, other = get(first["qiushui"])
    assert status == 200
    assert other != get(first["qiushui"], Referer=photos.url("qiushui", "/gallery/"))[2]


def test_requests_beyond_last_page(photos: MadeUpPhotos) -> None:
    from madeup.client import get

    def beyond(site: str, even: bool = True) -> tuple[int, str]:
        edition = next(edition for edition in photos.world.of(site) if (edition.number % 2 == 0) == even and len(edition.paths) > 2)
        marks = {"jiangan": f"_{len(edition.paths) + 1}.html", "songling": f"{'abcdefghijklmn'[len(edition.paths)]}.html"}
        path = edition.path.replace(".html", marks[site]) if site in marks else edition.path + f"&page={len(edition.paths) + 1}"
        status, headers, body = get(photos.url(site, path))
        return status, headers.get("location", "") or body.decode("gb18030" if site == "songling" else "utf-8")

    assert beyond("jiangan")[0] == 404
    assert beyond("jiangan", even=False) == (302, photos.url("jiangan"))
    assert (beyond("songling")[0], "页面不存在" in beyond("songling")[1]) == (200, True)
    assert beyond("beigang")[0] == 200  # the last page again
