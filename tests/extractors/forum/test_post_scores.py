"""Minimum scores on real threads with gold posts. Scores only rise: a change that improves one raises its floor here."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import pytest

from newsportal.extractors.forum import best, post_extractor
from newsportal_lab.evaluate.forum import ThreadReading, gold_threads, read_all, row

FLOORS = [
    # algorithm, engines, block F1, body F1, author, date
    ("best", None, 0.983, 0.953, 0.969, 0.98),
    ("best", {"discuz", "phpwind", "tieba"}, 0.985, 0.985, 0.99, 0.99),
    ("pean", None, 0.805, 0.37, None, 0.655),
    ("mibat", None, 0.79, 0.37, None, 0.675),
]


@cache
def readings(data: Path, algorithm: str) -> list[ThreadReading]:
    return read_all(post_extractor(algorithm), gold_threads(data / "forum"))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "engines", "block", "body", "author", "date"), FLOORS)
def test_scores_reach_their_floors(
    data: Path, algorithm: str, engines: set[str] | None, block: float, body: float, author: float | None, date: float
) -> None:
    figures = row([reading for reading in readings(data, algorithm) if engines is None or reading.thread.engine in engines])
    assert figures["block_f1"] >= block
    assert figures["body_f1"] >= body
    assert (figures["author"] or 0) >= (author or 0)
    assert figures["date"] >= date


@pytest.mark.data
@pytest.mark.slow
def test_unknown_engine_scores_without_hints(data: Path) -> None:
    figures = row(read_all(partial(best.extract, hints=False), gold_threads(data / "forum")))
    assert figures["block_f1"] >= 0.965
    assert figures["body_f1"] >= 0.925
    assert figures["author"] >= 0.92
    assert figures["date"] >= 0.975
