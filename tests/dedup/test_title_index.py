from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.document import NEW, Document
from newsportal.dedup.title_index import TitleIndex, in_order, title_words

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


def titled(number: int, title: str, hours: float = 0) -> Document:
    return Document(str(number), "", title, "", NOON + timedelta(hours=hours))


def test_a_title_whose_words_stand_in_order_in_an_earlier_one_is_known() -> None:
    index = TitleIndex()
    assert index.judge(titled(1, "青河市图书馆新馆今天开放 读者可以免费借书")) == NEW
    verdict = index.judge(titled(2, "青河市图书馆开放：读者免费借书"))
    assert (verdict.duplicate_of, verdict.reason) == ("1", "title-words")
    assert 0 < verdict.score < 1


def test_the_same_words_in_another_order_are_another_title() -> None:
    index = TitleIndex()
    index.judge(titled(1, "北京 战胜 上海"))
    assert index.judge(titled(2, "上海 战胜 北京")) == NEW


def test_a_longer_title_is_not_known_by_a_shorter_one() -> None:
    index = TitleIndex()
    index.judge(titled(1, "图书馆开放"))
    assert index.judge(titled(2, "图书馆开放第一天迎来读者")) == NEW


def test_a_word_that_stands_twice_must_be_found_twice() -> None:
    index = TitleIndex()
    index.judge(titled(1, "调查 结果 公布"))
    assert index.judge(titled(2, "调查 调查")) == NEW


def test_of_several_titles_the_one_with_least_else_is_named_of_equal_ones_the_first() -> None:
    index = TitleIndex()
    for number, title in enumerate(("图书馆今天开放", "图书馆开放", "图书馆开放！"), start=1):
        index.judge(titled(number, title))
    verdict = index.judge(titled(4, "图书馆开放"))
    assert (verdict.duplicate_of, verdict.score) == ("2", 1.0)


WORDS = st.lists(st.sampled_from(["北京", "上海", "战胜", "图书馆", "开放"]), min_size=1, max_size=6)


@given(WORDS, WORDS)
def test_known_is_what_is_a_subsequence(earlier: list[str], title: list[str]) -> None:
    index = TitleIndex()
    index.judge(titled(1, " ".join(earlier)))
    known = in_order(title_words(" ".join(title)), title_words(" ".join(earlier)))
    assert (index.judge(titled(2, " ".join(title))).duplicate_of == "1") == known


@pytest.mark.parametrize(
    ("words", "earlier", "known"), [("ac", "abc", True), ("ca", "abc", False), ("aa", "aba", True), ("aa", "ab", False)]
)
def test_in_order(words: str, earlier: str, known: bool) -> None:
    assert in_order(tuple(words), tuple(earlier)) is known


def test_a_span_forgets_older_titles_and_a_document_is_not_its_own_repost() -> None:
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


def test_strange_titles() -> None:
    index = TitleIndex()
    assert index.judge(titled(1, "")) == index.judge(titled(2, "！……")) == index.judge(titled(3, "新")) == NEW
    assert index.judge(titled(4, "新")).duplicate_of == "3"
    assert index.judge(titled(5, "长标题" * 2_000_000)) == NEW
    assert max(len("".join(words)) for words, _, _ in index._titles.values()) <= 300
    assert index.judge(titled(6, "\ud800\x00")) == NEW
