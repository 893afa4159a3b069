"""``/monitor``: how the portal is read, month by month (paper C, figures 3 and 4), and what the recommendation has learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.storage.readers import Month

router = APIRouter()

ALPHA = 0.532
"""Before a fit: the paper's median of w_c / w_s."""


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
    readers = visit.portal.store.readers
    told = next(iter(readers.fits()), None)
    learnt = learnt_of(*told) if told else None
    months = readers.months(alpha=learnt.alpha if learnt else ALPHA)
    return render(request, "monitor.html", lines=lines_of(months), learnt=learnt, alpha=learnt.alpha if learnt else ALPHA, feed=None)


def lines_of(months: Sequence[Month]) -> list[Line]:
    """Precision as the paper's formula 4 has it: recommended stories that were read past α, of all that were recommended."""
    return [
        Line(
            f"{month.start:%Y-%m}",
            month,
            month.opened / month.offered if month.offered else None,
            month.liked / month.offered if month.offered else None,
        )
        for month in months
    ]


def learnt_of(made: datetime, facts: Mapping[str, Any]) -> Learnt:
    """A fit's figures; one that tells no α used the paper's."""
    alpha, decay = facts.get("alpha"), facts.get("lambda")
    plain = [(name, value) for name, value in facts.items() if isinstance(value, str | int | float) and name not in ("alpha", "lambda")]
    return Learnt(made, alpha if isinstance(alpha, float) else ALPHA, decay if isinstance(decay, float) else None, tuple(sorted(plain)))
