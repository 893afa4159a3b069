"""Reports of evaluations: tables on a terminal, and self-contained HTML files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from newsportal.cli.output import render
from newsportal.text import clean
from newsportal_lab.evaluate.running import PageComparison, PageResult, Piece, Row
from newsportal_lab.evaluate.scoring import FIELDS


def write_report(file: Path, html: str) -> None:
    """Write the report. Ends the command with status 1 if ``file`` cannot be written."""
    try:
        file.write_text(html, encoding="utf-8", errors="replace")
    except OSError as error:
        typer.echo(f"{file}: cannot be written: {error.strerror or error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"report: {file}", err=True)


COLUMNS: Final[dict[str, str]] = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "page_f1": "page",
    "good": "≥.9",
    "score": "Score",
    "valid": "valid",
    "has_body": "body",
    "only_body": "only",
    "title": "title",
    "date": "date",
    "author": "author",
    "source": "source",
    "unanswered": "none",
    "ms": "ms",
}
"""Figure → heading; ``page``: the mean of the pages' own F1, ``≥.9``: the share of pages with that F1, ``none``: pages without a text.
``valid``: pages that thesis E takes for articles, ``body`` and ``only``: of these, those with the body, and with only the body."""

HIGHER_IS_BETTER: Final = frozenset(COLUMNS) - {"unanswered", "ms"}

WIDE: Final = 160
EXCERPT: Final = 80  # characters of a difference in a line on the terminal
MIN_EXCERPT: Final = 16
FIGURE_WIDTH: Final = len("0.123")


def columns_with_values(rows: Sequence[Row]) -> list[str]:
    """Return the figures that any row has; ``unanswered`` only if any page has no text."""
    values = {name: {getattr(row.scores, name) for row in rows} for name in COLUMNS}
    return [name for name, found in values.items() if found - {None} and (name != "unanswered" or any(found))]


def format_score(row: Row, name: str) -> str:
    value = getattr(row.scores, name)
    if value is None:
        return "–"
    return f"{100 * value:.1f}" if name in HIGHER_IS_BETTER else f"{value:.1f}" if name == "ms" else str(value)


def counted(pages: int) -> str:
    """Return ``1 page``, ``2 pages``."""
    return f"{pages} page{'' if pages == 1 else 's'}"


def is_best(row: Row, name: str, rows: Sequence[Row]) -> bool:
    """Return whether no row has a better figure on the same pages, and some row a worse one."""
    values = [value for other in rows if other.set == row.set and (value := getattr(other.scores, name)) is not None]
    return name in HIGHER_IS_BETTER and len(set(values)) > 1 and getattr(row.scores, name) == max(values)


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table per set, a line per reader; the best figures of a set are highlighted."""
    names = columns_with_values(rows)
    width = max(len(row.reader) for row in rows)
    for number, name in enumerate(dict.fromkeys(row.set for row in rows)):
        group = [row for row in rows if row.set == name]
        if number:
            _print()
        table = _table(f"{name}, {counted(group[0].scores.pages)}")
        table.add_column("", min_width=width, no_wrap=True)
        for figure in names:
            table.add_column(COLUMNS[figure], justify="right", no_wrap=True)
        for row in group:
            cells = (Text(format_score(row, figure), style="bold" if is_best(row, figure, rows) else "") for figure in names)
            table.add_row(escape(row.reader), *cells)
        _print(table, whole=True)


def _table(title: str) -> Table:
    return Table(title=escape(title), title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0), pad_edge=False)


def _width() -> int:
    console = Console(emoji=False, highlight=False)
    return console.width if console.is_terminal else WIDE


def _print(*tables: Table, whole: bool = False) -> None:
    """Print tables; ``whole``: exceed the terminal's width rather than truncate figures."""
    width = _width()
    if whole:
        wide = Console(width=WIDE)
        width = max(width, *(wide.measure(table).minimum for table in tables))
    Console(emoji=False, highlight=False, width=width).print(*tables)


def print_worst(pages: Sequence[PageComparison], names: Sequence[str]) -> None:
    """Print a table per reader: its worst pages, the scores of the others there, the longest missing and surplus pieces.

    If the terminal is too narrow for all the others, only the best of them is shown.
    """
    places = max((cell_len(f"{page.result.folder}/{page.result.id}") for page in pages), default=0)
    others = sum(max(len(name), FIGURE_WIDTH) + 1 for name in names)
    show_all = len(names) < 3 or places + 1 + others + 2 * (MIN_EXCERPT + 1) <= _width()
    for name in names:
        group = [page for page in pages if page.of == name]
        if not group:
            continue
        table = _table(f"worst of {name}")
        for heading in ("page", "F1"):
            table.add_column(heading, no_wrap=True)
        for other in [other for other in names if other != name] if show_all else ["best other"]:
            table.add_column(escape(other), justify="right" if show_all else "left", no_wrap=show_all)
        for heading in ("missing", "too much"):
            table.add_column(heading, no_wrap=True, ratio=1)
        table.expand = True
        for page in group:
            scores, error = page.result.scores, page.result.errors[page.at]
            peers = [i for i in range(len(scores)) if i != page.at]
            cells = [f"{scores[i].f1:.3f}" for i in peers]
            if not show_all:
                best = max(peers, key=lambda i: scores[i].f1)
                cells = [f"{scores[best].f1:.3f} {page.names[best]}"]
            missing = _excerpt(scores[page.at].missing, page.longest("missing"))
            surplus = clean(error) if error else _excerpt(scores[page.at].surplus, page.longest("surplus"))
            line = (f"{page.result.folder}/{page.result.id}", f"{scores[page.at].f1:.3f}", *cells, missing, surplus)
            table.add_row(*map(Text, line))
        _print()
        _print(table)


