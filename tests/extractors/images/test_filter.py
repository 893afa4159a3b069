"""Images that belong to no story, by frequency over different stories, then by size and name. Each reason has a test."""

from __future__ import annotations

from itertools import pairwise

import pytest

from newsportal.extractors.images import filter as rules
from newsportal.extractors.images.filter import (
    StoryPictures,
    are_copies,
    distinct_stories,
    drop_reason,
    frequency_reason,
    key,
    mark_dropped,
    title_key,
)
from newsportal.items import Image

SITE = "photo.example"


def story(number: int, *pictures: str, site: str = SITE, title: str | None = None) -> StoryPictures:
    return StoryPictures(str(number), site, title_key(title or f"第{number}个故事"), frozenset(pictures))


def own(number: int, many: int = 4) -> list[str]:
    return [f"{number}/{place}.jpg" for place in range(many)]


def image(width: int | None, height: int | None, url: str = "https://a.example/1.jpg", format: str | None = "jpeg") -> Image:
    return Image(url, width=width, height=height, format=format)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("https://a.example/1.jpg", "http://a.example/1.jpg"),
        ("https://a.example/1.jpg?v=20260305", "https://a.example/1.jpg"),
        ("https://img3.a.example/1.jpg", "https://img12.a.example/1.jpg"),
        ("https://A.example:443/1.jpg", "https://a.example/1.jpg"),
        ("https://a.example/1.jpg!w600?x=1", "https://a.example/1.jpg!w600"),
    ],
)
def test_url_variants_share_one_key(first: str, other: str) -> None:
    assert key(first) == key(other)


def test_different_images_have_different_keys() -> None:
    urls = [
        "https://a.example/1.jpg", "https://a.example/2.jpg", "https://b.example/1.jpg", "https://a.example/show?id=1",
        "https://a.example/show?id=2", "https://a.example:8080/1.jpg", "https://a.example/1.JPG", "http://[bad/1.jpg",
    ]  # fmt: skip
    assert all(first != other for first, other in pairwise(sorted(map(key, urls))))


def test_image_on_every_story_is_frequent() -> None:
    stories = [story(number, "logo", *own(number)) for number in range(3)]
    assert frequency_reason(stories[:2], {}) is None
    assert frequency_reason(stories, {}) == "frequent"


def test_site_images_outnumber_story_images() -> None:
    """Two photographs and four images of the site: consecutive stories share most images and are still different."""
    stories = [story(number, "logo", "code", "ad", "foot", *own(number, 2)) for number in range(5)]
    assert len(distinct_stories(stories)) == 5
    assert frequency_reason(stories, {}) == "frequent"


def test_copies_on_many_sites_are_one_story() -> None:
    pictures = own(1, 8)
    same = [story(number, *pictures, f"{number}/logo", site=f"site{number}.example", title="古镇的春天") for number in range(9)]
    assert len(distinct_stories(same)) == 1
    assert frequency_reason(same, {}) is None
    retitled = [story(number, *pictures[: 8 - number % 3], f"{number}/logo", site=f"site{number}.example") for number in range(9)]
    assert frequency_reason(retitled, {}) is None


def test_copies_in_channels_of_one_site_are_one_story() -> None:
    channels = [story(number, "logo", *own(1, 8), title="古镇的春天（组图）" if number else "古镇的春天") for number in range(5)]
    assert frequency_reason(channels, {}) is None
    retitled = [story(number, "logo", *own(1, 8)) for number in range(5)]
    assert frequency_reason(retitled, {}) is None


def test_advertisement_on_many_sites_is_frequent() -> None:
    stories = [story(number, "ad", *own(number), site=f"site{number % 5}.example") for number in range(5)]
    assert frequency_reason(stories, {}) == "frequent-elsewhere"
    assert frequency_reason(stories[:4], {}) is None


def test_threshold_grows_with_size_of_site() -> None:
    stories = [story(number, "portrait", *own(number)) for number in range(5)]
    assert frequency_reason(stories, {SITE: 200}) == "frequent"
    assert frequency_reason(stories, {SITE: 5000}) is None
    many = [story(number, "ad", *own(number)) for number in range(rules.MAX_STORIES)]
    assert frequency_reason(many, {SITE: 1_000_000}) == "frequent"


