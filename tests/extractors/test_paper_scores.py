"""The papers' methods on real Chinese pages: floors under what was measured, and the order in which they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.commands.evaluate.running import scores_of

FLOORS = [
    # folder, algorithm, F1, mean page F1, share of pages with F1 of at least 0.9
    ("daniel-zh", "cetd", 0.950, 0.930, 0.85),
    ("daniel-zh", "cepr", 0.925, 0.910, 0.75),
    ("daniel-zh", "cevc", 0.910, 0.900, 0.85),
    ("daniel-zh", "cetr", 0.780, 0.800, 0.53),
    ("daniel-zh", "table_stats", 0.925, 0.920, 0.81),
    ("zh-news", "cetd", 0.958, 0.944, 0.90),
    ("zh-news", "cetd_threshold", 0.835, 0.815, 0.60),
    ("zh-news", "cepr", 0.930, 0.860, 0.80),
    ("zh-news", "cevc", 0.940, 0.934, 0.83),
    ("zh-news", "cetr", 0.780, 0.765, 0.50),
    ("zh-news", "table_stats", 0.875, 0.885, 0.78),
]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "algorithm", "f1", "page_f1", "good"), FLOORS)
def test_the_papers_methods_do_not_get_worse(data: Path, folder: str, algorithm: str, f1: float, page_f1: float, good: float) -> None:
    scores = scores_of(data / "extraction" / folder, algorithm)
    assert (scores.f1 or 0) >= f1
    assert (scores.page_f1 or 0) >= page_f1
    assert (scores.good or 0) >= good


@pytest.mark.data
def test_the_order_of_the_thesis_as_far_as_it_holds(data: Path) -> None:
    folder = data / "extraction" / "daniel-zh"
    cetd, cepr, cetr = (scores_of(folder, name).f1 or 0 for name in ("cetd", "cepr", "cetr"))
    assert cetd > cepr > cetr + 0.1
