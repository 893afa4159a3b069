"""The words of the schedule: what is known of a source, what is asked of its schedule, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from newsportal.messages import Message
from newsportal.visits import SKEW, Visit

USUAL = 60.0
"""Minutes between visits of a source of which nothing is known (paper A: every hour)."""

SHORTEST, LONGEST = 10.0, 12 * 60.0
"""Minutes. Ten are what site owners call polite for a feed; twice a day even a silent source is looked at."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a source. ``visits`` newest first; ``last`` when it was visited last (``None``: never), ``failures`` how often in a
    row no list could be read since, ``rest_until`` until when it asked to be left alone."""

    visits: Sequence[Visit] = ()
    last: datetime | None = None
    failures: int = 0
    rest_until: datetime | None = None

    @classmethod
    def of(cls, visits: Sequence[Visit]) -> Past:
        """The past as the visits tell it."""
        failures = next((place for place, visit in enumerate(visits) if not visit.broken), len(visits))
        return cls(visits, visits[0].at if visits else None, failures)

    def until(self, now: datetime) -> Past:
        """The past as it can be: where the clock was put back since, visits of tomorrow tell nothing, and the source is visited at once."""
        if self.last is None or self.last <= now + SKEW:
            return self
        return replace(self, last=None, visits=tuple(visit for visit in self.visits if visit.at <= now))


@dataclass(frozen=True, slots=True)
class Rules:
    """What is asked of a source's schedule. Times in minutes.

    ``interval`` as the file says it: it holds whatever the policy. ``hours`` (0–23, in ``zone``): others are left out; empty: none is.
    ``weight`` of an index page (1–10). ``price``: what a request is worth, in entries times days of waiting (``price.price``); ``None``:
    what it would be to a source of an even rate that is visited every ``usual`` minutes. ``source`` is the name by which visits are spread.
    """

    source: str = ""
    policy: str = "learnt"
    interval: float | None = None
    usual: float = USUAL
    hours: frozenset[int] = frozenset()
    weight: float | None = None
    shortest: float = SHORTEST
    longest: float = LONGEST
    price: float | None = None
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Next:
    """When a source is visited next, and why then. ``rate``: entries a day by which its share of a budget counts, if known."""

    at: datetime
    why: Message
    rate: float | None = None


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)