def _excerpt(characters: int, text: str | None) -> str:
    if not characters:
        return ""
    start = clean(text or "")[:EXCERPT]
    return f"{characters}: {start}…" if start else str(characters)


KEPT_CHARS: Final = 90  # characters shown at each end of a long common stretch
MAX_SHOWN_CHARS: Final = 2_500  # characters shown of a long difference


def report(rows: Sequence[Row], results: Sequence[PageResult], names: Sequence[str], closer: Sequence[PageComparison]) -> str:
    """Return the report as self-contained HTML. Text from pages is escaped."""
    figures = columns_with_values(rows)
    sets: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for row in rows:
        cells = [{"text": format_score(row, figure), "best": is_best(row, figure, rows)} for figure in figures]
        sets.setdefault(clean(row.set), (counted(row.scores.pages), []))[1].append({"reader": row.reader, "cells": cells})
    worst: dict[str, list[dict[str, Any]]] = {}
    for page in closer:  # every reader's F1, gold, and the extractions, that of the examined reader first
        gold, scores = asdict(page.gold), page.result.scores
        fields = [name for name in FIELDS if gold[name]]
        card: dict[str, Any] = {"name": clean(f"{page.result.folder}/{page.result.id}"), "fields": fields}
        card |= {
            "gold": [clean(gold[name]) for name in fields],
            "f1": [(name, f"{scores[i].f1:.3f}") for i, name in enumerate(page.names)],
        }
        card |= {"readings": [_reading(page, i, fields) for i in sorted(page.found, key=lambda i: i != page.at)]}
        worst.setdefault(page.of, []).append(card)
    return render(
        "report.html",
        __package__,
        headings=[COLUMNS[figure] for figure in figures],
        sets=sets,
        pages=counted(len(results)),
        curves=curves({name: [result.scores[i].f1 for result in results if result.scores[i].has_text] for i, name in enumerate(names)}),
        worst=worst,
    )


def _reading(page: PageComparison, index: int, fields: Sequence[str]) -> dict[str, Any]:
    """Return one reader's extraction of a page; ``right`` is ``None`` if gold has no value."""
    score, found = page.result.scores[index], page.found[index]
    answer = asdict(found.answer)
    return {
        "name": page.names[index],
        "f1": f"{score.f1:.3f}",
        "score": score,
        "error": clean(found.error) if found.error else None,
        "fields": [{"text": clean(answer[name] or "") or "–", "right": getattr(score, name)} for name in fields],
        "pieces": [(piece.kind, _shortened(piece)) for piece in page.pieces[index]],
    }


def _shortened(piece: Piece) -> str:
    text = "\n".join(line for line in map(clean, piece.text.split("\n")) if line)
    limit = KEPT_CHARS if piece.kind == "same" else MAX_SHOWN_CHARS // 2
    if len(text) <= 2 * limit + KEPT_CHARS:
        return text
    return f"{text[:limit]} […{len(text) - 2 * limit:,}…] {text[-limit:]}"


LEFT, RIGHT, TOP, BOTTOM = 46.0, 634.0, 14.0, 262.0  # the frame of the plot
MAX_POINTS: Final = 200  # points of a curve; more are indistinguishable
DASHES: Final = ("none", "7 3", "2 3", "9 3 2 3", "1 4", "12 4")
"""Combined with the colours of the style sheet; the dashes distinguish curves without colours."""

COLOURS: Final = 8


def curves(scores: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Return a curve per reader that found a text. ``colour`` counts from 0; ``good`` is the share of pages at 0.9 or above, as text."""
    found = []
    for number, (name, values) in enumerate((name, sorted(values)) for name, values in scores.items()):
        if not any(values):
            continue
        last = len(values) - 1
        indices = sorted({round(step * last / MAX_POINTS) for step in range(MAX_POINTS + 1)})
        points = ((LEFT + (RIGHT - LEFT) * (index / last if last else 0.5), BOTTOM - (BOTTOM - TOP) * values[index]) for index in indices)
        drawn = {
            "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
            "colour": number % COLOURS,
            "dash": DASHES[number % len(DASHES)],
        }
        good = sum(value >= 0.9 for value in values) / len(values)
        found.append({"name": name, **drawn, "good": f"{100 * good:.0f} %"})
    return found
