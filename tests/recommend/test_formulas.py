"""Formulas of the paper and our own sums, checked by hand."""

from __future__ import annotations

from math import exp, factorial, log

import numpy as np
import pytest

from newsportal.recommend import formulas, neighbours, signals
from newsportal.recommend.base import Item, Log
from newsportal.recommend.clicks import Clicks, hours, to_columns
from newsportal_lab.evaluate.rankers import user_neighbours
from tests.recommend.made_up_log import DAWN, at, view

ITEMS = [Item(name, DAWN) for name in "abcd"]


def clicks() -> Clicks:
    views = [view("p", "a", 1), view("p", "b", 2), view("p", "c", 3), view("q", "a", 1), view("q", "c", 5)]
    return to_columns(Log(views, ITEMS))


def test_rating_is_seen_share_minus_alpha() -> None:
    assert formulas.ratings(np.array([4 / 8]), 0.532) == pytest.approx([-0.032])
    assert formulas.ALPHA == 0.532


def test_alpha_is_the_median_share() -> None:
    assert formulas.median_share(np.array([0.1, 0.9, 0.4])) == 0.4
    assert formulas.median_share(np.array([0.1, 0.9, 0.4, 0.6])) == 0.5
    assert formulas.median_share(np.array([])) == formulas.ALPHA


def test_decay_is_poisson_with_interpolation() -> None:
    assert formulas.weight(np.array([5.0]))[0] == pytest.approx(exp(-5.6) * 5.6**5 / factorial(5))
    assert formulas.weight(np.array([48.0]), unit=formulas.DAY)[0] == pytest.approx(exp(-5.6) * 5.6**2 / 2)
    assert formulas.weight(np.array([-3.0]))[0] == pytest.approx(exp(-5.6))
    assert formulas.weight(np.array([5.1]))[0] > formulas.weight(np.array([0.0, 12.0])).max()


def test_rate_is_the_mean_age() -> None:
    assert formulas.fitted_rate(np.array([2.0, 10.0])) == 6.0
    assert formulas.fitted_rate(np.array([24.0, 72.0]), formulas.DAY) == 2.0


def test_views_of_a_story_are_merged_per_reader() -> None:
    found = to_columns(Log([view("p", "a", 5, 1, 4), view("p", "a", 2, 3, 4), view("p", "z", 2)], ITEMS))
    assert (len(found), found.share.tolist()) == (1, [0.75])
    assert found.at[0] == pytest.approx(hours(at(5)))


def test_prediction_of_formula_3() -> None:
    """p rates a 0.4 and b −0.4, q rates a 0.2 and c 0.4; for a reader who rates a 0.3: sim 1 and 1, k 1/2."""
    log = to_columns(Log([view("p", "a", 1, 9, 10), view("p", "b", 1, 1, 10), view("q", "a", 1, 7, 10), view("q", "c", 1, 9, 10)], ITEMS))
    model = user_neighbours(log, alpha=0.5)
    now = hours(at(5))
    predicted = model.predict(np.array([0]), np.array([0.3]), now)
    w = exp(-5.6) * 5.6**5 / factorial(5)
    assert predicted[1] == pytest.approx((0.3 + 0.5 * (-0.4 - 0.0)) * w)
    assert predicted[2] == pytest.approx((0.3 + 0.5 * (0.4 - 0.3)) * w)
    assert predicted[3] == pytest.approx(0.3 * w)


def test_similarity_is_the_cosine_over_shared_stories() -> None:
    log = to_columns(Log([view("p", "a", 1, 9, 10), view("p", "b", 1, 3, 10), view("q", "d", 1, 9, 10)], ITEMS))
    similarity = user_neighbours(log, alpha=0.5).similarities(np.array([0, 1]), np.array([0.1, 0.3]))
    assert similarity[0] == pytest.approx((0.4 * 0.1 - 0.2 * 0.3) / ((0.4**2 + 0.2**2) * (0.1**2 + 0.3**2)) ** 0.5)
    assert similarity[1] == 0


def test_popularity_decays_with_half_life() -> None:
    found = formulas.popularity(clicks(), hours(at(5)), 2.0)
    assert found.tolist() == pytest.approx([2 * 0.25, 2**-1.5, 0.5 + 1, 0])


def test_pair_sums_by_position() -> None:
    log = clicks()
    sums = neighbours.pair_sums(log)
    found = {(int(i), int(j)): (c, w, s) for i, j, c, w, s in zip(sums.first, sums.second, sums.joint, sums.pairs, sums.after, strict=True)}
    assert found[0, 2] == pytest.approx((1 / 3 + 1 / 2, 2, 1 / 2 + 1))
    assert found[2, 0] == pytest.approx((1 / 3 + 1 / 2, 2, 0))
    assert found[0, 1] == pytest.approx((1 / 3, 1, 1))
    assert len(found) == 6


def test_joint_views_and_successors() -> None:
    log = clicks()
    sums, damping = neighbours.pair_sums(log), neighbours.damping_of(log)
    stories, value = neighbours.viewed_jointly(sums, damping).row(0)
    assert stories.tolist() == [2, 1]
    assert value[0] == pytest.approx((5 / 6) / (5 / 6) * 2 / 7)
    stories, value = neighbours.viewed_next(sums, np.array([2.0, 1.0, 2.0, 0.0])).row(0)
    assert (stories.tolist(), value.tolist()) == ([2, 1], pytest.approx([0.75, 0.5]))


def test_chunked_sums_equal_total(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.recommend.made_up_log import log as made_up_log

    log = to_columns(made_up_log())
    total = neighbours.pair_sums(log)
    monkeypatch.setattr(neighbours, "MAX_BLOCK_PAIRS", 500)
    parts = neighbours.pair_sums(log)
    for column in ("first", "second", "joint", "pairs", "after"):
        assert getattr(parts, column) == pytest.approx(getattr(total, column))


def test_equal_neighbours_are_ordered_by_name() -> None:
    table = neighbours.nearest_stories(np.array([0, 0, 0]), np.array([3, 1, 2]), np.array([0.5, 0.5, 0.5]), 4, 2)
    assert table.row(0)[0].tolist() == [1, 2]


def test_votes_of_similar_readers() -> None:
    """History c, a (latest first): p and q have both; sim = (0.9 + 0.8) / 2, the latest shared story is c: 0.9."""
    rows = signals.rows(clicks())
    found = signals.votes(rows, np.array([2, 0]), 4)
    assert found[1] == pytest.approx(0.85 * 0.9 * (1 + 5 * log(2)))
    assert found[3] == 0


def test_label_preferences_are_smoothed_shares() -> None:
    matrix = signals.label_matrix([Item("a", DAWN, (), ("x",)), Item("b", DAWN, (), ("y",))], ("x", "y"))
    base = signals.base_shares(matrix, np.array([3.0, 1.0]))
    assert base.tolist() == pytest.approx([4 / 6, 2 / 6])
    likings = signals.label_preferences(matrix[[1, 1]].T @ np.ones(2), base, 2)
    assert likings[1] == pytest.approx(log((2 + 5 / 3) / 7 / (1 / 3)))
