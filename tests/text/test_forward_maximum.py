"""Forward maximum matching takes the longest word from the left, even where that is wrong."""

from __future__ import annotations

import pytest

from newsportal.text.words import forward_maximum

WORDS = {"北京", "北京大学", "大学生", "大学", "生前", "前来", "应聘", "研究", "研究生", "生命", "起源"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京大学生前来应聘", ["北京大学", "生前", "来", "应聘"]),  # the textbook example of its error
        ("研究生命起源", ["研究生", "命", "起源"]),
        ("研究", ["研究"]),
        ("研", ["研"]),
        ("", []),
        ("GDP增长5%，研究", ["GDP", "增", "长", "5", "%", "，", "研究"]),
        (" 研究\n生命 ", ["研究", "生命"]),
        ("研\0究\ud83d", ["研", "\0", "究", "\ud83d"]),
    ],
)
def test_longest_word_from_the_left_is_taken(text: str, expected: list[str]) -> None:
    assert forward_maximum(text, WORDS) == expected


def test_default_dictionary_is_jiebas() -> None:
    assert forward_maximum("中华人民共和国成立") == ["中华人民共和国", "成立"]


def test_long_texts_take_linear_time() -> None:
    assert len(forward_maximum("中华" * 200_000)) == 200_000
