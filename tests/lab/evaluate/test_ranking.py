"""Evaluation of rankers on a log split by time: the training part holds nothing later than the cut."""

from __future__ import annotations

from math import log2

import pytest

from newsportal.recommend.clicks import hours
from newsportal_lab.evaluate import ranking
from newsportal_lab.evaluate.rankers import METHODS
from newsportal_lab.evaluate.ranking import NEXT, WINDOW, figures
from tests.recommend.made_up_log import log


@pytest.mark.parametrize("kind", [WINDOW, NEXT])
def test_split_does_not_leak_future(kind: str) -> None:
    for split in ranking.splits(log(), kind):
        assert len(split.training)
        assert split.questions
        assert (split.training.at < split.cut).all()
        assert (split.training.published <= split.cut).all()
        names = {item.story for item in split.training.items}
        for question in split.questions:
            assert question.targets <= names
            assert not question.targets & {view.story for view in question.history}
            assert all(view.at <= question.now for view in question.history)
            if kind == WINDOW:
                assert all(hours(view.at) < split.cut for view in question.history)


def test_recall_ndcg_and_hit_rate() -> None:
    recall, ndcg, hit = figures(("a", "b", "c"), frozenset("bx"), 3)
    assert (recall, hit) == (0.5, 1.0)
    assert ndcg == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))
    assert figures(("a",), frozenset("x"), 3) == (0.0, 0.0, 0.0)
    assert figures(("x", "y"), frozenset("xy"), 2) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_ranks_only_unseen_stories(name: str) -> None:
    split = next(ranking.splits(log(), WINDOW))
    model = METHODS[name](split.training, split.cut)
    for question in split.questions[:20]:
        found = model.rank(question.history, question.now, 20)
        assert len(found) == len(set(found)) == 20
        assert not set(found) & {view.story for view in question.history}
    assert model.rank((), split.questions[0].now, 5)


@pytest.mark.slow
def test_best_outranks_baselines_if_taste_and_age_matter() -> None:
    for split in ranking.splits(log(readers=120), WINDOW):
        found = {
            name: ranking.measure(METHODS[name](split.training, split.cut), split.questions).ndcg for name in ("recent", "items", "best")
        }
        assert found["best"] > found["items"]
        assert found["best"] >= found["recent"]
