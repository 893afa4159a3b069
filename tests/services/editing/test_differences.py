"""Differences between two texts, and the limit on their cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.services.editing.differences import DiffLine, difference, in_line, is_same
from newsportal.text import clean

TEXTS = st.text(alphabet="河湾大桥今日通车 ab\n，。", max_size=60)


def one_side(lines: list[DiffLine], kind: str) -> str:
    """Return one version of the text: common pieces and those of this side only."""
    sides = ("".join(part.text for part in line if part.kind in ("same", kind)) for line in lines)
    return "\n".join(side for side in sides if side)


def test_changed_words_are_marked() -> None:
    (first, second) = difference("河湾大桥今日通车。\n记者报道", "河湾大桥昨天通车。\n记者报道")
    assert [(part.kind, part.text) for part in first] == [
        ("same", "河湾大桥"), ("gone", "今日"), ("new", "昨天"), ("same", "通车。"),
    ]  # fmt: skip
    assert [part.kind for part in second] == ["same"]


def test_dissimilar_paragraphs_are_replaced_completely() -> None:
    found = difference("渡轮今晨开航，海面平静。", "股市大跌，投资者纷纷离场观望。")
    assert [[part.kind for part in line] for line in found] == [["gone"], ["new"]]


def test_inserted_paragraph_is_new() -> None:
    found = difference("甲段\n乙段", "甲段\n插入的一段\n乙段")
    assert [[part.kind for part in line] for line in found] == [["same"], ["new"], ["same"]]


@given(TEXTS, TEXTS)
def test_difference_contains_both_texts(old: str, new: str) -> None:
    found = difference(old, new)
    lines = ["\n".join(filter(None, map(clean, text.splitlines()))) for text in (old, new)]
    assert [one_side(found, "gone").replace("\n", ""), one_side(found, "new").replace("\n", "")] == [
        line.replace("\n", "") for line in lines
    ]
    assert is_same(found) == (lines[0] == lines[1])


@given(TEXTS, TEXTS)
def test_difference_of_headlines(old: str, new: str) -> None:
    found = in_line(old, new)
    assert one_side([found], "gone") == clean(old)
    assert one_side([found], "new") == clean(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n".join(str(number % 7) for number in range(5000)), "\n".join(str(number % 5) for number in range(5000))),
        ("的" * 100_000, "的一" * 50_000),
        (" ".join(str(number) for number in range(20_000)), " ".join(str(number) for number in reversed(range(20_000)))),
    ],
    ids=["few distinct lines", "one character", "reversed"],
)
def test_expensive_comparison_is_by_paragraph(old: str, new: str) -> None:
    found = difference(old, new)
    assert {len(line) for line in found} == {1}, "no paragraph is compared by words"
    assert {part.kind for line in found for part in line} - {"same"} == {"gone", "new"}
