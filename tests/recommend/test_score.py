"""The ranking score of photo stories."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.items import Image
from newsportal.recommend.score import HALF_LIFE, factors, score

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def pictures(number: int, *, side: int = 600, captions: bool = True) -> list[Image]:
    return [Image(f"https://p.example/{n}.jpg", f"第{n}张" if captions and n % 2 else None, side * 2, side) for n in range(number)]


def test_ordinary_story_has_worth_one() -> None:
    assert factors(pictures(8)).worth == pytest.approx(1.0)


def test_each_part_changes_the_worth() -> None:
    base = factors(pictures(8)).worth
    assert factors(pictures(16)).worth > base
    assert factors(pictures(8, side=800)).worth > base
    assert factors(pictures(8, captions=False)).worth < base
    assert factors(pictures(8), weight=10).worth == pytest.approx(2 * base)
    assert factors(pictures(8), sites=3).worth == pytest.approx(3 * base)
    assert factors(pictures(8), complete=False).worth == pytest.approx(base / 2)


def test_caption_shared_by_all_images_counts_once() -> None:
    images = [Image(f"https://p.example/{n}.jpg", "全部图片的说明") for n in range(8)]
    assert factors(images).captions == pytest.approx(0.5 + 1 / 8)


def test_half_life_equals_doubling_of_sites() -> None:
    assert score(factors(pictures(8), sites=2), NOON) == pytest.approx(score(factors(pictures(8)), NOON + HALF_LIFE))


@pytest.mark.parametrize("images", [[], [Image("https://p.example/1.jpg")]])
def test_story_with_little_data_has_a_score(images: list[Image]) -> None:
    assert 0 < factors(images).worth < 1
