"""Comparison of photo stories by words and images."""

from __future__ import annotations

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import ComparedPicture, PhotoStory, compare, count_matches, picture_key, pictures_of
from newsportal.items import Image


def story(id: str, title: str, text: str, *prints: int | None, site: str = "p.example") -> PhotoStory:
    pictures = tuple(ComparedPicture(f"{site}/{id}/{n}.jpg", print) for n, print in enumerate(prints))
    return PhotoStory(id, title, unit_vector(title, text), pictures)


SNOW = (0x0F0F_3C3C_5A5A_1234, 0x1234_5678_9ABC_DEF0, 0xFFFF_0000_FF00_0FF0, 0x8421_8421_1248_1248)
SEA = (0xA5A5_0F0F_C3C3_9999, 0x6666_1111_7777_2222, 0x0123_4567_89AB_CDEF, 0xF00F_F00F_0FF0_0FF0)


def with_changed_bits(prints: tuple[int, ...], bits: int) -> tuple[int, ...]:
    return tuple(print ^ ((1 << bits) - 1) for print in prints)


def test_same_images_with_other_words_are_one_story() -> None:
    first = story("1", "雪后的古城银装素裹", "一场大雪过后，城墙披上白衣。", *SNOW)
    other = story("2", "镜头下的冬日", "摄影师清晨登楼。", *with_changed_bits(SNOW, 6))
    found = compare(first, other)
    assert found is not None
    assert (found.reason, found.score) == ("same-pictures", 1.0)


def test_series_title_with_other_images_is_no_repost() -> None:
    assert compare(story("1", "每日一图", "今日精选。", *SNOW), story("2", "每日一图", "今日精选。", *SEA)) is None


def test_single_shared_image_is_not_enough() -> None:
    first = story("1", "市长视察港口建设", "市长来到港口。", *SNOW)
    other = story("2", "读书节在图书馆开幕", "读者排起长队。", SNOW[0], *SEA)
    assert compare(first, other) is None


def test_third_of_images_suffices_with_similar_words() -> None:
    first = story("1", "雪后古城银装素裹引游人", "古城迎来大雪。", *SNOW)
    other = story("2", "古城雪后银装素裹", "大雪落在古城。", SNOW[0], SNOW[1], *SEA)
    found = compare(first, other)
    assert found is not None
    assert found.reason == "same-pictures"


def test_words_decide_without_hashes_except_for_series() -> None:
    first = story("1", "雪后古城银装素裹", "古城迎来大雪。", None, None)
    found = compare(first, story("2", "雪后古城银装素裹", "古城迎来大雪。", None, None, site="q.example"))
    assert found is not None
    assert found.reason == "same-words"
    third, fourth = (story(str(n), f"一周图片精选 第{n}期", "本周最佳。", None, None) for n in (3, 4))
    assert compare(third, fourth) is None


def test_only_hashed_images_count() -> None:
    """Large images have hashes only if fetched completely: here three of nine and of eight."""
    first = story("1", "雪后的古城银装素裹", "一场大雪过后。", *SNOW[:3], *[None] * 6)
    other = story("2", "镜头下的冬日", "摄影师清晨登楼。", *SNOW[:3], *[None] * 5)
    assert compare(first, other) is not None
    assert compare(first, story("3", "雪后的古城银装素裹", "一场大雪过后。", *SEA[:3], *[None] * 5)) is None


def test_images_match_by_url_and_only_once() -> None:
    urls = ["https://p.example/a.jpg?w=640", "http://p.example/a.jpg", "https://p.example/b.jpg"]
    first, other = pictures_of(Image(url) for url in urls[:1]), pictures_of(Image(url) for url in urls[1:])
    assert picture_key(urls[0]) == "p.example/a.jpg"
    assert count_matches(first, other) == 1
    assert count_matches((*first, *first), other) == 1


def test_invalid_hash_is_ignored() -> None:
    assert pictures_of([Image("https://p.example/a.jpg", print="nonsense")])[0].print is None
    assert pictures_of([Image("https://p.example/a.jpg", print="00000000000000ff")])[0].print == 255
