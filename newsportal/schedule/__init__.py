"""When a source is visited next. Pure: the past and the clock come as arguments, and the same past gives the same answer everywhere.

    next_visit(past, rules, now) -> Next(at, why)

A policy is a line in :data:`POLICIES`. What holds for all of them stands in :func:`next_visit`: an interval that the file gives, failures,
rests, the source's hours. To add one: write it in a file of its own, and try it in ``benchmarks/schedule.py`` against the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from newsportal.messages import Message, joined
from newsportal.schedule import policies
from newsportal.schedule.learnt import learnt
from newsportal.schedule.policies import Next, Past, Rules

POLICIES: Final[Mapping[str, Callable[[Past, Rules, datetime], Next]]] = {
    "learnt": learnt,
    "fixed": policies.fixed,
    "hours": policies.by_hours,
    "weight": policies.by_weight,
}
"""The names that ``sources.yaml`` takes under ``schedule.policy``."""


def next_visit(past: Past, rules: Rules, now: datetime) -> Next:
    """The moment of the next visit, not before ``now`` (aware), and why then."""
    past = past.until(now)
    found = POLICIES["fixed" if rules.interval else rules.policy](past, rules, now)
    if past.last is not None and (wait := policies.backed_off(past, rules)):
        late = past.last + policies.minutes(wait)
        if late > found.at:
            found = replace(found, at=late, why=Message("why.failed", times=past.failures, wait=round(wait)))
    if past.rest_until is not None and past.rest_until > found.at:
        found = replace(found, at=past.rest_until, why=Message("why.rests"))
    found = replace(found, at=max(found.at, now))
    if not rules.hours or found.at.astimezone(rules.zone).hour in rules.hours:
        return found
    at = policies.next_in(rules.hours, rules.zone, found.at, 0.0)
    return replace(found, at=at, why=joined(found.why, Message("why.hours")))


def due(past: Past, rules: Rules, now: datetime) -> bool:
    return next_visit(past, rules, now).at <= now
