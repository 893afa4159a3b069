"""Guessing the second page of a story without a pager, and checking the answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newsportal.extractors.gallery import guess_pattern, is_same_story_page, more_urls, proven_pattern
from newsportal.items import GalleryPage, Image

P = "https://p.example/photo/"
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def first_page(url: str, pictures: int = 1, **more: object) -> GalleryPage:
    images = tuple(Image(f"https://p.example/pic/{number}.jpg") for number in range(pictures))
    return replace(GalleryPage(url, title="老桥的春天", images=images, published=NOON), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "second"),
    [
        (P + "123.html", P + "123_2.html"),
        (P + "2026/c10236.shtml", P + "2026/c10236_2.shtml"),
        (P + "t20260305_812.html", P + "t20260305_812_2.html"),
        (P + "123_1.html", P + "123_2.html"),
        (P + "123-01.htm", P + "123-02.htm"),
        (P + "8812/", P + "8812/2/"),
    ],
)
def test_usual_second_page_url_is_guessed(url: str, second: str) -> None:
    page = first_page(url)
    assert more_urls(page, (), guess_pattern(page), ()) == (second,)


@pytest.mark.parametrize(
    "page",
    [
        first_page(P + "123.html", total=4),
        first_page(P + "123.html", next=P + "123_b.html"),
        first_page(P + "123.html", pages=(P + "123.html", P + "124.html")),
        first_page(P + "123.html", pictures=3),
        first_page(P + "123.html", whole=True),
        first_page(P + "123.html", title=None),
        first_page(P + "about.html"),
        first_page(P + "v.php?id=3"),
        first_page("https://p.example/"),
    ],
)
def test_no_guess_with_pager_or_unusual_url(page: GalleryPage) -> None:
    assert guess_pattern(page) is None


def test_guessed_page_must_match_title_and_day() -> None:
    pages = [first_page(P + "123.html")]
    second = first_page(P + "123_2.html")
    assert is_same_story_page(second, pages)
    assert is_same_story_page(replace(second, published=None), pages)
    assert not is_same_story_page(replace(second, title="北麓冰上帆船赛"), pages)
    assert not is_same_story_page(replace(second, published=NOON.replace(day=9)), pages), "another issue of a series"


def test_guessed_pattern_is_derived_from_pages() -> None:
    first, second = first_page(P + "123.html"), first_page(P + "123_2.html")
    assert proven_pattern([second, first]) == "{id}_{n}.html"
    assert proven_pattern([first]) is None
