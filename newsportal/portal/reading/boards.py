"""``/boards``: the hot lists of sources.yaml, with the curve of each entry and the stories that tell of it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from newsportal.portal.context import Here, Visit
from newsportal.portal.render import render
from newsportal.services.boards import Board, compile_boards
from newsportal.store.boards import Standing

router = APIRouter()

WIDTH, HEIGHT = 120, 24  # of the drawing of a curve
LOWEST: Final = 50  # the rank at the bottom of a drawing; what is below is drawn there


@router.get("/boards")
def boards(request: Request, visit: Here) -> Response:
    """``?list=NAME``: this list alone."""
    found = boards_of(visit)
    chosen = visit.text("list")
    shown = [board for board in found if chosen in (None, "", board.name, board.key)]
    return render(request, "boards.html", boards=found, shown=shown or found, curve=curve, width=WIDTH, height=HEIGHT)


def boards_of(visit: Visit) -> list[Board]:
    """All lists, some minutes old."""
    portal, now = visit.portal, visit.clock.now
    return visit.compiled(lambda: compile_boards(portal.store, portal.config, now), now, "boards")


def curve(one: Standing) -> str:
    """The points of a polyline, by time: the first rank is at the top."""
    if len(one.curve) < 2:
        return ""
    first, last = one.curve[0][0], one.curve[-1][0]
    span = (last - first).total_seconds() or 1.0
    points = ((WIDTH * (at - first).total_seconds() / span, HEIGHT * (min(rank, LOWEST) - 1) / (LOWEST - 1)) for at, rank in one.curve)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
