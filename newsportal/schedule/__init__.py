"""Scheduling of visits. Pure: the past and the clock are arguments, so the same past gives the same result everywhere.

    next_visit(past, rules, now) -> Next(at, reason)

A policy is an entry of :data:`POLICIES`. Rules common to all are in :func:`next_visit`: configured intervals, failures, backoff, the
source's hours. To add a policy: write it in its own file, and compare it with the others in ``benchmarks/schedule.py``.
"""

from dataclasses import replace
from datetime import datetime
from pkgutil import resolve_name
from typing import Final

from newsportal.messages import Message, join_messages
from newsportal.schedule import policies
from newsportal.schedule.policies import History, NextVisit, Rules

POLICIES: Final = {"learnt": "learnt:learnt", "fixed": "policies:fixed", "hours": "policies:by_hours", "weight": "policies:by_weight"}
"""Value of ``schedule.policy`` in ``sources.yaml`` → module of this package and its function, loaded on first use."""


def next_visit(past: History, rules: Rules, now: datetime) -> NextVisit:
    """Return the time of the next visit, not before ``now`` (timezone-aware), and its reason."""
    past = past.without_future_visits(now)
    found: NextVisit = resolve_name(f"{__name__}.{POLICIES['fixed' if rules.interval else rules.policy]}")(past, rules, now)
    if past.last is not None and (wait := policies.backoff_minutes(past, rules)):
        late = past.last + policies.minutes(wait)
        if late > found.at:
            found = replace(found, at=late, reason=Message("schedule.failures", times=past.failures, wait=round(wait)))
    if past.rest_until is not None and past.rest_until > found.at:
        found = replace(found, at=past.rest_until, reason=Message("schedule.retry-after"))
    found = replace(found, at=max(found.at, now))
    if not rules.hours or found.at.astimezone(rules.zone).hour in rules.hours:
        return found
    at = policies.next_active_hour(rules.hours, rules.zone, found.at, 0.0)
    return replace(found, at=at, reason=join_messages(found.reason, Message("schedule.visiting-hours")))


def due(past: History, rules: Rules, now: datetime) -> bool:
    return next_visit(past, rules, now).at <= now
