"""Texts that differ only in width, script, case or white space are normalised to the same text."""

from __future__ import annotations

from importlib.resources import files

import pytest

from newsportal.text import clean, letters, normalise


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("瞭解計畫", "了解计划"),
        ("瞭望塔下", "瞭望塔下"),
        ("保持沈默", "保持沉默"),
        ("以此爲藉口", "以此为借口"),
        ("ＡＩ晶片　上市", "ai晶片 上市"),
        ("第①名", "第1名"),
        ("零\u200b宽", "零宽"),
    ],
)
def test_spellings_are_normalised_alike(first: str, other: str) -> None:
    assert normalise(first) == normalise(other)


@pytest.mark.parametrize(("first", "other"), [("北京", "南京"), ("上海", "上诲"), ("AI", "A1")])
def test_different_words_stay_different(first: str, other: str) -> None:
    assert normalise(first) != normalise(other)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("👨\u200d👩\u200d👧 家庭", "👨\u200d👩\u200d👧 家庭"), ("ශ්\u200dරී", "ශ්\u200dරී"), ("می\u200cخواهم", "می\u200cخواهم"),
        ("隐\u200d形\u200c字\u200b符", "隐形字符"), ("a\u200d\u00adb", "ab"), ("👧\u200d\u200d家", "👧\u200d家"),
    ],
)  # fmt: skip
def test_cleaning_keeps_joiners_where_they_show(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_opencc_phrases_are_equal_in_both_scripts() -> None:
    lines = (files("opencc") / "dictionary" / "TSPhrases.txt").read_text(encoding="utf-8").splitlines()
    pairs = [(old, new.split(" ")[0]) for old, _, new in (line.partition("\t") for line in lines) if new]
    assert pairs
    assert [pair for pair in pairs if normalise(pair[0]) != normalise(pair[1])] == []


def test_letters_omit_punctuation_and_space() -> None:
    assert letters("「臺北」，２０２６ 年_3月！") == "台北2026年3月"
