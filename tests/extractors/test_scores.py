"""Floors on real pages with gold answers. A score only rises: who betters it writes the new floor here."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.commands.evaluate.running import scores_of

FLOORS = [
    # folder, algorithm, F1, mean page F1, title, date, author
    # The block model of best was fitted on magic-article, scrapinghub and fundus-tests, so it knows those pages: docs/algorithms/best.md
    # has the figures of held-out sites. daniel-zh, zh-news and tw-event it has never seen.
    ("daniel-zh", "best", 0.978, 0.971, 0.93, 0.991, None),
    ("zh-news", "best", 0.986, 0.985, 0.978, 0.997, 0.938),
    ("tw-event", "best", 0.749, 0.78, None, None, None),
    ("magic-article", "best", 0.976, 0.974, 0.997, 0.997, None),
    ("scrapinghub", "best", 0.99, 0.988, None, None, None),
    ("fundus-tests", "best", 0.988, 0.986, 0.747, 0.989, 0.944),
    ("zh-news", "cevc", 0.94, None, 0.74, 0.90, None),
]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "algorithm", "f1", "page_f1", "title", "date", "author"), FLOORS)
def test_extraction_does_not_get_worse(
    data: Path, folder: str, algorithm: str, f1: float, page_f1: float | None, title: float | None, date: float | None, author: float | None
) -> None:
    scores = scores_of(data / "extraction" / folder, algorithm)
    assert (scores.f1 or 0) >= f1
    assert (scores.page_f1 or 0) >= (page_f1 or 0)
    assert (scores.title or 0) >= (title or 0)
    assert (scores.date or 0) >= (date or 0)
    assert (scores.author or 0) >= (author or 0)
    assert scores.unanswered == 0
