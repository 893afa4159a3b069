"""Hints in the names, tags and attributes of elements."""

from __future__ import annotations

import numpy as np
import pytest

from newsportal.extractors.article.hints import BODY_MASK, HIDDEN, MAX_NAME_CHARS, MEANINGS, TAG_MASK, TAG_NAMES, is_aside, meanings_of


def meanings(name: str) -> set[str]:
    mask = meanings_of(name)
    return {meaning for bit, meaning in enumerate(MEANINGS) if mask >> bit & 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pinglun", {"comments"}),
        ("xiangguan-list", {"related", "item"}),
        ("copyright", {"legal"}),
        ("crumbs", {"navigation"}),
        ("jiathis_style", {"sharing"}),
        ("sidebar", {"side"}),
        ("ad-top", {"side"}),
        ("ArticleBody", {"body"}),
        ("zhengwen", {"body"}),
        ("byline", {"author"}),
        ("pubDate", {"information"}),
        ("imgCaption", {"picture"}),
        ("headline", {"heading"}),
        ("", set()),
        ("css-1x2y3z", set()),
    ],
)
def test_usual_names_have_their_meaning(name: str, expected: set[str]) -> None:
    assert meanings(name) == expected


@pytest.mark.parametrize(("name", "not_meant"), [("upload", "side"), ("loader", "side"), ("context", "body"), ("biology", "author")])
def test_similar_words_have_no_meaning(name: str, not_meant: str) -> None:
    assert not_meant not in meanings(name)


def test_camel_case_names_are_split() -> None:
    assert meanings("mainContent") == meanings("main-content") == {"body"}


def test_long_names_are_truncated() -> None:
    assert meanings_of("x" * MAX_NAME_CHARS + " comment") == 0


def test_each_bit_is_unique() -> None:
    assert len(MEANINGS) <= 16, "tags begin at bit 16"
    assert len(TAG_NAMES) == 13
    assert all(mask.bit_count() == 1 and mask >= 1 << 16 for mask in TAG_MASK.values())


@pytest.mark.parametrize(
    ("mask", "aside"),
    [
        (0, False),
        (meanings_of("comment"), True),
        (meanings_of("related"), True),
        (meanings_of("article-content"), False),
        (meanings_of("article-related"), False),
        (meanings_of("caption"), False),
        (TAG_MASK["nav"], True),
        (TAG_MASK["aside"], True),
        (TAG_MASK["footer"] | BODY_MASK, True),
        (TAG_MASK["article"], False),
        (HIDDEN, True),
        (HIDDEN | BODY_MASK, True),
    ],
)
def test_aside_masks(mask: int, aside: bool) -> None:
    """A name for the body outweighs a name for an aside, but not an aside's tag or a hidden box."""
    assert is_aside(mask) is aside
    assert is_aside(np.array([mask, mask])).tolist() == [aside, aside]
