"""The loop of ``newsportal schedule``: look what is due, start what may be started, tell what became of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from newsportal.commands.due import due
from newsportal.commands.last_good import LastGood
from newsportal.commands.up import summary
from newsportal.errors import FrontierUnavailable, NewsportalError, RunnerRefused, RunnerUnavailable, StoreError
from newsportal.frontier.queues.base import Queue
from newsportal.report import Run
from newsportal.runners.base import Job, Runner, Wanted, new_id
from newsportal.runners.planning import Attempt, Caps, attempted, plan
from newsportal.runners.records import Records, job_of
from newsportal.sources import Sources
from newsportal.storage import open_store
from newsportal.storage.store import Store

CLAIM: Final = "schedule"
"""The job that a schedule claims in the frontier's queue: of several, on whatever machines, one is at work and the others stand by."""

CLAIM_SECONDS: Final = 3600.0
"""For how long, renewed with every look; a schedule that died is noticed within a lease, and at once on its own machine."""

BEATS: Final = 3
"""Signs of life within a lease: two may be missed."""

LONGEST_WAIT: Final = 60.0
"""Seconds between two looks while something is away: the first is after the usual time, each one after that waits double."""

SPARE: Final = 10.0
"""Times as long as it took to find what is due, until it is looked for again: of 100,000 sources that is three seconds."""

RUNS: Final = 500
"""Run reports among which those of jobs are looked for: as many as jobs are remembered."""

