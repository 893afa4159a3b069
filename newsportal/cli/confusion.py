"""The figures of classifiers for people: tables on a terminal, and one HTML file with who is taken for whom and how sure it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from rich.table import Table
from rich.text import Text

from newsportal.classify.measure import Report, matrix
from newsportal.cli.output import make_table, print_table, render, writable
from newsportal.messages import Message
from newsportal.text import clean

FIGURES: Final = {"macro_f1": "macro-F1", "accuracy": "right", "unanswered": "none", "ece": "ECE"}
"""Figure → heading; ``right``: share of documents with the right label, ``none``: share that was given no label."""

LOWER_IS_BETTER: Final = frozenset(("unanswered", "ece"))
LABEL_CELLS: Final = 8  # cells of a terminal for a label at the head of a column
NOTABLE: Final = 0.1  # share of a label's documents that are taken for another from which the terminal marks it
SIDE: Final = 240  # pixels of the plot's side


def format_figure(name: str, value: float) -> str:
    """Shares are shown in per cent, the expected calibration error as it is."""
    return f"{value:.3f}" if name == "ece" else f"{100 * value:.1f}"


def print_figures(reports: Mapping[str, Report]) -> None:
    """The figures of each report, then those of each label; of several reports the F1 alone."""
    columns = ("documents", *FIGURES.values())
    rows = [
        (name, report.documents, *(format_figure(figure, getattr(report, figure)) for figure in FIGURES))
        for name, report in reports.items()
    ]
    print_table(make_table(("", *columns), rows, right=columns))
    typer.echo()
    several, rows = len(reports) > 1, []
    columns = ("documents", *(reports if several else ("precision", "recall", "F1")))
    by_name = [{one.label: one for one in report.labels} for report in reports.values()]
    for label in sorted({label for scores in by_name for label in scores}):
        scores = [one.get(label) for one in by_name]
        first = next(score for score in scores if score)
        values = [score.f1 if score else None for score in scores] if several else [first.precision, first.recall, first.f1]
        rows.append((label, first.documents, *("–" if value is None else f"{100 * value:.1f}" for value in values)))
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


def print_report(name: str, report: Report | None, warnings: Iterable[Message]) -> None:
    """The warnings of a model on standard error, then its figures and which labels it takes for which, if it was measured."""
    for warning in warnings:
        typer.echo(clean(str(warning)), err=True)
    if report is not None:
        print_figures({name: report})
        typer.echo()
        print_confusion(report)


def write_page(path: Path | None, title: str, reports: Mapping[str, Report], notes: Sequence[Message] = ()) -> None:
    """Write :func:`page` to ``path``, if there is one."""
    if path is not None:
        with writable(path) as part:
            part.write_text(page(title, reports, notes), "utf-8")


def page(title: str, reports: Mapping[str, Report], notes: Sequence[Message] = ()) -> str:
    """The reports as one HTML file that needs no other. Labels are escaped; the file asks nobody for anything."""
    parts = []
    for name, report in reports.items():
        rows, headings = matrix(report)
        parts.append({"name": clean(name), "report": report, "headings": headings, "rows": rows, "dots": _dots(report)})
    return render(
        "confusion.html", __package__, title=clean(title), notes=[clean(str(note)) for note in notes], figures=FIGURES,
        lower=LOWER_IS_BETTER, parts=parts, side=SIDE,
    )  # fmt: skip


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
