"""Minimum scores of recommendation, slightly below those measured (docs/algorithms/recommendation.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from newsportal_lab.evaluate import ranking
from newsportal_lab.evaluate.rankers import METHODS
from newsportal_lab.evaluate.ranking import Split

ROOT = Path(__file__).parents[2]
QUESTION_STEP = 5  # every fifth of the 6,680 questions of rsc15


@pytest.fixture(scope="module")
def splits(data: Path) -> Callable[[str, int], Split]:
    """Return a split of a data set, computed once for all its tests."""
    module = benchmark()

    @cache
    def splits_of(name: str) -> tuple[Iterator[Split], list[Split]]:
        folder = data / "clicks" / name
        if not folder.is_dir():
            pytest.skip(f"{folder} is not here")
        return iter(module.SETS[name](folder)), []

    def split_of(name: str, cut: int) -> Split:
        following, found = splits_of(name)
        found.extend(islice(following, max(0, cut + 1 - len(found))))
        return found[cut]

    return split_of


def benchmark() -> ModuleType:
    spec = spec_from_file_location("benchmark_of_recommendation", ROOT / "benchmarks" / "recommend.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "cut", "figure", "floor", "rival", "margin"),
    [
        ("sim", 0, "ndcg", 0.43, "items-decay", 0.05),
        ("sim", 2, "ndcg", 0.475, "items-decay", 0.06),
        ("rsc15", 0, "hit", 0.55, "vsknn", 0.005),
        ("ml-100k", 0, "ndcg", 0.345, "recent", 0.0),
    ],
)
def test_scores_reach_their_floors_and_beat_others(
    splits: Callable[[str, int], Split], name: str, cut: int, figure: str, floor: float, rival: str, margin: float
) -> None:
    split = splits(name, cut)
    questions = split.questions[:: QUESTION_STEP if name == "rsc15" else 1]
    score, rival_score = (
        getattr(ranking.measure(METHODS[method](split.training, split.cut), questions), figure) for method in ("best", rival)
    )
    assert score >= floor
    assert score >= rival_score + margin


@pytest.mark.data
def test_paper_method_scores_as_measured(splits: Callable[[str, int], Split]) -> None:
    """NDCG@20 on the made-up log: 0.062 with hours, 0.003 with days."""
    split = splits("sim", 0)
    hours, days = (ranking.measure(METHODS[name](split.training, split.cut), split.questions).ndcg for name in ("paper", "paper-days"))
    assert hours >= 0.055
    assert days < 0.01
