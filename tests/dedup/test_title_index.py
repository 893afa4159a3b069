from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.document import NEW, Document
from newsportal.dedup.title_index import TitleIndex, is_subsequence, title_words

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


def titled(number: int, title: str, hours: float = 0) -> Document:
    return Document(str(number), "", title, "", NOON + timedelta(hours=hours))


def test_subsequence_of_an_earlier_title_is_found() -> None:
    index = TitleIndex()
    assert index.judge(titled(1, "青河市图书馆新馆今天开放 读者可以免费借书")) == NEW
    verdict = index.judge(titled(2, "青河市图书馆开放：读者免费借书"))
    assert (verdict.duplicate_of, verdict.reason) == ("1", "title-words")
    assert 0 < verdict.score < 1


def test_word_order_matters() -> None:
    index = TitleIndex()
    index.judge(titled(1, "北京 战胜 上海"))
    assert index.judge(titled(2, "上海 战胜 北京")) == NEW


def test_longer_title_is_new() -> None:
    index = TitleIndex()
    index.judge(titled(1, "图书馆开放"))
    assert index.judge(titled(2, "图书馆开放第一天迎来读者")) == NEW


def test_repeated_word_must_occur_as_often() -> None:
    index = TitleIndex()
    index.judge(titled(1, "调查 结果 公布"))
    assert index.judge(titled(2, "调查 调查")) == NEW


def test_closest_then_first_title_is_named() -> None:
    index = TitleIndex()
    for number, title in enumerate(("图书馆今天开放", "图书馆开放", "图书馆开放！"), start=1):
        index.judge(titled(number, title))
    verdict = index.judge(titled(4, "图书馆开放"))
    assert (verdict.duplicate_of, verdict.score) == ("2", 1.0)


WORDS = st.lists(st.sampled_from(["北京", "上海", "战胜", "图书馆", "开放"]), min_size=1, max_size=6)


@given(WORDS, WORDS)
def test_known_titles_are_subsequences(earlier: list[str], title: list[str]) -> None:
    index = TitleIndex()
    index.judge(titled(1, " ".join(earlier)))
    is_known = is_subsequence(title_words(" ".join(title)), title_words(" ".join(earlier)))
    assert (index.judge(titled(2, " ".join(title))).duplicate_of == "1") == is_known


@pytest.mark.parametrize(
    ("words", "earlier", "expected"), [("ac", "abc", True), ("ca", "abc", False), ("aa", "aba", True), ("aa", "ab", False)]
)
def test_in_order(words: str, earlier: str, expected: bool) -> None:
    assert is_subsequence(tuple(words), tuple(earlier)) is expected


def test_old_titles_and_the_document_itself_are_not_matched() -> None:
    index = TitleIndex(span=timedelta(days=1))
    index.judge(titled(1, "图书馆开放"))
    assert index.judge(titled(1, "图书馆开放")) == NEW
    assert index.judge(titled(2, "图书馆开放", 25)) == NEW


def test_memory_is_bounded() -> None:
    index = TitleIndex(capacity=5)
    for number in range(40):
        index.judge(titled(number, f"第{number}次 会议"))
    assert len(index) == len(index._titles) == 5
    assert set().union(*index._index.values()) == set(index._titles)


def test_empty_huge_and_odd_titles() -> None:
    index = TitleIndex()
    assert index.judge(titled(1, "")) == index.judge(titled(2, "！……")) == index.judge(titled(3, "新")) == NEW
    assert index.judge(titled(4, "新")).duplicate_of == "3"
    assert index.judge(titled(5, "长标题" * 2_000_000)) == NEW
    assert max(len("".join(words)) for words, _, _ in index._titles.values()) <= 300
    assert index.judge(titled(6, "\ud800\x00")) == NEW
