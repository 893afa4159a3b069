from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.cosine import Cosine, first_sentence, is_stop_word, unit_vector
from newsportal.dedup.document import NEW, Document

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)


def document(number: int, title: str, text: str = "", days: float = 0) -> Document:
    return Document(str(number), "", title, text, NOON + timedelta(days=days))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("图书馆开放。读者很多。", "图书馆开放"),
        ("\n 图书馆开放了！\n", "图书馆开放了"),
        ("第一行\n第二行。", "第一行"),
        ("增长3.5%。其他", "增长3.5%"),
        ("The library opens. Readers come.", "The library opens"),
        ("", ""),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_stop_words_are_ignored() -> None:
    assert all(map(is_stop_word, ("的", "因为", "The")))
    assert not any(map(is_stop_word, ("图书馆", "北京", "library")))
    assert set(unit_vector("图书馆的开放", "在北京。")) == {"图书馆", "开放", "北京"}


def test_vector_counts_words_of_title_and_first_sentence() -> None:
    vector = unit_vector("图书馆 开放", "图书馆 在 北京。上海")
    assert vector == pytest.approx({"图书馆": 2 / sqrt(6), "开放": 1 / sqrt(6), "北京": 1 / sqrt(6)})


def test_cosine_of_a_worked_example() -> None:
    finder = Cosine()
    assert finder.judge(document(1, "图书馆 开放", "图书馆 在 北京。")) == NEW
    verdict = finder.judge(document(2, "北京 图书馆", "读者 排队。"))
    assert (verdict.duplicate_of, verdict.reason) == ("1", "cosine")
    assert verdict.score == pytest.approx((2 + 1) / sqrt(6 * 4))


def test_threshold_is_inclusive() -> None:
    at_half = Cosine(threshold=0.5)
    at_half.judge(document(1, "图书馆 读者"))
    assert at_half.judge(document(2, "图书馆 北京")).score == pytest.approx(0.5)
    above = Cosine(threshold=0.51)
    above.judge(document(1, "图书馆 读者"))
    assert above.judge(document(2, "图书馆 北京")) == NEW


def test_most_similar_other_document_is_named() -> None:
    finder = Cosine()
    finder.judge(document(1, "图书馆 开放 北京"))
    finder.judge(document(2, "图书馆 开放 读者"))
    assert finder.judge(document(3, "读者 开放 图书馆")).duplicate_of == "2"
    only = Cosine()
    only.judge(document(1, "图书馆"))
    assert only.judge(document(1, "图书馆")) == NEW


def test_documents_older_than_span_are_forgotten() -> None:
    finder = Cosine(span=timedelta(days=7))
    finder.judge(document(1, "图书馆 开放"))
    assert finder.judge(document(2, "图书馆 开放", days=8)) == NEW


TITLES = st.lists(
    st.lists(st.sampled_from(["北京", "上海", "读者", "图书馆", "开放", "战胜", "会议"]), max_size=6).map(" ".join), max_size=12
)


@given(TITLES, st.sampled_from([0.3, 0.6, 0.9]))
def test_index_finds_the_same_as_full_comparison(titles: list[str], threshold: float) -> None:
    finder = Cosine(threshold=threshold)
    vectors: list[dict[str, float]] = []
    for number, title in enumerate(titles):
        vector, verdict = unit_vector(title, ""), finder.judge(document(number, title))
        best = max((_product(vector, other) for other in vectors), default=0.0)
        if best >= threshold - 1e-9:
            assert verdict.duplicate_of is not None
            assert verdict.score == pytest.approx(best)
            assert _product(vector, vectors[int(verdict.duplicate_of)]) == pytest.approx(best)
        else:
            assert verdict == NEW
        vectors.append(vector)


def _product(first: dict[str, float], other: dict[str, float]) -> float:
    return sum(weight * other.get(word, 0.0) for word, weight in first.items())


def test_memory_is_bounded() -> None:
    finder = Cosine(capacity=5)
    for number in range(40):
        finder.judge(document(number, f"第{number}次 会议"))
    assert len(finder) == len(finder._documents) == 5
    assert {number for numbers, _ in finder._index.values() for number in numbers} == set(finder._documents)
    assert finder.judge(document(40, "第39次 会议")).duplicate_of == "39"


def test_empty_huge_and_odd_documents() -> None:
    finder = Cosine()
    assert finder.judge(document(1, "")) == finder.judge(document(2, "。", "！")) == finder.judge(document(3, "的", "的")) == NEW
    assert finder.judge(document(4, "新")) == NEW
    assert finder.judge(document(5, "新")).duplicate_of == "4"
    assert finder.judge(document(6, "长标题" * 2_000_000, "长文章" * 2_000_000)) == NEW
    assert finder.judge(document(7, "\ud800", "\x00")) == NEW
    with pytest.raises(ValueError, match="threshold"):
        Cosine(threshold=0)
