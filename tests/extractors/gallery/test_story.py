"""Assembling a photo story from its pages, in whichever order they arrive."""

from __future__ import annotations

from itertools import permutations

import pytest

from newsportal.extractors.gallery import assemble
from newsportal.extractors.gallery.story import bare_title
from newsportal.extractors.gallery.variants import add_image, parse_variant
from newsportal.items import GalleryPage, Image

U = "https://p.example/photo/10235{}.html"


def gallery_page(at: int, **more: object) -> GalleryPage:
    mark = "" if at == 1 else f"_{at}"
    fields = {"title": "龙舟下水", "images": (Image(f"https://p.example/up/7f{at}3.jpg", f"第{at}张的说明文字"),), "number": at}
    return GalleryPage(U.format(mark), **(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [True, False])
def test_duplicate_pages_in_any_order(numbers: bool) -> None:
    pages = [gallery_page(at, **({} if numbers else {"number": None})) for at in (1, 2, 3, 10)]
    expected = assemble(pages).images
    for mixed in permutations(pages):
        assert assemble([*mixed, mixed[0], mixed[2]]).images == expected
    assert [image.url[-7:-5] for image in expected] == ["f1", "f2", "f3", "10"]


def test_pages_without_numbers_follow_next_links() -> None:
    urls = [f"https://p.example/x/{name}" for name in ("kq", "ab", "zz")]
    following = [*urls[1:], None]
    pages = [GalleryPage(url, images=(Image(f"{url}.jpg"),), next=after) for url, after in zip(urls, following, strict=True)]
    assert assemble([pages[2], pages[0], pages[1]]).pages == tuple(urls)


def test_missing_pages_are_reported() -> None:
    story = assemble([gallery_page(1, total=4), gallery_page(3, total=4)])
    assert story.missing == (2, 4)
    assert story.total == 4
    assert not story.complete


def test_gap_is_missing_without_a_total() -> None:
    assert assemble([gallery_page(1), gallery_page(3)]).missing == (2,)


def test_complete_page_is_the_story() -> None:
    pictures = tuple(Image(f"https://p.example/{at}.jpg", f"说明{at}") for at in range(5))
    story = assemble([gallery_page(2), gallery_page(1, images=pictures, whole=True, total=1)])
    assert [image.url for image in story.images] == [image.url for image in pictures]
    assert story.complete


def test_caption_shared_by_all_images_becomes_text() -> None:
    pages = [gallery_page(at, images=(Image(f"https://p.example/{at}.jpg", "三百艘龙舟同日下水，岸上站满了人。"),)) for at in (1, 2, 3)]
    story = assemble(pages)
    assert story.text == "三百艘龙舟同日下水，岸上站满了人。"
    assert all(image.caption is None for image in story.images)


def test_image_keeps_the_url_of_its_page() -> None:
    assert [image.page for image in assemble([gallery_page(1), gallery_page(2)]).images] == [U.format(""), U.format("_2")]


@pytest.mark.parametrize("title", ["龙舟下水(2/9)", "龙舟下水（3）", "龙舟下水_第2页", "龙舟下水(组图)", "龙舟下水【12张】(1/12)"])
def test_page_marks_are_removed_from_title(title: str) -> None:
    assert bare_title(title) == "龙舟下水"


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("/a/7f3_s.jpg", "/a/7f3.jpg"),
        ("/a/7f3_thumb.jpg", "/a/7f3_big.jpg"),
        ("/a/thumb/7f3.jpg", "/a/7f3.jpg"),
        ("/a/7f3-150x150.jpg", "/a/7f3-1024x768.jpg"),
        ("/a/t_7f3.jpg", "/a/7f3.jpg"),
        ("/a/7f3.jpg!w120", "/a/7f3.jpg!w800"),
        ("/a/120x90/7f3.jpg", "/a/900x600/7f3.jpg"),
    ],
)
def test_larger_size_of_an_image_is_kept(small: str, large: str) -> None:
    for urls in ((small, large), (large, small)):
        found: dict[str, Image] = {}
        for url in urls:
            add_image(found, Image(f"https://p.example{url}"))
        assert [image.url for image in found.values()] == [f"https://p.example{large}"]


def test_lettered_series_is_not_one_image() -> None:
    found: dict[str, Image] = {}
    for letter in "abcdlm":
        add_image(found, Image(f"https://p.example/up/7f3_{letter}.jpg"))
    assert len(found) == 6
    assert parse_variant("https://p.example/up/p_001.jpg").key != parse_variant("https://p.example/up/p_002.jpg").key
