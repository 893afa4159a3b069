"""Who is taken for whom, as a table: a row a true label, a column a label that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from newsportal.classify.measure import Report
from newsportal.text import clean

NONE: Final = "—"
"""How "none of the labels" is written."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the confusion table: documents, and their share of the row, which is its shade."""

    count: int
    share: float
    right: bool


def matrix(report: Report) -> tuple[list[tuple[str, tuple[Cell, ...]]], list[str]]:
    """The rows of the confusion table and the headings of its columns; labels that are only given come last, then none."""
    true = [one.label for one in report.labels]
    given = {said for _, said in report.confusion}
    columns: list[str | None] = [*true, *sorted(said for said in given if said is not None and said not in true)]
    if None in given:
        columns.append(None)
    sizes = {one.label: max(1, one.documents) for one in report.labels}
    counts = {label: [report.confusion.get((label, said), 0) for said in columns] for label in true}
    rows = [
        (clean(label), tuple(Cell(count, count / sizes[label], said == label) for said, count in zip(columns, counts[label], strict=True)))
        for label in true
    ]
    return rows, [NONE if said is None else clean(said) for said in columns]
