from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_calls, ends

from newsportal.dedup.document import NEW, Document
from newsportal.dedup.feature_string import MAX_LENGTH, FeatureStrings, SuffixAutomaton, feature_string

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TEXT = "青河市图书馆新馆昨天开放，读者可以免费借书。新馆共有三层，藏书四十万册，开到晚上九点。馆长说，儿童阅览室周末另有讲座。"


def document(number: int, text: str, days: float = 0) -> Document:
    return Document(str(number), "", "", text, NOON + timedelta(days=days))


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("今天开馆，读者很多。明天休息", "开馆读者很多明天"),
        ("，前面没有", "前面"),
        ("后面没有。", "没有"),
        ("甲，乙。丙", "甲乙。，乙丙"),
        ("分\n行 ，也 算。\n下一段", "分行也算也算下一"),
        ("half, width. marks", ""),
        ("", ""),
    ],
)
def test_features_are_two_characters_around_punctuation(text: str, features: str) -> None:
    assert feature_string(text) == features


def test_repost_with_other_first_sentence_is_found() -> None:
    finder = FeatureStrings()
    assert finder.judge(document(1, TEXT)) == NEW
    verdict = finder.judge(document(2, "本报讯，" + TEXT.replace("四十万", "四十余万"), 6.9))
    assert (verdict.duplicate_of, verdict.reason) == ("1", "feature-string")
    assert verdict.score > 0.8


def test_run_of_half_the_longer_string_is_not_enough() -> None:
    finder = FeatureStrings()
    finder.judge(document(1, "一二，三四。"))  # 一二三四三四
    assert finder.judge(document(2, "一二，三五。")) == NEW  # run 一二三, 3 of 6
    assert finder.judge(document(3, "一二，三四")).duplicate_of == "1"  # run 4 of 6


def test_strings_of_very_different_length_are_not_compared() -> None:
    finder, tail = FeatureStrings(), "甲乙丙丁，戊己庚辛。"
    finder.judge(document(1, TEXT * 3))
    assert finder.judge(document(2, TEXT * 3 + tail * 2)).duplicate_of == "1"  # 16 more
    assert finder.judge(document(3, TEXT * 3 + tail * 6)) == NEW  # 48 more than 1, 32 more than 2


def test_week_is_remembered_and_nearest_document_named() -> None:
    finder = FeatureStrings()
    finder.judge(document(1, TEXT))
    finder.judge(document(2, TEXT, 2))
    assert finder.judge(document(3, TEXT, 7)).duplicate_of == "2"
    only = FeatureStrings()
    only.judge(document(1, TEXT))
    assert only.judge(document(1, TEXT)) == NEW  # the document itself
    assert only.judge(document(5, TEXT, 8)) == NEW


@given(st.lists(st.text("甲乙，", max_size=24), max_size=12), st.sampled_from([0.2, 0.5, 0.8]))
def test_index_finds_the_same_as_full_comparison(texts: list[str], ratio: float) -> None:
    finder = FeatureStrings(ratio=ratio, lengths_differ=3)
    earlier: list[tuple[str, str]] = []
    for number, text in enumerate(texts):
        features = feature_string(text)
        expected = next((name for name, other in reversed(earlier) if _repeats(features, other, ratio)), None)
        assert finder.judge(document(number, text)).duplicate_of == expected
        earlier.append((str(number), features))


def _repeats(features: str, other: str, ratio: float) -> bool:
    return abs(len(features) - len(other)) <= 3 and SuffixAutomaton(features).longest(other) > ratio * max(len(features), len(other))


@pytest.mark.parametrize(("compared", "answer"), [(1, None), (2, "1")])
def test_number_of_comparisons_is_limited(compared: int, answer: str | None) -> None:
    finder = FeatureStrings(compared=compared)
    finder.judge(document(1, "一二，三四。五六，七八。"))
    finder.judge(document(2, "一二，三四。九十，百千。"))  # shares a block with the others, but no run of half the length
    assert finder.judge(document(3, "一二，三四。五六，七八")).duplicate_of == answer


def test_memory_is_bounded() -> None:
    finder = FeatureStrings(capacity=5)
    for number in range(40):
        finder.judge(document(number, f"第{number}次，会议{number}。" + TEXT))
    assert len(finder) == len(finder._documents) == 5
    assert set().union(*finder._blocks.values()) == set(finder._documents)


@pytest.mark.parametrize("huge", ["，" * 5_000_000, (TEXT * 90_000)[:5_000_000], "字" * 5_000_000], ids=["stops", "text", "no stops"])
def test_huge_text_takes_bounded_time(huge: str) -> None:
    finder = FeatureStrings()
    with ends():
        assert finder.judge(document(1, huge)) == NEW
        assert count_calls(finder.judge, document(2, huge)) < 200_000
    assert all(len(features) <= MAX_LENGTH for features, _, _ in finder._documents.values())


def test_empty_and_odd_texts() -> None:
    finder = FeatureStrings()
    assert [finder.judge(document(number, text)) for number, text in enumerate(("", "字", "，", "。", "\ud800，"))] == [NEW] * 5
    with pytest.raises(ValueError, match="ratio"):
        FeatureStrings(ratio=1)
