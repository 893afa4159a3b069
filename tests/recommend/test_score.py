"""What photo stories are ranked by."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.items import Image
from newsportal.recommend.score import HALF_LIFE, parts, score

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def pictures(number: int, *, side: int = 600, captions: bool = True) -> list[Image]:
    return [Image(f"https://p.example/{n}.jpg", f"第{n}张" if captions and n % 2 else None, side * 2, side) for n in range(number)]


def test_an_ordinary_story_is_worth_one() -> None:
    assert parts(pictures(8)).worth == pytest.approx(1.0)


def test_each_part_counts() -> None:
    plain = parts(pictures(8)).worth
    assert parts(pictures(16)).worth > plain
    assert parts(pictures(8, side=800)).worth > plain
    assert parts(pictures(8, captions=False)).worth < plain
    assert parts(pictures(8), weight=10).worth == pytest.approx(2 * plain)
    assert parts(pictures(8), sites=3).worth == pytest.approx(3 * plain)
    assert parts(pictures(8), complete=False).worth == pytest.approx(plain / 2)


def test_a_caption_that_all_pictures_share_is_one_caption() -> None:
    same = [Image(f"https://p.example/{n}.jpg", "全部图片的说明") for n in range(8)]
    assert parts(same).captions == pytest.approx(0.5 + 1 / 8)


def test_a_half_life_weighs_as_much_as_twice_the_sites() -> None:
    assert score(parts(pictures(8), sites=2), NOON) == pytest.approx(score(parts(pictures(8)), NOON + HALF_LIFE))


@pytest.mark.parametrize("images", [[], [Image("https://p.example/1.jpg")]])
def test_stories_of_which_little_is_known_have_a_score(images: list[Image]) -> None:
    assert 0 < parts(images).worth < 1
