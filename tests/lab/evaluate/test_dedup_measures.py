from __future__ import annotations

from newsportal_lab.evaluate.dedup import Score, pairs_of_groups, score_by_document, score_pairs


def pairs(*names: str) -> set[frozenset[str]]:
    return {frozenset(name) for name in names}


def test_per_document_counts_earlier_members_of_same_cluster() -> None:
    clusters = {"a": 1, "b": 1, "c": 2, "d": 1, "e": 2}
    answers = [("a", "b"), ("b", "a"), ("c", "a"), ("d", None), ("e", "c")]
    assert score_by_document(answers, clusters) == Score(hits=2, given=4, wanted=3)  # a names a later document, c one of another cluster


def test_answers_are_joined_into_groups() -> None:
    assert pairs_of_groups([("a", None), ("b", "a"), ("c", "b"), ("d", None), ("e", "d")]) == pairs("ab", "ac", "bc", "de")
    assert pairs_of_groups([("b", "a"), ("d", "c"), ("d", "a")]) == pairs("ab", "ac", "ad", "bc", "bd", "cd")
    assert pairs_of_groups([]) == set()


def test_ignored_pairs_do_not_count() -> None:
    assert score_pairs(pairs("ab", "ac", "de"), pairs("ab", "xy"), pairs("ac")) == Score(hits=1, given=2, wanted=2)


def test_precision_recall_and_f1() -> None:
    score = Score(hits=2, given=4, wanted=3)
    assert (score.precision, score.recall, round(score.f1, 4)) == (0.5, 2 / 3, 0.5714)
    assert (Score(0, 0, 0).precision, Score(0, 0, 0).recall, Score(0, 0, 0).f1) == (0, 0, 0)
