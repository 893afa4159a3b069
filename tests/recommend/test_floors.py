"""Recommendation stays as good as it was measured (docs/algorithms/recommendation.md): floors a bit below those figures."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from newsportal_lab.evaluate import ranking
from newsportal_lab.evaluate.rankers import METHODS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
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
    ("name", "cut", "figure", "floor", "beaten", "by"),
    [
        ("sim", 0, "ndcg", 0.43, "items-decay", 0.05),
        ("sim", 2, "ndcg", 0.475, "items-decay", 0.06),
        ("rsc15", 0, "hit", 0.55, "vsknn", 0.005),
        ("ml-100k", 0, "ndcg", 0.345, "recent", 0.0),
    ],
)
def test_as_good_as_measured_and_better_than_the_best_of_the_others(
    benchmark: ModuleType, data: Path, name: str, cut: int, figure: str, floor: float, beaten: str, by: float
) -> None:
    folder = data / "clicks" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    split = next(islice(benchmark.SETS[name](folder), cut, None))
    ours, theirs = (
        getattr(ranking.measure(METHODS[method](split.training, split.cut), split.questions), figure) for method in ("best", beaten)
    )
    assert ours >= floor
    assert ours >= theirs + by


@pytest.mark.data
def test_the_paper_s_method_is_built_as_measured(benchmark: ModuleType, data: Path) -> None:
    """NDCG@20 on the made log: 0.062 with hours, 0.003 with days."""
    folder = data / "clicks" / "sim"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    split = next(benchmark.SETS["sim"](folder))
    hours, days = (ranking.measure(METHODS[name](split.training, split.cut), split.questions).ndcg for name in ("paper", "paper-days"))
    assert hours >= 0.055
    assert days < 0.01
