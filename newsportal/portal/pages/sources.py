"""``/sources``: how the sources do, those that need somebody first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.health_words import NAMES, explained
from newsportal.portal.render import render
from newsportal.sources.watched import ORDER, Judged

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN = 300
"""Rows of a page. The states above it are ways to the others."""

HEIGHT, STEP = 16, 4
"""Of a day in the line of entries, in units of its drawing."""


@dataclass(frozen=True, slots=True)
class Row:
    """``line`` is the path of the drawing of the last days' entries, ``total`` their sum."""

    judged: Judged
    state: str
    reason: str
    remedy: str | None
    line: str
    total: int


@router.get("/sources")
def sources(request: Request) -> Response:
    visit = Visit(request)
    found = visit.portal.health()
    counted = Counter(one.health.state for one in found)
    wanted = visit.text("state")
    chosen = [one for one in found if wanted in (None, one.health.state)]
    rows = [_row(one, visit) for one in chosen[:SHOWN]]
    states = [(state, visit.clock.words.gettext(NAMES[state]), counted[state]) for state in ORDER if counted[state]]
    return render(
        request,
        "sources.html",
        rows=rows,
        states=states,
        wanted=wanted,
        more=len(chosen) - len(rows),
        total=len(found),
        width=STEP * max((len(one.days) for one in found), default=0),
        height=HEIGHT,
    )


def _row(one: Judged, visit: Visit) -> Row:
    reason, remedy = explained(one.health, visit.clock)
    return Row(one, visit.clock.words.gettext(NAMES[one.health.state]), reason, remedy, line(one.days), sum(one.days))


def line(days: Sequence[int]) -> str:
    """A path of bars, a day each, against the day that had most; nothing for a day without entries."""
    most = max(days, default=0)
    tall = [max(1, round(HEIGHT * number / most)) if number else 0 for number in days] if most else []
    return "".join(f"M{place * STEP} {HEIGHT}v-{height}h{STEP - 1}v{height}z" for place, height in enumerate(tall) if height)
