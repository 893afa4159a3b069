"""When a message may go: at once or at the hours of a digest, never in the quiet hours, never too many in an hour. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from itertools import groupby

from newsportal.accounts.alerts import HOUR, Alert


def due_of(moment: datetime, alert: Alert, zone: tzinfo) -> datetime:
    """When what was found at ``moment`` may be sent. Hours are those of the clocks of ``zone``."""
    due = _digest(moment, alert.digest, zone) if alert.digest else moment
    return _awake(due, alert.quiet, zone)


def _digest(moment: datetime, hours: Iterable[int], zone: tzinfo) -> datetime:
    """The first of ``hours`` at or after ``moment``."""
    there = moment.astimezone(zone)
    today = there.replace(minute=0, second=0, microsecond=0, fold=0)
    moments = [today.replace(hour=hour) + timedelta(days=day) for day in (0, 1) for hour in sorted(hours)]
    return min(one for one in moments if one >= there).astimezone(moment.tzinfo)


def _awake(moment: datetime, quiet: tuple[int, int] | None, zone: tzinfo) -> datetime:
    """``moment``, or the end of the quiet hours that it falls into."""
    there = moment.astimezone(zone)
    if quiet is None or not is_quiet(there.hour, quiet):
        return moment
    end = there.replace(hour=quiet[1], minute=0, second=0, microsecond=0)
    return (end if end > there else end + timedelta(days=1)).astimezone(moment.tzinfo)


def asleep(alert: Alert, moment: datetime, zone: tzinfo) -> bool:
    """Whether ``moment`` lies in the quiet hours: what was due before, and had to wait, waits until they end."""
    return alert.quiet is not None and is_quiet(moment.astimezone(zone).hour, alert.quiet)


def is_quiet(hour: int, quiet: tuple[int, int]) -> bool:
    """Whether ``hour`` lies between the two, over midnight if the first is the later one. The same hour twice: never."""
    begin, end = quiet
    return begin <= hour < end if begin <= end else hour >= begin or hour < end


def gathered(found: Iterable[datetime], alert: Alert, zone: tzinfo, most: int) -> list[tuple[datetime, list[int]]]:
    """What was found at these moments (rising), as messages: when each is sent, and which of them it tells of, ``most`` at a time.

    As :mod:`newsportal.alerts.run` does it: what is due at one moment goes together, and a full hour lets the rest wait.
    """
    moments = sorted((due_of(moment, alert, zone), place) for place, moment in enumerate(found))
    sent: list[tuple[datetime, list[int]]] = []
    waiting: list[int] = []
    for due, group in groupby(moments, key=lambda pair: pair[0]):
        while waiting and (free := _next(sent, alert, zone)) < due:
            sent.append((free, waiting[:most]))
            waiting = waiting[most:]
        waiting += [place for _, place in group]
        while waiting and _free(sent, due, alert.per_hour) <= due:
            sent.append((due, waiting[:most]))
            waiting = waiting[most:]
    while waiting:
        sent.append((_next(sent, alert, zone), waiting[:most]))
        waiting = waiting[most:]
    return sent


def _next(sent: list[tuple[datetime, list[int]]], alert: Alert, zone: tzinfo) -> datetime:
    """When what waits for room goes."""
    return _awake(_free(sent, sent[-1][0], alert.per_hour), alert.quiet, zone)


def _free(sent: list[tuple[datetime, list[int]]], moment: datetime, per_hour: int) -> datetime:
    """The first moment from this one on at which the hour before has room."""
    last = [when for when, _ in sent if when > moment - HOUR]
    return moment if len(last) < per_hour else last[-per_hour] + HOUR
