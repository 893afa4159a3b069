"""Weights that are kept only if they improve the ranking, and variety of lists."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from newsportal.recommend import best, blend
from newsportal.recommend.base import Item, Log
from newsportal.recommend.blend import NEW, RETURNING
from newsportal_lab.evaluate import ranking
from newsportal_lab.evaluate.ranking import AGAIN, NEXT
from tests.recommend.made_up_log import at, log, view


def popularity_log(readers: int = 700, stories: int = 80) -> Log:
    """Return a log of single visits to five stories each, with some popular stories: only popularity can be learned."""
    draw = Random(4)
    often = [1 / (place + 1) for place in range(stories)]
    items = [Item(f"s{n:03}", at(0), (), (f"topic{n % 4}",)) for n in range(stories)]
    views = [
        view(f"r{reader:03}", items[story].story, 1 + reader / 4 + place / 60)
        for reader in range(readers)
        for place, story in enumerate(dict.fromkeys(draw.choices(range(stories), often, k=5)))
    ]
    return Log(views, items)


@pytest.mark.slow
def test_popularity_is_the_only_weight_without_other_signals() -> None:
    weights = best.fit(popularity_log(), at(24 * 30)).weights[NEW]
    assert np.count_nonzero(weights) == 1
    assert np.flatnonzero(weights)[0] in blend.POPULAR


@pytest.mark.slow
def test_useful_weights_are_kept() -> None:
    weights = best.fit(log(readers=120), at(24 * 9)).weights[RETURNING]
    assert np.count_nonzero(weights) > 1


def test_ndcg_equals_the_benchmarks_measure() -> None:
    draw = np.random.default_rng(3)
    for targets in (3, 40):
        score, relevant = draw.random(100), draw.permutation(100) < targets
        names = [str(place) for place in np.argsort(-score)]
        expected = frozenset(str(place) for place in np.flatnonzero(relevant))
        assert blend.ndcg(score, relevant, targets) == pytest.approx(ranking.figures(names, expected)[1])


def test_seen_stories_are_targets_only_for_repeated_views() -> None:
    views = [view("r", story, hour) for story, hour in (("a", 1), ("a", 2), ("b", 10), ("a", 10.1), ("c", 10.2))]
    log = Log(views, [Item(name, at(0)) for name in "abc"])
    cut = at(5).timestamp() / 3600
    targets = {kind: [question.targets for question in ranking.split(log, kind, cut, np.inf).questions] for kind in (NEXT, AGAIN)}
    assert targets == {NEXT: [{"c"}], AGAIN: [{"a"}, {"c"}]}


def test_variety_does_not_raise_unlikely_stories() -> None:
    labels = [("sport",)] * 8 + [("culture",)] * 8
    close = [-0.01 * place for place in range(16)]
    far = [*close[:8], *(score - 3 for score in close[8:])]
    assert best.diversify(labels, lambda one, other: False, 8, 5, close)[5] == 8
    assert best.diversify(labels, lambda one, other: False, 8, 5, far) == list(range(8))
    assert best.diversify(labels, lambda one, other: False, 8, 5)[5] == 8
