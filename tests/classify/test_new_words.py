"""Detection of words that are in a text but not in the dictionary."""

from __future__ import annotations

import pytest

from newsportal.classify.new_words import NAME, NOUN, OTHER, VERB, new_words, word_kinds


def found_in(clauses: list[list[str]]) -> frozenset[str]:
    words = [word for clause in clauses for word in [*clause, "，"]]
    return new_words(words, "".join(words), {"，"})


@pytest.mark.parametrize(
    ("clauses", "found"),
    [
        ([["白鹭", "滩观", "鸟季"], ["白鹭", "滩"], ["走进", "白鹭", "滩"]], {"白鹭滩"}),  # segmented differently in each sentence
        ([["青海湖", "裸", "鲤"], ["裸", "鲤", "数量"]], {"裸鲤"}),
        ([["保护", "站"], ["新设", "保护", "站"]], {"保护站"}),  # a verb before the second part of a noun
        ([["直肠癌", "检体"], ["换掉", "直肠癌", "检体"]], {"直肠癌检体"}),
        ([["刘", "洪"], ["校长", "刘", "洪"]], {"刘洪"}),  # a surname, and not part of another noun
        ([["喝", "茅台"], ["公款", "喝", "茅台"]], set()),  # nouns do not begin with 喝
        ([["英", "伟达", "发布"], ["英", "伟达", "发布"]], {"英伟达"}),  # a verb is not part of a word, and ends a clause
        ([["电池", "可换"], ["可换", "电池"]], set()),  # nouns do not begin with 可
        ([["裸", "鲤", "节"], ["裸", "鲤", "节"]], {"裸鲤节"}),  # 裸鲤 always has the same neighbour
        ([["电池"], ["电池"]], set()),  # in the dictionary
        ([], set()),
    ],
)
def test_repeated_nouns_with_varying_neighbours_are_found(clauses: list[list[str]], found: set[str]) -> None:
    assert found_in(clauses) == found


def test_parts_often_used_separately_are_not_joined() -> None:
    clauses = [["北京", "站"], ["到", "北京", "站"], *[["北京"], ["站"]] * 5]
    assert found_in(clauses) == frozenset()


def test_dictionary_separates_nouns_from_verbs() -> None:
    kinds = word_kinds().get
    assert (kinds("电池"), kinds("青海湖"), kinds("附送"), kinds("非常")) == (NOUN, NAME, VERB, OTHER)
    assert kinds("*站") == kinds("王*") == 1.0
    assert kinds("*喝") is None
