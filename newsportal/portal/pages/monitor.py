"""``/monitor``: who crawls and what waits; how the portal is read, month by month (paper C, figures 3 and 4); what the recommendation has
learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from gettext import NullTranslations
from typing import Any, Final, get_args

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.errors import NewsportalError
from newsportal.messages import Message
from newsportal.messages.reasons import CAUSES
from newsportal.portal.access import log, needs
from newsportal.portal.context import Visit
from newsportal.portal.figures import RANGES, Kept, bars, going, line
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.queues import Way
from newsportal.portal.render import render
from newsportal.portal.source_fields import address_of
from newsportal.portal.source_file import Fields, one
from newsportal.portal.wording import calling
from newsportal.recommend.formulas import ALPHA
from newsportal.store.reader_months import Month

router = APIRouter(dependencies=[needs(Right.WATCH)])


LATEST: Final = 20
"""Reports among which those of crawls at work are looked for: each spider of a crawl writes one."""


@dataclass(frozen=True, slots=True)
class Line:
    """A month: ``name`` is 2026-05. Shares are from 0 to 1, None where nothing was offered."""

    name: str
    month: Month
    opened: float | None
    precision: float | None


@dataclass(frozen=True, slots=True)
class Learnt:
    """The last fit: when, α and λ, and whatever else it tells of itself."""

    made: datetime
    alpha: float
    decay: float | None
    facts: tuple[tuple[str, Any], ...]


@router.get("/monitor")
def monitor(request: Request) -> Response:
    visit = Visit(request)
    reading = visit.portal.reading()
    learnt = learnt_of(*reading.fit) if reading.fit else None
    months = reading.months
    alpha = learnt.alpha if learnt else ALPHA
    queues = visit.portal.queues() if visit.portal.queues is not None else None
    days = days_of(visit)
    kept: Kept = request.app.state.figures
    daily = request.app.state.daily
    counted = kept.figures(visit.portal, daily, days) if daily is not None else None
    values: dict[str, Any] = {
        "days": days,
        "ranges": RANGES,
        "figures": counted,
        "bars": bars(counted.series) if counted else (),
        "curve": line(counted.growth) if counted else "",
        "crawled": kept.crawled(visit.portal, days),
        "causes": {name: [visit.clock.says(Message(f"{kind}.{name}")) for kind in ("cause", "remedy")] for name in set(CAUSES.values())},
        "lines": lines_of(months),
        "learnt": learnt,
        "alpha": alpha,
        "named": named(visit.clock.words),
        "called": calling(visit.portal, visit.clock.words),
        "source_page": lambda key: address_of(key) if key in visit.portal.by_key else None,
        "queues": queues,
        "settles": request.app.state.settle is not None and visit.may("edit"),
        "going": going(visit.portal.store.runs(LATEST), visit.portal.now()),
    }
    return render(request, "monitor.html", **values)


@router.post("/monitor/aside", dependencies=[needs(Right.EDIT)])
def aside(request: Request, fields: Fields) -> Response:
    """Requests that were set aside wait anew, or are forgotten."""
    way, settle = one(fields, "do"), request.app.state.settle
    if settle is None or way not in get_args(Way):
        raise HTTPException(404 if settle is None else 400)
    try:
        number = settle(way)
    except NewsportalError as error:
        return notify(request, "/monitor", _("The queue of requests cannot be asked: %(why)s"), why=error)
    log(request, f"queue.{way}", "", {"requests": number})
    text = _("%(number)s requests wait anew.") if way == "again" else _("%(number)s requests were forgotten.")
    return notify(request, "/monitor", text, number=number)


def days_of(visit: Visit) -> int:
    """The range that is asked for; a month without that."""
    asked = visit.whole("days")
    return asked if asked in RANGES else RANGES[1]


def named(words: NullTranslations) -> dict[str, str]:
    """What the figures of a fit are called; one that we do not know keeps its own name."""
    return {
        "by": words.gettext("worked out by"),
        "views": words.gettext("views learnt from"),
        "readers": words.gettext("readers"),
        "stories": words.gettext("stories that may be recommended"),
        "seconds": words.gettext("seconds that it took"),
        "let_go": words.gettext("views and offers let go, as promised"),
    }


def lines_of(months: Sequence[Month]) -> list[Line]:
    """Precision as the paper's formula 4 has it: recommended stories that were read to the share α, of all that were recommended."""
    return [
        Line(
            f"{month.start:%Y-%m}",
            month,
            month.opened / month.offered if month.offered else None,
            month.liked / month.offered if month.offered else None,
        )
        for month in months
    ]


FIRST = ("views", "readers", "stories", "by", "seconds", "let_go")


def placed(fact: tuple[str, Any]) -> tuple[int, str]:
    """Where a figure stands: in the order of ``FIRST``, then by name."""
    name = fact[0]
    return FIRST.index(name) if name in FIRST else len(FIRST), name


def learnt_of(made: datetime, facts: Mapping[str, Any]) -> Learnt:
    """A fit's figures, what people ask for first at the beginning; one that tells no α used the paper's."""
    alpha, decay = facts.get("alpha"), facts.get("lambda")
    plain = [(name, value) for name, value in facts.items() if isinstance(value, str | int | float) and name not in ("alpha", "lambda")]
    return Learnt(
        made, alpha if isinstance(alpha, float) else ALPHA, decay if isinstance(decay, float) else None, tuple(sorted(plain, key=placed))
    )
