"""The report of an evaluation: one HTML file that needs no other, for a browser or a printer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final

from newsportal.commands.evaluate.closer import Closer, Piece
from newsportal.commands.evaluate.html_report import render
from newsportal.commands.evaluate.running import PageResult, Row
from newsportal.commands.evaluate.scoring import FIELDS
from newsportal.commands.evaluate.table import COLUMNS, counted, is_best, shown, written
from newsportal.text import clean

KEPT: Final = 90
"""Characters shown at each end of a long stretch that both texts share."""

LONGEST: Final = 2_500
"""Characters shown of a long difference."""


def report(rows: Sequence[Row], results: Sequence[PageResult], names: Sequence[str], closer: Sequence[Closer]) -> str:
    """The report as HTML. Everything that comes from pages is escaped; the file asks nobody for anything."""
    figures = shown(rows)
    return render(
        "report.html",
        headings=[COLUMNS[figure] for figure in figures],
        sets=_sets(rows, figures),
        pages=counted(len(results)),
        curves=curves({name: [one.scores[at].f1 for one in results if one.scores[at].has_text] for at, name in enumerate(names)}),
        worst={of: [_card(page) for page in pages] for of, pages in groupby(closer, key=lambda page: page.of)},
    )


def _sets(rows: Sequence[Row], figures: Sequence[str]) -> Mapping[str, tuple[str, list[dict[str, Any]]]]:
    """Set → its number of pages and a line for each reader; ``best``: no reader has a better figure on the same pages."""
    sets: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for row in rows:
        cells = [{"text": written(row, figure), "best": is_best(row, figure, rows)} for figure in figures]
        sets.setdefault(clean(row.set), (counted(row.scores.pages), []))[1].append({"reader": row.reader, "cells": cells})
    return sets


def _card(page: Closer) -> dict[str, Any]:
    """One of the worst pages: every reader's F1, gold, and what readers made of it, the one whose page it is first."""
    gold = asdict(page.gold)
    fields = [name for name in FIELDS if gold[name]]
    scores = page.result.scores
    return {
        "name": clean(f"{page.result.folder}/{page.result.id}"),
        "f1": [(name, f"{scores[at].f1:.3f}") for at, name in enumerate(page.names)],
        "fields": fields,
        "gold": [clean(gold[name]) for name in fields],
        "readings": [_reading(page, at, fields) for at in sorted(page.found, key=lambda at: at != page.at)],
    }


def _reading(page: Closer, at: int, fields: Sequence[str]) -> dict[str, Any]:
    """What one reader made of a page; ``right`` is ``None`` where gold has no value."""
    score, found = page.result.scores[at], page.found[at]
    answer = asdict(found.answer)
    return {
        "name": page.names[at],
        "f1": f"{score.f1:.3f}",
        "score": score,
        "error": clean(found.error) if found.error else None,
        "fields": [{"text": clean(answer[name] or "") or "–", "right": getattr(score, name)} for name in fields],
        "pieces": [(piece.kind, _shortened(piece)) for piece in page.pieces[at]],
    }


def _shortened(piece: Piece) -> str:
    lines = (clean(line) for line in piece.text.split("\n"))
    text = "\n".join(line for line in lines if line)
    kept = KEPT if piece.kind == "same" else LONGEST // 2
    if len(text) <= 2 * kept + KEPT:
        return text
    return f"{text[:kept]} […{len(text) - 2 * kept:,}…] {text[-kept:]}"


LEFT, RIGHT, TOP, BOTTOM = 46.0, 634.0, 14.0, 262.0
"""The drawing's frame."""

MOST_POINTS: Final = 200
"""Points of a curve; more could not be told apart."""

DASHES: Final = ("none", "7 3", "2 3", "9 3 2 3", "1 4", "12 4")
"""With the colours of the style sheet: two curves of one dash have different colours, whoever sees no colours has the dashes."""

COLOURS: Final = 8


def curves(scores: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """A curve for each reader that found a text. ``colour`` counts from 0; ``good`` is the share of pages at 0.9 or above, as text."""
    return [_curve(number, name, sorted(values)) for number, (name, values) in enumerate(scores.items()) if any(values)]


def _curve(number: int, name: str, values: Sequence[float]) -> dict[str, Any]:
    last = len(values) - 1
    places = sorted({round(step * last / MOST_POINTS) for step in range(MOST_POINTS + 1)})
    points = ((LEFT + (RIGHT - LEFT) * (place / last if last else 0.5), BOTTOM - (BOTTOM - TOP) * values[place]) for place in places)
    return {
        "name": name,
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        "colour": number % COLOURS,
        "dash": DASHES[number % len(DASHES)],
        "good": f"{100 * sum(value >= 0.9 for value in values) / len(values):.0f} %",
    }
