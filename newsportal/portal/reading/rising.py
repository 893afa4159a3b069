"""``/rising``: the words, names and events whose rate leaves their own past, today, this week, or on a day of before."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.events.rising import DAY
from newsportal.portal.context import Here, Visit
from newsportal.portal.reading.briefing import day_of, has_stories, topic_of
from newsportal.portal.reading.story_lists import bars, width
from newsportal.portal.render import address, render
from newsportal.services.briefing import day_range
from newsportal.services.rising import Board, compile_board

router = APIRouter()

SPANS: Final = ("1", "7")
"""Days of a board, as ``?days=`` names them; the first where it names another."""


@router.get("/rising")
def rising(request: Request, visit: Here) -> Response:
    """``?at=2026-05-20``: what would have risen on that day, from what was fetched by its end."""
    chosen, asked, topic = visit.text("days"), visit.text("at"), topic_of(visit)
    days = chosen if chosen in SPANS else SPANS[0]
    day = day_of(visit, asked) if asked else None
    here = visit.clock.local(visit.clock.now).date()
    try:
        until = min(day_range(day, visit.portal.site.zone)[1], visit.clock.now) if day else visit.clock.now
        board = board_of(visit, until, int(days), topic)
    except OverflowError as error:
        raise HTTPException(404) from error
    last = day or here
    said = {"days": days if days != SPANS[0] else None, "topic": topic}
    return render(
        request, "rising.html", board=board, days=days, day=day, topic=topic, topics=visit.portal.topics(), width=width,
        bars=lambda counts: bars([(last - (len(counts) - place) * DAY, count) for place, count in enumerate(counts, 1)]),
        here=lambda **other: address("/rising", **{**said, "at": day, **other}),
        earlier=address("/rising", **said, at=last - DAY) if has_stories(visit, last - DAY) else None,
        later=address("/rising", **said, at=day + DAY if day < here else None) if day else None,
    )  # fmt: skip


def board_of(visit: Visit, until: datetime, days: int, topic: str | None) -> Board:
    """The board of the days before ``until``, some minutes old. Raises ``OverflowError`` at the edge of the calendar."""
    return visit.compiled(lambda: compile_board(visit.portal.store, until, days, topic=topic), until, "rising", days, topic)
