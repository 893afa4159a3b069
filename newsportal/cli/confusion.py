"""The figures of classifiers for people: tables on a terminal, and one HTML file with who is taken for whom and how sure it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import typer
from rich.table import Table
from rich.text import Text

from newsportal.classify.measure import Report, matrix
from newsportal.cli.output import make_table, print_table, render
from newsportal.messages import Message
from newsportal.text import clean

FIGURES: Final = {"macro_f1": "macro-F1", "accuracy": "right", "unanswered": "none", "ece": "ECE"}
"""Figure → heading; ``right``: share of documents with the right label, ``none``: share that was given no label."""

LOWER_IS_BETTER: Final = frozenset(("unanswered", "ece"))
LABEL_CELLS: Final = 8  # cells of a terminal for a label at the head of a column
NOTABLE: Final = 0.1  # share of a label's documents that are taken for another from which the terminal marks it
SIDE: Final = 240  # pixels of the plot's side


def print_figures(reports: Mapping[str, Report], *, by_label: bool = True) -> None:
    columns, rows = ("documents", *FIGURES.values()), []
    for name, report in reports.items():
        figures = {figure: getattr(report, figure) for figure in FIGURES}
        cells = (f"{value:.3f}" if figure == "ece" else f"{100 * value:.1f}" for figure, value in figures.items())
        rows.append((name, report.documents, *cells))
    print_table(make_table(("", *columns), rows, right=columns))
    if by_label:
        typer.echo()
        several, rows = len(reports) > 1, []
        columns = ("documents", *(reports if several else ("precision", "recall", "F1")))
        by_name = [{one.label: one for one in report.labels} for report in reports.values()]
        for label in sorted({label for scores in by_name for label in scores}):
            scores = [one.get(label) for one in by_name]
            first = next(score for score in scores if score)
            shown = [score.f1 if score else None for score in scores] if several else [first.precision, first.recall, first.f1]
            rows.append((label, first.documents, *("–" if value is None else f"{100 * value:.1f}" for value in shown)))
        print_table(make_table(("label", *columns), rows, right=columns))


def print_confusion(report: Report) -> None:
    """Who is taken for whom: a row a true label, a column a label that was given."""
    rows, headings = matrix(report)
    table = Table(box=None, pad_edge=False, header_style="bold", title="true label ↓   given label →", title_justify="left", title_style="")
    table.add_column("")
    for heading in headings:
        table.add_column(Text(heading), justify="right", max_width=LABEL_CELLS, overflow="ellipsis", no_wrap=True)
    for label, cells in rows:
        styles = ("bold" if cell.right else "red" if cell.share >= NOTABLE else "" for cell in cells)
        table.add_row(Text(label), *(Text(str(cell.count or "·"), style=style) for cell, style in zip(cells, styles, strict=True)))
    print_table(table)


def page(title: str, reports: Mapping[str, Report], notes: Sequence[Message] = ()) -> str:
    """The reports as one HTML file that needs no other. Labels are escaped; the file asks nobody for anything."""
    parts = []
    for name, report in reports.items():
        rows, headings = matrix(report)
        parts.append({"name": clean(name), "report": report, "headings": headings, "rows": rows, "dots": _dots(report)})
    return render(
        "confusion.html",
        __package__,
        title=clean(title),
        notes=[clean(str(note)) for note in notes],
        figures=FIGURES,
        lower=LOWER_IS_BETTER,
        parts=parts,
        side=SIDE,
    )


def _dots(report: Report) -> list[dict[str, Any]]:
    """Points of the reliability plot in pixels; ``radius`` grows with the number of documents."""
    most = max((one.documents for one in report.bins), default=1)
    return [
        {
            "x": round(SIDE * one.probability, 1),
            "y": round(SIDE * (1 - one.right), 1),
            "radius": round(3 + 9 * (one.documents / most) ** 0.5, 1),
            "title": f"{one.documents} documents: said {100 * one.probability:.0f} %, right {100 * one.right:.0f} %",
        }
        for one in report.bins
    ]
