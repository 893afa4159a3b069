"""``/schedule``: paper B's table of hours: what each source is expected to bring in every hour of the day, its next visit, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import FAMILIES, KINDS, number_of
from newsportal.portal.desk.sources_yaml import apply, config_of, entry
from newsportal.portal.language import _
from newsportal.portal.render import address, render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.sources.changing import set_entry
from newsportal.sources.timing import Planned, Visited, rules, timetable, visited
from newsportal.sources.values import DAY

router = APIRouter()

SHOWN: Final = 50  # sources of a page: each needs its visits of two weeks
HOURS: Final = 24
WIDTH, HEIGHT = 18, 22  # of an hour in the drawing, in its units
STEPS: Final = (0.05, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Entries an hour from which on a cell is darker; four and more is darkest, as in the command's bars."""

POLICIES: Final = {
    "learnt": _("learnt from its visits"),
    "fixed": _("a fixed interval"),
    "hours": _("adaptive hours"),
    "weight": _("by its weight"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """An hour of the day: ``x`` its place in the drawing, ``shade`` from 0 to 6, ``on``: whether it may be visited then."""

    hour: int
    x: int
    shade: int
    on: bool
    expected: float | None


@router.get("/schedule", dependencies=[needs(Right.WATCH)])
def schedule(request: Request) -> Response:
    visit, known = Visit(request), config_of(request)
    query = (visit.text("q") or "").lower()
    chosen = [one for one in visited(known) if query in one.key.lower()]
    last = max(1, -(-len(chosen) // SHOWN))
    page = min(max(1, visit.whole("page")), last)
    part = chosen[(page - 1) * SHOWN : page * SHOWN]
    now = visit.portal.now().astimezone(visit.portal.site.zone)
    rows = [_row(one, planned, visit, now) for one, planned in zip(part, timetable(known, visit.portal.store, part, now), strict=True)]
    return render(
        request, "schedule.html", rows=sorted(rows, key=lambda row: row["planned"].next), query=visit.text("q"), page=page, last=last,
        total=len(chosen), hours=range(HOURS), now_hour=now.hour, width=WIDTH, height=HEIGHT, policy=POLICIES[known.schedule.policy],
        said=known.schedule, steps=STEPS,
    )  # fmt: skip


@router.post("/schedule/{key}", dependencies=[needs(Right.EDIT)])
def reschedule(request: Request, key: str, fields: Form) -> Response:
    """Give a source an interval or hours of its own, or leave it to the schedule again."""
    found = entry(request, key)
    back = address("/schedule", q=fields.get("q", ""), page=fields.get("page", ""))
    values: dict[str, Any] = {"interval": number_of(minutes) if (minutes := fields.get("interval", "").strip()) else None}
    if hasattr(found.source, "hours"):
        values["hours"] = fields.get("hours", "").strip() or None
    change, text = set_entry(found.kind, found.source.name, values), _("The schedule of %(name)s was changed.")
    return apply(request, change, "source.schedule", key, back, text, values, name=found.source.name)


def _row(found: Visited, planned: Planned, visit: Visit, now: datetime) -> dict[str, Any]:
    source = found.source
    asked = rules(config_of(visit.request), source)
    on = frozenset(planned.hours_on) if planned.hours_on is not None else asked.hours or frozenset(DAY)
    hours, family = getattr(source, "hours", None), planned.key.partition(":")[0]
    editable = planned.key in visit.portal.by_key
    return {
        "planned": planned, "why": visit.clock.says(planned.why), "name": getattr(source, "name", planned.key.partition(":")[2]),
        "kind": visit.say(KINDS[FAMILIES[family]]) if editable else family, "policy": visit.say(POLICIES[planned.policy]),
        "cells": cells(planned.expected, on, now.hour), "editable": editable,
        "interval": f"{source.interval:g}" if getattr(source, "interval", None) else "",
        "hours": spans(hours) if hours and len(hours) < HOURS else "", "has_hours": hours is not None,
        "total": sum(planned.expected) if planned.expected is not None else None,
    }  # fmt: skip


def cells(expected: Sequence[float] | None, on: frozenset[int], first: int) -> tuple[Cell, ...]:
    """The hours of the day from 0 to 23; ``expected`` begins with the hour ``first``."""
    by_hour = {(first + place) % HOURS: number for place, number in enumerate(expected or ())}
    shades = {hour: sum(number >= step for step in STEPS) for hour, number in by_hour.items()}
    return tuple(Cell(hour, hour * WIDTH, shades.get(hour, 0), hour in on, by_hour.get(hour)) for hour in range(HOURS))


def spans(hours: Sequence[int]) -> str:
    """``6-9,18-23`` for the hours of the file, which are in order."""
    runs = [[hour for _, hour in run] for _, run in groupby(enumerate(hours), lambda placed: placed[1] - placed[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