def test_stories_without_images_are_not_copies() -> None:
    assert not are_copies(story(1), story(2))
    assert frequency_reason([], {}) is None


def test_title_key_ignores_labels() -> None:
    assert title_key("古镇 的春天（组图）") == title_key("【高清图集】古镇的春天")
    assert title_key("每日一图 3月5日") != title_key("每日一图 3月6日")
    assert title_key("Spring (12 photos)") == title_key("SPRING")


@pytest.mark.parametrize(
    ("width", "height", "reason"),
    [
        (1, 1, "small"), (16, 16, "small"), (120, 90, "small"), (180, 135, "small"), (199, 150, "small"),
        (468, 60, "banner"), (728, 90, "banner"), (970, 250, "banner"), (160, 600, "banner"), (1000, 120, "banner"), (300, 50, "banner"),
        (300, 200, None), (400, 300, None), (550, 367, None), (1200, 300, None), (640, 8000, None), (240, 320, None),
    ],
)  # fmt: skip
def test_size_limits(width: int, height: int, reason: str | None) -> None:
    assert drop_reason(image(width, height)) == reason


def test_declared_size_is_weaker_evidence() -> None:
    assert drop_reason(image(120, 90, format=None)) is None  # it may only be displayed small
    assert drop_reason(image(32, 32, format=None)) == "small"
    assert drop_reason(image(None, None)) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/images/logo.png", True), ("/static/site_logo2.png", True), ("/ads/2026/x.jpg", True), ("/img/qrcode.jpg", True),
        ("/nopic.gif", True), ("/u/avatar_1.jpg", True), ("/img/erweima.png", True),
        ("/2026/0305/1.jpg", False), ("/news/roads/1.jpg", False), ("/gallery/bannerman.jpg", False), ("/loads/headline.jpg", False),
    ],
)  # fmt: skip
def test_names_count_only_for_small_images(path: str, expected: bool) -> None:
    url = f"https://a.example{path}"
    assert (drop_reason(image(300, 300, url)) == "name") is expected
    assert (drop_reason(image(None, None, url)) == "name") is expected
    assert drop_reason(image(1200, 800, url)) is None


def test_thumbnail_beside_photographs_is_dropped() -> None:
    photographs = [image(1200, 800, f"https://a.example/{number}.jpg") for number in range(5)]
    images = [*photographs, image(240, 180, "https://a.example/next.jpg")]
    assert [image.dropped for image in mark_dropped(images, {})] == [None] * 5 + ["small"]
    old = [image(400, 300, f"https://a.example/{number}.jpg") for number in range(5)]
    assert [image.dropped for image in mark_dropped([*old, image(240, 180, "https://a.example/next.jpg")], {})] == [None] * 6
    assert [i.dropped for i in mark_dropped([photographs[0], images[-1]], {})] == [None, None]  # one i is too few to compare with


def test_reasons_and_order_are_kept() -> None:
    images = [
        Image("https://a.example/1.jpg", width=900, height=600, format="jpeg"),
        Image("https://a.example/gone.jpg", dropped="gone"),
        Image("https://a.example/ad.jpg?r=7", width=900, height=600, format="jpeg"),
        Image("https://a.example/2.jpg", width=60, height=60, format="png"),
    ]
    found = mark_dropped(images, {"a.example/ad.jpg": "frequent"})
    assert [image.url for image in found] == [image.url for image in images]
    assert [image.dropped for image in found] == [None, "gone", "frequent", "small"]
    assert rules.count_dropped(found) == {"gone": 1, "frequent": 1, "small": 1}


def test_editor_decision_overrides_filter() -> None:
    logo = image(60, 60, "https://a.example/logo.png")
    assert mark_dropped([logo], {"a.example/logo.png": rules.KEPT}) == (logo,)
    assert mark_dropped([logo], {"a.example/logo.png": rules.BY_HAND})[0].dropped == "by-hand"
