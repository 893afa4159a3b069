"""Floors of titles, days, authors and origins on real pages with gold answers. A score only rises: who betters it writes the new floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.commands.evaluate.running import scores_of

FLOORS = [
    # folder, title, date, author, source; titles of daniel-zh: gold of one site begins with a bullet (eleven pages of 194)
    ("daniel-zh", 0.93, 0.994, None, None),
    ("zh-news", 0.98, 0.99, 0.94, 0.91),
    ("magic-article", 0.99, 0.99, None, None),
    ("fundus-tests", 0.74, 0.98, 0.93, None),
]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "title", "date", "author", "source"), FLOORS)
def test_fields_do_not_get_worse(data: Path, folder: str, title: float, date: float, author: float | None, source: float | None) -> None:
    scores = scores_of(data / "extraction" / folder, "best")
    assert (scores.title or 0) >= title
    assert (scores.date or 0) >= date
    assert (scores.author or 0) >= (author or 0)
    assert (scores.source or 0) >= (source or 0)
