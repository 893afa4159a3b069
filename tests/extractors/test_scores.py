"""Floors on real pages with gold answers. A score only rises: who betters it writes the new floor here."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.commands.evaluate.running import scores_of

FLOORS = [
    # folder, algorithm, F1, title, date
    ("daniel-zh", "best", 0.974, 0.91, 0.99),
    ("zh-news", "best", 0.965, 0.90, 0.96),
    ("zh-news", "cevc", 0.94, 0.74, 0.90),
]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "algorithm", "f1", "title", "date"), FLOORS)
def test_extraction_does_not_get_worse(data: Path, folder: str, algorithm: str, f1: float, title: float, date: float) -> None:
    scores = scores_of(data / "extraction" / folder, algorithm)
    assert (scores.f1 or 0) >= f1
    assert (scores.title or 0) >= title
    assert (scores.date or 0) >= date
    assert scores.unanswered == 0
