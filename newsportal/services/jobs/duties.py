"""Duties of a supervisor: crawls of due sources, a periodic crawl, training, and nightly maintenance.

Which crawls are due is decided by pure functions of the due sources, the running jobs, earlier attempts and the time.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import zip_longest
from typing import Final

from newsportal.errors import StoreError
from newsportal.items.report import Run
from newsportal.services.jobs.base import CRAWL, Job, JobRequest
from newsportal.services.jobs.supervisor import Duty, Emit, SourcesReloader
from newsportal.sources import Sources, timing
from newsportal.sources.timing import visited_sources
from newsportal.store import open_store
from newsportal.store.store import Store

AGAIN, LONGEST_AGAIN = 60.0, 3600.0  # seconds until a source that was not visited is tried again: doubled each time, up to the maximum


@dataclass(frozen=True, slots=True)
class Due:
    """A source that is due: since when, and its last visit."""

    key: str
    spider: str
    since: datetime
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """The ``times``-th job for a source since its last visit (``last``), started at ``at``."""

    at: datetime
    times: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits: concurrent ``jobs``, and sources per job (``batch``)."""

    jobs: int
    batch: int


def due(sources: Sources, store: Store, now: datetime) -> list[Due]:
    """Return the sources due at ``now`` (aware). Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    never = datetime.min.replace(tzinfo=now.tzinfo)
    found = []
    for entry in visited_sources(sources):
        state = states.get(entry.key)
        if timing.due_at(state, timing.rules(sources, entry.source), now) <= now:
            last = state.last_run if state else None
            found.append(Due(entry.key, entry.spider, last or never, last))
    return found


def plan(due: Iterable[Due], jobs: Collection[Job], attempts: Mapping[str, Attempt], caps: Limits, now: datetime) -> list[JobRequest]:
    """Return the jobs to start now, in order: batches by spider, longest due first, alternating between spiders."""
    active = [job for job in jobs if job.active]
    busy = {key for job in active for key in job.sources or ()}
    unbounded = {job.subject for job in active if not job.sources}
    free = [row for row in due if row.spider not in unbounded and row.key not in busy and not _held_back(row, attempts.get(row.key), now)]
    kinds: dict[str, list[Due]] = {}
    for row in sorted(free, key=lambda row: (row.since, row.key)):
        kinds.setdefault(row.spider, []).append(row)
    batches = [
        [JobRequest(spider, tuple(row.key for row in rows[at : at + caps.batch])) for at in range(0, len(rows), caps.batch)]
        for spider, rows in kinds.items()
    ]
    return [request for turn in zip_longest(*batches) for request in turn if request is not None][: max(0, caps.jobs - len(active))]


def update_attempts(request: JobRequest, due: Iterable[Due], attempts: Mapping[str, Attempt], now: datetime) -> dict[str, Attempt]:
    """Return ``attempts`` with those of a job started now, and without sources visited since."""
    last_visits = {row.key: row.last for row in due}
    current = {key: attempt for key, attempt in attempts.items() if key in last_visits and attempt.last == last_visits[key]}
    started = {key: Attempt(now, current[key].times + 1 if key in current else 1, last_visits.get(key)) for key in request.sources}
    return current | started


def _held_back(due: Due, attempt: Attempt | None, now: datetime) -> bool:
    if attempt is None or attempt.last != due.last:
        return False
    wait = min(AGAIN * 2.0 ** min(attempt.times - 1, 10), LONGEST_AGAIN)
    return attempt.at <= now < attempt.at + timedelta(seconds=wait)


RETRAIN: Final = "retrain"
FIT: Final = "fit"
PRUNE: Final = "prune"
REVISE: Final = "revise"

REST: Final = 3600.0
"""Minimum seconds between two trainings: with a thousand articles an hour, not every hundred need one."""

RETRAIN_LIMIT: Final = 1800.0
FIT_LIMIT: Final = 7200.0  # seconds for a training and a fit; then they are stopped, and the former model stays in use
PRUNE_LIMIT: Final = 7200.0  # seconds; the next night continues
REVISE_LIMIT: Final = 3600.0  # seconds; the next night continues
SILENCE: Final = 1800.0  # seconds without log output after which a crawl counts as hung: Scrapy logs its statistics each minute
OFFLINE: Final = 30.0  # seconds between checks for a missing network. Only DNS look-ups: no requests to sites
OFFLINE_TEXT: Final = "there is no network; the portal serves stored articles, and the crawl resumes as soon as there is one"

NIGHTLY_INTERVAL: Final = 300.0
NIGHTLY_FIRST: Final = 30.0  # seconds between checks of the hour; the first is delayed during start-up


class DueSources(Duty):
    """Batches of due sources by spider. ``once``: each source once."""

    def __init__(self, file: SourcesReloader, caps: Limits, *, once: bool = False) -> None:
        self._file, self._caps, self._once = file, caps, once
        self._attempts: dict[str, Attempt] = {}
        self._started_keys: set[str] = set()

    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterator[JobRequest]:
        began = time.monotonic()
        with closing(open_store(self._file.sources.store)) as store:
            waiting = due(self._file.sources, store, now)
        self.check_seconds = time.monotonic() - began
        if self._once:  # if hosts are unreachable, a visit does not count, and its source stays due
            waiting = [row for row in waiting if row.key not in self._started_keys]
        crawls = [job for job in jobs if job.kind == CRAWL and job.subject]
        for request in plan(waiting, crawls, self._attempts, self._caps, now):
            self._attempts = update_attempts(request, waiting, self._attempts, now)
            yield request
            self._started_keys.update(request.sources)


class RepeatedCrawl(Duty):
    """``newsportal crawl``, one at a time: every ``every`` seconds, after :meth:`trigger`, and when the network is available again."""

    def __init__(
        self, every: float, away: Callable[[], bool], offline: Callable[[Run], bool], emit: Emit, *, everything: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._every, self._away, self._offline, self._emit, self._clock = every, away, offline, emit, clock
        self.everything = everything
        self._running = self._waits = False
        self._requested = True
        self._next = clock()

    def trigger(self) -> None:
        """Request a crawl of due sources at once."""
        self._requested = True

    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterator[JobRequest]:
        is_due = self._clock() >= self._next
        if self._running or not (is_due or (self._requested and not self.everything)):
            return
        if self._waits and self._away():
            self._next = self._clock() + OFFLINE
            return
        mode = "--once" if self.everything else "--due"
        self._requested = False
        yield JobRequest(words=("crawl", mode, "--log-level", "INFO"), silence=SILENCE)
        self._running = True

    def on_end(self, job: Job, run: Run | None) -> None:
        """If nothing was reached, request a complete crawl for when the network is available again."""
        self._running = False
        self.everything = self._waits = run is not None and self._offline(run) and self._away()
        self._next = self._clock() + (OFFLINE if self.everything else self._every)
        if self.everything:
            self._emit("offline", {"message": OFFLINE_TEXT})


class Retraining(Duty):
    """``newsportal retrain`` after ``least_new`` new articles; 0: never."""

    def __init__(self, least_new: int) -> None:
        self._least_new = least_new

    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterator[JobRequest]:
        """Count the articles stored by recorded crawls since the latest training."""
        trainings = [job for job in jobs if job.kind == RETRAIN and job.started is not None and job.started <= now]
        last = max((job.started for job in trainings if job.started), default=None)
        pause_over = last is None or now - last >= timedelta(seconds=REST)
        if not self._least_new or not pause_over or any(job.active for job in trainings):
            return
        since = (job for job in jobs if job.kind == CRAWL and (last is None or (job.ended is not None and job.ended > last)))
        new = sum(int(row.get("stored", 0)) for job in since for row in job.outcome)
        if new >= self._least_new:
            yield JobRequest(kind=RETRAIN, words=("retrain", "--json"), limit=RETRAIN_LIMIT)


class Nightly(Duty):
    """Nightly ``newsportal prune``, ``newsportal event revise`` if events changed, and ``newsportal recommend fit`` (unless ``learn`` is
    false), made up for if missed."""

    def __init__(
        self, file: SourcesReloader, hour: int, zone: tzinfo, *, learn: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._file, self._hour, self._zone, self._learn, self._clock = file, hour, zone, learn, clock
        self._next = clock() + NIGHTLY_FIRST
        self._unchanged: datetime | None = None  # the night in which no event had changed

    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterator[JobRequest]:
        if self._clock() < self._next:
            return
        self._next = self._clock() + NIGHTLY_INTERVAL
        at = last_due(now, self._hour, self._zone)
        if self._is_due(PRUNE, jobs, at, now) and self._fits() is not None:
            yield JobRequest(kind=PRUNE, words=("prune", "--json"), limit=PRUNE_LIMIT)
        elif any(job.active for job in jobs if job.kind in (PRUNE, REVISE)):
            return
        elif self._unchanged != at and self._is_due(REVISE, jobs, at, now) and self._events_changed(at):
            yield JobRequest(kind=REVISE, words=("event", "revise", "--json"), limit=REVISE_LIMIT)
        elif self._learn and self._is_due(FIT, jobs, at, now):
            fits = self._fits()
            if fits is not None and fits[0] and (fits[1] is None or fits[1] < at):
                yield JobRequest(kind=FIT, words=("recommend", "fit", "--json"), limit=FIT_LIMIT)

    def _is_due(self, kind: str, jobs: Sequence[Job], at: datetime, now: datetime) -> bool:
        """Return whether no job of this kind was started since the hour."""
        return not any(job.kind == kind and job.started is not None and (job.active or at <= job.started <= now) for job in jobs)

    def _events_changed(self, night: datetime) -> bool:
        try:
            with closing(open_store(self._file.sources.store, create=False)) as store:
                changed = store.events.position("changed") > store.events.position("revised")
        except StoreError:
            return False
        self._unchanged = None if changed else night
        return changed

    def _fits(self) -> tuple[bool, datetime | None] | None:
        """Return whether there is anything to learn from, and when the last fit was; ``None`` if there is no store."""
        try:
            with closing(open_store(self._file.sources.store, create=False)) as store:
                fits = store.readers.fits()
                return bool(store.readers.counts()[0] or fits), fits[0][0] if fits else None
        except StoreError:
            return None


def last_due(now: datetime, hour: int, zone: tzinfo) -> datetime:
    """Return the latest time at this local hour, today or yesterday; of an hour that the end of summer time repeats, the first."""
    local = now.astimezone(zone)
    today = local.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    return today if today <= local else today - timedelta(days=1)
