"""The one loop behind ``newsportal up`` and ``newsportal schedule``: ask each duty what to start, start it, report what ended. And the
sources file of a process that goes on for long: read again when it changes; while it has mistakes, a copy of what it said before.

No scheduler library: whether something is due is asked of the store and of the record of jobs, so there are no appointments to keep.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from newsportal.errors import FrontierUnavailable, NewsportalError, RunnerRefused, RunnerUnavailable, SourcesError, StoreError
from newsportal.items.report import Run
from newsportal.services.jobs.base import CRAWL, Job, Runner, Wanted, new_id
from newsportal.services.jobs.records import Records, outcome_of, reports
from newsportal.sources import Sources, load
from newsportal.sources.loading import stamp
from newsportal.store import open_store

ENDING = ".last-good"  # what the copy is called: `.sources.yaml.last-good`


class SourcesReloader:
    """``known`` is what ``file`` said last without mistakes, ``path`` what jobs are to read. ``say`` is told of mistakes once, and when
    they are mended. ``copies`` False: no copy is written."""

    def __init__(self, file: Path | None, known: Sources, say: Callable[[str], None], *, copies: bool = True) -> None:
        self._file = file
        self.known = known
        self.path = file
        self._say = say
        self._good = _content(known) if copies else None
        self._copies = copies
        self._stamp = stamp(known.path) if known.path else None
        self._broken: str | None = None

    def reread(self) -> bool:
        """Read the file if it was changed; answers whether ``known`` is new."""
        now = stamp(self.known.path) if self.known.path else None
        if now is None or now == self._stamp:  # none: an editor is just about to put the new one in place
            return False
        self._stamp = now
        try:
            self.known = load(self._file)
        except SourcesError as error:
            self.path = self._write_copy(error)
            return False
        if self._broken is not None:
            self._say("sources.yaml is mended, and read anew")
        self.path, self._broken, self._good = self._file, None, _content(self.known) if self._copies else None
        return True

    def remove_copy(self) -> None:
        """Nobody reads it any more."""
        if self.known.path is not None and self._broken is not None:
            _copy_of(self.known.path).unlink(missing_ok=True)

    def _write_copy(self, error: SourcesError) -> Path | None:
        if str(error) != self._broken:
            self._say(f"{error}\nthe crawl goes on with the sources as they were before")
        self._broken, path = str(error), self.known.path
        if path is None or self._good is None:
            return self._file
        copy = _copy_of(path)
        try:
            copy.touch(mode=0o600)
            copy.write_bytes(self._good)
        except OSError as reason:
            self._say(f"{copy} cannot be written: {reason.strerror or reason}")
            return self._file
        return copy


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{ENDING}")


def _content(known: Sources) -> bytes | None:
    """What the file held when it was loaded; ``None`` where there is none."""
    try:
        return known.path.read_bytes() if known.path is not None else None
    except OSError:
        return None


CLAIM: Final = "schedule"
"""The name under which a schedule claims its sources: of several, on whatever machines, one is at work and the others stand by."""

CLAIM_SECONDS: Final = 3600.0
"""For how long, renewed with every look; a schedule that died is noticed within a lease, and at once on its own machine."""

BEATS: Final = 3  # signs of life within a lease: two may be missed
LONGEST_WAIT: Final = 60.0
"""Seconds between two looks while something is away: the first is after the usual time, each one after that waits double."""

SPARE: Final = 10.0  # times as long as a duty took to find what is due, until it is asked again: of 100,000 sources that is three seconds

Say = Callable[[str, Mapping[str, Any]], None]  # reports one event: its name, and its facts


class Duty(ABC):
    """What is to be started when. ``took``: seconds that its last look cost."""

    took = 0.0

    @abstractmethod
    def wanted(self, jobs: Sequence[Job], now: datetime) -> Iterable[Wanted]:
        """The jobs to start now; what follows a ``yield`` runs when that job was started. Raises ``StoreError``."""

    def ended(self, job: Job, run: Run | None) -> None:  # noqa: B027  most know from the store
        """A job ended; ``run`` is the report of a crawl."""


class Claims(Protocol):
    """This supervisor as a worker of the queue, where several may not work at once. Raises ``FrontierUnavailable``."""

    def beat(self, doing: Mapping[str, str] | None = None) -> object: ...

    def claim(self, job: str, seconds: float) -> bool: ...

    def leave(self) -> None: ...

    def close(self) -> None: ...


class Supervisor:
    """Works from one thread until :meth:`stop`. ``every``: seconds between two looks. ``once``: end when nothing is left to do."""

    def __init__(
        self,
        file: SourcesReloader,
        runner: Runner,
        records: Records,
        duties: Sequence[Duty],
        say: Say,
        *,
        every: float,
        once: bool = False,
        claims: Claims | None = None,
        use_sources: Callable[[Path], None] = lambda file: None,
    ) -> None:
        self._file, self._runner, self._records, self._duties, self._say = file, runner, records, duties, say
        self._every, self._once, self._claims, self._use_sources = every, once, claims, use_sources
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._mine: dict[str, Duty] = {}
        self._hindered: str | None = None
        self._waits = 0

    def stop(self) -> None:
        """End after what is under way; when called again, jobs do not finish what they have in hand."""
        if self._stopped.is_set():
            self._runner.hasten()
        self._stopped.set()
        self._woken.set()

    def wake(self) -> None:
        self._woken.set()

    def run(self) -> None:
        """Until :meth:`stop`; with ``once`` until there is nothing left to do. What hinders it is reported once, and waited for."""
        while not self._stopped.is_set():
            busy = self._try()
            if self._once and not busy:
                break
            every = max(self._every, *(SPARE * duty.took for duty in self._duties))
            self._wait(min(every * 2 ** min(self._waits, 10), max(LONGEST_WAIT, every)))

    def close(self) -> None:
        """End the jobs that do not go on alone, and let another supervisor take over."""
        self._runner.close()
        self._file.remove_copy()
        if self._claims is None:
            return
        try:
            self._claims.leave()
        except FrontierUnavailable as error:
            self._say("hindered", {"message": f"{error}; another schedule takes over when this one is missed"})
        self._claims.close()

    def _wait(self, seconds: float) -> None:
        """Until :meth:`wake` at most, with signs of life: the claim stays this supervisor's own."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self._woken.wait(min(left, self._file.known.frontier.lease / BEATS)):
            if self._claims is not None:
                with suppress(FrontierUnavailable):  # the next look reports it
                    self._claims.beat()
        self._woken.clear()

    def _try(self) -> bool:
        """One look; answers whether there is still something to do."""
        try:
            busy = self._look()
        except (StoreError, FrontierUnavailable, RunnerUnavailable, RunnerRefused, OSError) as error:
            if str(error) != self._hindered and not self._stopped.is_set():
                self._say("hindered", {"message": f"{error}; what is due stays due, looking again"})
            self._hindered = str(error)
            self._waits += 1
            if self._once:
                raise
            return True
        if self._hindered is not None and busy is not None:
            self._say("goes on", {"message": "the schedule goes on"})
            self._hindered, self._waits = None, 0
        return bool(busy)

    def _look(self) -> bool | None:
        """``None``: another supervisor is at work."""
        if not self._lead():
            return None
        if self._file.reread():
            self._say("reread", {"message": f"{self._file.known.path} was changed, and read anew"})
        if (path := self._file.path or self._file.known.path) is not None and path.exists():
            self._use_sources(path)
        jobs = self._runner.jobs()
        self._report_ended(jobs)
        for duty in self._duties:
            for wanted in duty.wanted(jobs, datetime.now().astimezone()):
                if self._stopped.is_set():
                    break
                id = new_id()
                self._runner.start(id, wanted)
                self._mine[id] = duty
                self._say("started", {"job": id, "kind": wanted.kind, "spider": wanted.subject, "sources": list(wanted.sources)})
        self._records.prune()
        return bool(self._mine)

    def _lead(self) -> bool:
        if self._claims is None:
            return True
        self._claims.beat({"does": "schedule", "jobs": str(len(self._mine))})
        if self._claims.claim(CLAIM, CLAIM_SECONDS):
            return True
        message = "another schedule is at work on these sources: standing by"
        if message != self._hindered:
            self._say("standing by", {"message": message})
        self._hindered = message
        return False

    def _report_ended(self, jobs: Sequence[Job]) -> None:
        known = {job.id: job for job in jobs}
        ended = [job for id in self._mine if not (job := known.get(id) or Job(id, state="lost")).active]
        crawls = {job.id for job in ended if job.kind == CRAWL}
        runs: dict[str, Run] = {}
        if crawls:
            with suppress(NewsportalError), closing(open_store(self._file.known.store, create=False)) as store:
                runs = reports(store, crawls)
        for job in ended:
            run = runs.get(job.id)
            if run is not None:
                job = replace(job, outcome=(outcome_of(run),))
                with suppress(RunnerRefused):  # the report in the store says it too
                    self._records.save(job)
            facts = {"job": job.id, "kind": job.kind, "spider": job.subject, "status": job.status, "result": job.state}
            self._say("ended", {**facts, "run": run.id if run else None, "outcome": list(job.outcome), "error": job.error})
            self._mine.pop(job.id).ended(job, run)
