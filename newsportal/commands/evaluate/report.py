"""The report of an evaluation: one HTML file that needs no other, for a browser or a printer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from newsportal.commands.evaluate.closer import Closer, Kind, Piece
from newsportal.commands.evaluate.html_report import render
from newsportal.commands.evaluate.running import PageResult, Row
from newsportal.commands.evaluate.scoring import FIELDS, PageScore
from newsportal.commands.evaluate.table import COLUMNS, counted, is_best, shown, written
from newsportal.text import clean

KEPT: Final = 90
"""Characters shown at each end of a long stretch that both texts share."""

LONGEST: Final = 2_500
"""Characters shown of a long difference."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of the table; ``best``: nobody has a better one on the same pages."""

    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One reader of one set."""

    reader: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """What a reader gives for a field, and whether it is right; ``None``: gold does not say."""

    text: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader made of a page."""

    name: str
    f1: str
    score: PageScore
    error: str | None
    fields: tuple[Field, ...]
    pieces: tuple[tuple[Kind, str], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One of the worst pages: everybody's F1, gold, and what readers made of it, the one whose page it is first."""

    name: str
    f1: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]
    gold: tuple[str, ...]
    readings: tuple[Reading, ...]


def report(rows: Sequence[Row], results: Sequence[PageResult], names: Sequence[str], closer: Sequence[Closer]) -> str:
    """The report as HTML. Everything that comes from pages is escaped; the file asks nobody for anything."""
    figures = shown(rows)
    return render(
        "report.html",
        headings=[COLUMNS[figure] for figure in figures],
        sets=_sets(rows, figures),
        pages=counted(len(results)),
        curves=_curves(results, names),
        worst=_cards(closer),
    )


def _sets(rows: Sequence[Row], figures: Sequence[str]) -> Mapping[str, tuple[str, list[Line]]]:
    sets: dict[str, tuple[str, list[Line]]] = {}
    for row in rows:
        cells = tuple(Cell(written(row, figure), is_best(row, figure, rows)) for figure in figures)
        sets.setdefault(clean(row.set), (counted(row.scores.pages), []))[1].append(Line(row.reader, cells))
    return sets


def _curves(results: Sequence[PageResult], names: Sequence[str]) -> list[Curve]:
    return curves({name: [result.scores[at].f1 for result in results if result.scores[at].has_text] for at, name in enumerate(names)})


def _cards(closer: Sequence[Closer]) -> Mapping[str, list[Card]]:
    cards: dict[str, list[Card]] = {}
    for page in closer:
        cards.setdefault(page.of, []).append(_card(page))
    return cards


def _card(page: Closer) -> Card:
    gold = asdict(page.gold)
    told = [name for name in FIELDS if gold[name]]
    scores = page.result.scores
    return Card(
        name=clean(f"{page.result.folder}/{page.result.id}"),
        f1=tuple((name, f"{scores[at].f1:.3f}") for at, name in enumerate(page.names)),
        fields=tuple(told),
        gold=tuple(clean(gold[name]) for name in told),
        readings=tuple(_reading(page, at, told) for at in sorted(page.found, key=lambda at: at != page.at)),
    )


def _reading(page: Closer, at: int, told: Sequence[str]) -> Reading:
    score, found = page.result.scores[at], page.found[at]
    answer = asdict(found.answer)
    return Reading(
        name=page.names[at],
        f1=f"{score.f1:.3f}",
        score=score,
        error=clean(found.error) if found.error else None,
        fields=tuple(Field(clean(answer[name] or "") or "–", getattr(score, name)) for name in told),
        pieces=tuple((piece.kind, _shortened(piece)) for piece in page.pieces[at]),
    )


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


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of the drawing. ``colour`` counts from 0; ``good`` is the share of pages at 0.9 or above, as text."""

    name: str
    points: str
    colour: int
    dash: str
    good: str


def curves(scores: Mapping[str, Sequence[float]]) -> list[Curve]:
    """A curve for each reader that found a text."""
    return [_curve(number, name, sorted(values)) for number, (name, values) in enumerate(scores.items()) if any(values)]


def _curve(number: int, name: str, values: Sequence[float]) -> Curve:
    places = sorted({round(step * (len(values) - 1) / MOST_POINTS) for step in range(MOST_POINTS + 1)})
    points = " ".join(f"{_x(place, len(values)):.1f},{_y(values[place]):.1f}" for place in places)
    good = f"{100 * sum(value >= 0.9 for value in values) / len(values):.0f} %"
    return Curve(name, points, number % COLOURS, DASHES[number % len(DASHES)], good)


def _x(place: int, number: int) -> float:
    return LEFT + (RIGHT - LEFT) * (place / (number - 1) if number > 1 else 0.5)


def _y(score: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * score
