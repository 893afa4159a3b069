"""Which crawls are started now: what is due, what runs, what was tried and the clock come as arguments.

- **No overlap.** A source that a job visits is not given to another; a job whose sources nobody knows may visit any of its spider's.
- **No stampede.** After a pause everything is due at once: jobs of at most so many sources, at most so many jobs at a time, and those that
  waited longest first, each kind of source in its turn.
- **Missed runs.** Whether a source is due is asked of its last visit, not of a list of appointments: what was missed is caught up once.
- **No racing.** A source whose job ended and left it unvisited (it died) waits longer each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest

from newsportal.services.jobs.base import Job, Wanted
from newsportal.sources import Sources, timing
from newsportal.sources.timing import visited
from newsportal.store.store import Store

AGAIN, LONGEST_AGAIN = 60.0, 3600.0
"""Seconds until a source that was left unvisited is tried again: doubled with each time, at most this."""


@dataclass(frozen=True, slots=True)
class Due:
    """A source whose time has come: since when, and when it was visited last."""

    key: str
    spider: str
    since: datetime
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A job was started for a source at ``at``, the ``times``-th since it was visited (``last``)."""

    at: datetime
    times: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Caps:
    """``jobs`` at a time, ``batch``: sources that one of them visits."""

    jobs: int
    batch: int


def due(sources: Sources, store: Store, now: datetime) -> list[Due]:
    """The sources whose time has come by ``now`` (aware). Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    never = datetime.min.replace(tzinfo=now.tzinfo)
    found = []
    for one in visited(sources):
        state = states.get(one.key)
        if timing.due_at(state, timing.rules(sources, one.source), now) <= now:
            last = state.last_run if state else None
            found.append(Due(one.key, one.spider, last or never, last))
    return found


def plan(due: Iterable[Due], jobs: Collection[Job], attempts: Mapping[str, Attempt], caps: Caps, now: datetime) -> list[Wanted]:
    """The jobs to start now, in this order."""
    active = [job for job in jobs if job.active]
    taken = {key for job in active for key in job.sources or ()}
    whole = {job.subject for job in active if not job.sources}
    free = [one for one in due if one.spider not in whole and one.key not in taken and not _held_back(one, attempts.get(one.key), now)]
    return _in_turn(free, caps.batch)[: max(0, caps.jobs - len(active))]


def attempted(wanted: Wanted, due: Iterable[Due], attempts: Mapping[str, Attempt], now: datetime) -> dict[str, Attempt]:
    """``attempts`` with those of a job that is started now; the ones of sources that were visited since are forgotten."""
    known = {one.key: one.last for one in due}
    kept = {key: attempt for key, attempt in attempts.items() if key in known and attempt.last == known[key]}
    started = {key: Attempt(now, kept[key].times + 1 if key in kept else 1, known.get(key)) for key in wanted.sources}
    return kept | started


def _held_back(one: Due, attempt: Attempt | None, now: datetime) -> bool:
    if attempt is None or attempt.last != one.last:
        return False
    wait = min(AGAIN * 2.0 ** min(attempt.times - 1, 10), LONGEST_AGAIN)
    return attempt.at <= now < attempt.at + timedelta(seconds=wait)


def _in_turn(due: Iterable[Due], batch: int) -> list[Wanted]:
    """Batches of each spider, the longest due first, one spider after another."""
    kinds: dict[str, list[Due]] = {}
    for one in sorted(due, key=lambda one: (one.since, one.key)):
        kinds.setdefault(one.spider, []).append(one)
    batches = [
        [Wanted(spider, tuple(one.key for one in rows[at : at + batch])) for at in range(0, len(rows), batch)]
        for spider, rows in kinds.items()
    ]
    return [wanted for turn in zip_longest(*batches) for wanted in turn if wanted is not None]