Say = Callable[[str, Mapping[str, Any]], None]
"""Tells people (or machines) one event: its name, and what belongs to it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """``every``: seconds between two looks. ``once``: end as soon as what is due now was visited."""

    caps: Caps
    every: float
    once: bool = False


class Schedule:
    """Looks again and again until :meth:`stop`, from one thread. ``claims`` is this schedule's own worker of the queue."""

    def __init__(
        self,
        file: Path | None,
        sources: Sources,
        runner: Runner,
        records: Records,
        claims: Queue,
        terms: Terms,
        say: Say,
        crawl_by: Callable[[Path], None] = lambda file: None,
    ) -> None:
        self._good = LastGood(file, sources, lambda text: say("hindered", {"message": text}))
        self._crawl_by = crawl_by
        self._sources = sources
        self._read = _changed(sources)
        self._runner = runner
        self._records = records
        self._claims = claims
        self._terms = terms
        self._say = say
        self._stopped = threading.Event()
        self._attempts: dict[str, Attempt] = {}
        self._mine: set[str] = set()
        self._given: set[str] = set()
        self._hindered: str | None = None
        self._waits = 0
        self._took = 0.0

    def stop(self) -> None:
        """The schedule ends after what it does now; asked again, its jobs do not finish what they have in hand."""
        if self._stopped.is_set():
            self._runner.hasten()
        self._stopped.set()

    def run(self) -> None:
        """Until :meth:`stop`; with ``once`` until there is nothing left to do. What hinders it is told once, and waited for."""
        while not self._stopped.is_set():
            busy = self._tried()
            if self._terms.once and not busy:
                break
            every = max(self._terms.every, SPARE * self._took)
            self._wait(min(every * 2 ** min(self._waits, 10), max(LONGEST_WAIT, every)))

    def _wait(self, seconds: float) -> None:
        """Until :meth:`stop` at most, with signs of life: the claim stays this schedule's own."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._stopped.wait(min(left, self._sources.frontier.lease / BEATS)):
            with suppress(FrontierUnavailable):  # the next look tells of it
                self._claims.beat()

    def close(self) -> None:
        """End the jobs that do not go on alone, and let another schedule take over."""
        self._runner.close()
        self._good.forget()
        try:
            self._claims.leave()
        except FrontierUnavailable as error:
            self._say("hindered", {"message": f"{error}; another schedule takes over when this one is missed"})
        self._claims.close()

    def _tried(self) -> bool:
        """One look; whether there is more to do."""
        try:
            busy = self._look()
        except (RunnerUnavailable, RunnerRefused, FrontierUnavailable, StoreError) as error:
            if str(error) != self._hindered:
                self._say("hindered", {"message": f"{error}; what is due stays due, looking again"})
            self._hindered = str(error)
            self._waits += 1
            if self._terms.once:
                raise
            return True
        if self._hindered is not None and busy is not None:
            self._say("goes on", {"message": "the schedule goes on"})
            self._hindered, self._waits = None, 0
        return bool(busy)

    def _look(self) -> bool | None:
        """``None``: another schedule is at work."""
        self._claims.beat({"does": "schedule", "jobs": str(len(self._mine))})
        if not self._claims.claim(CLAIM, CLAIM_SECONDS):
            message = "another schedule is at work on these sources: standing by"
            if message != self._hindered:
                self._say("standing by", {"message": message})
            self._hindered = message
            return None
        self._reread()
        jobs = self._runner.jobs()
        store = open_store(self._sources.store)
        try:
            self._tell_ends(jobs, store)
            now = datetime.now().astimezone()
            began = time.monotonic()
            waiting = due(self._sources, store, now)
            if self._terms.once:  # where hosts are away a visit counts for nothing, and its source stays due
                waiting = [one for one in waiting if one.key not in self._given]
            self._took = time.monotonic() - began
        finally:
            store.close()
        started = 0
        for wanted in plan(waiting, jobs, self._attempts, self._terms.caps, now):
            self._attempts = attempted(wanted, waiting, self._attempts, now)
            self._start(wanted)
            started += 1
        self._records.forget()
        return bool(started or self._mine)

    def _start(self, wanted: Wanted) -> None:
        """Raises ``RunnerUnavailable``, ``RunnerRefused``: its sources stay due, and whether it was started after all the runner tells."""
        id = new_id()
        self._runner.start(id, wanted)
        self._mine.add(id)
        self._given.update(wanted.sources)
        self._say("started", {"job": id, "spider": wanted.spider, "sources": list(wanted.sources)})

    def _tell_ends(self, jobs: list[Job], store: Store) -> None:
        ended = {job.id: job for job in jobs if not job.active and job.id in self._mine}
        if not ended:
            return
        runs = reports(store)
        for id, job in ended.items():
            self._mine.discard(id)
            run = runs.get(id)
            self._say(
                "ended", {"job": id, "spider": job.spider, "status": job.status, "run": run.id if run else None, "brought": brought(run)}
            )

    def _reread(self) -> None:
        """The sources file, when it was changed. A broken one is told; schedule and jobs go on with what it said before."""
        changed = _changed(self._sources)
        if changed == self._read:
            return
        self._read, before = changed, self._sources
        file = self._good.file()
        self._sources = self._good.known
        if (path := file or self._sources.path) is not None:
            self._crawl_by(path)
        if self._sources is not before:
            self._say("reread", {"message": f"{self._sources.path} was changed, and read anew"})


def reports(store: Store) -> dict[str, Run]:
    """The run reports by the ids of their jobs. Raises ``StoreError``."""
    return {job_of(run): run for run in reversed(store.runs(RUNS))}


def brought(run: Run | None) -> str:
    """What a job brought, in one line."""
    if run is None:
        return "it left no report: its log says why"
    if not run.ended:
        return f"it broke off: {summary(run)}"
    return summary(run) if run.reason == "finished" else f"{run.reason}: {summary(run)}"


def _changed(sources: Sources) -> int | None:
    """When the file was changed last; ``None`` if there is none."""
    try:
        return sources.path.stat().st_mtime_ns if sources.path else None
    except OSError:
        return None


def found(runner: Runner, id: str) -> Job:
    """A job by its id, or by how that begins. Raises ``NewsportalError``."""
    jobs = [job for job in runner.jobs() if job.id.startswith(id)]
    if len(jobs) != 1:
        raise NewsportalError(f"{runner.where} knows {'no job' if not jobs else 'several jobs'} {id!r}; see: newsportal schedule jobs")
    return jobs[0]
