"""Minimum scores of the judge, and of the store's whole rule, on made-up and real reposts; a little below those measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from newsportal.dedup.document import Finder
from newsportal.dedup.judge import Judge
from newsportal_lab.evaluate.dedup import InStore, read_gold, row

MADE_FLOORS: dict[str, tuple[Callable[[], Finder | InStore], float, float, float]] = {
    "judge": (Judge, 0.99, 0.992, 0.99),
    "store": (InStore, 0.991, 0.993, 0.99),
}
"""Minimum F1, precision and recall."""

REAL_FLOORS: dict[str, tuple[Callable[[], Finder | InStore], float, float]] = {"judge": (Judge, 0.94, 0.95), "store": (InStore, 0.885, 0.9)}
"""Minimum F1, and share of subsets found."""


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_FLOORS)
def test_made_reposts_reach_their_floors(name: str, data: Path) -> None:
    make, f1, precision, recall = MADE_FLOORS[name]
    found = row(read_gold(data / "text" / "reposts-synthetic"), make())
    assert found["f1"] >= f1
    assert found["precision"] >= precision
    assert found["recall"] >= recall


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_FLOORS)
def test_real_reposts_reach_their_floors(name: str, data: Path) -> None:
    make, f1, subsets = REAL_FLOORS[name]
    found = row(read_gold(data / "text" / "reposts-real"), make())
    assert found["f1"] >= f1
    assert found["subsets"] >= subsets
