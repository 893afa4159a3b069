"""The loop behind ``newsportal up`` and ``newsportal schedule``: start the jobs that each duty requests, report ended ones. And reloading
of the sources file in long-running processes; while it is invalid, a copy of its last valid content is used.

No scheduler library is needed: what is due follows from the store and the records of jobs.
"""

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
from newsportal.services.jobs.base import CRAWL, Job, JobRequest, Runner, new_id
from newsportal.services.jobs.records import Records, outcome_of, reports
from newsportal.sources import Sources, load
from newsportal.sources.loading import stamp
from newsportal.store import open_store

ENDING = ".last-good"  # suffix of the copy: `.sources.yaml.last-good`


class SourcesReloader:
    """Reloads ``file``. ``sources``: its last valid content; ``path``: the file for jobs. ``report``: called when it becomes invalid or
    valid again. ``copies`` False: write no copy."""

    def __init__(self, file: Path | None, sources: Sources, report: Callable[[str], None], *, copies: bool = True) -> None:
        self._file = file
        self.sources = sources
        self.path = file
        self._report = report
        self._good = _content(sources) if copies else None
        self._copies = copies
        self._stamp = stamp(sources.path) if sources.path else None
        self._broken: str | None = None

    def reload(self) -> bool:
        """Reload the file if it was changed; return whether ``sources`` is new."""
        now = stamp(self.sources.path) if self.sources.path else None
        if now is None or now == self._stamp:  # missing: an editor is replacing it
            return False
        self._stamp = now
        try:
            self.sources = load(self._file)
        except SourcesError as error:
            self.path = self._write_copy(error)
            return False
        if self._broken is not None:
            self._report("sources.yaml is valid again and was reloaded")
        self.path, self._broken, self._good = self._file, None, _content(self.sources) if self._copies else None
        return True

    def remove_copy(self) -> None:
        """Delete the copy, when no job reads it any more."""
        if self.sources.path is not None and self._broken is not None:
            _copy_of(self.sources.path).unlink(missing_ok=True)

    def _write_copy(self, error: SourcesError) -> Path | None:
        if str(error) != self._broken:
            self._report(f"{error}\nthe crawl continues with the last valid sources")
        self._broken, path = str(error), self.sources.path
        if path is None or self._good is None:
            return self._file
        copy = _copy_of(path)
        try:
            copy.touch(mode=0o600)
            copy.write_bytes(self._good)
        except OSError as reason:
            self._report(f"{copy} cannot be written: {reason.strerror or reason}")
            return self._file
        return copy


def _copy_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{ENDING}")


def _content(sources: Sources) -> bytes | None:
    """Return the content of the loaded file; ``None`` if there is none."""
    try:
        return sources.path.read_bytes() if sources.path is not None else None
    except OSError:
        return None


CLAIM: Final = "schedule"
"""The name under which a schedule claims its sources: of several, on any machine, one is active and the others stand by."""

CLAIM_SECONDS: Final = 3600.0
"""Duration of the claim, renewed in each iteration; a dead schedule is noticed within a lease, on its own machine at once."""

HEARTBEATS: Final = 3  # heartbeats per lease: two may be missed
LONGEST_WAIT: Final = 60.0
"""Maximum seconds between retries after an error, doubled each time from the usual interval."""

SPARE: Final = 10.0  # the interval is at least this multiple of the time a duty needs: of 100,000 sources that is three seconds

Emit = Callable[[str, Mapping[str, Any]], None]  # reports one event: its name, and its facts


class Duty(ABC):
    """A kind of job to start when needed. ``check_seconds``: seconds of its last check."""

    check_seconds = 0.0

    @abstractmethod
    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterable[JobRequest]:
        """Yield the jobs to start now; code after a ``yield`` runs when that job was started. Raises ``StoreError``."""

    def on_end(self, job: Job, run: Run | None) -> None:  # noqa: B027  most learn it from the store
        """Handle the end of a job; ``run`` is the report of a crawl."""


class Claims(Protocol):
    """This supervisor as a worker of the queue, so that only one is active. Raises ``FrontierUnavailable``."""

    def heartbeat(self, activity: Mapping[str, str] | None = None) -> object: ...

    def claim(self, job: str, seconds: float) -> bool: ...

    def leave(self) -> None: ...

    def close(self) -> None: ...


class Supervisor:
    """Runs in one thread until :meth:`stop`. ``every``: seconds between iterations. ``once``: end when nothing is left to do."""

    def __init__(
        self, file: SourcesReloader, runner: Runner, records: Records, duties: Sequence[Duty], emit: Emit, *, every: float,
        once: bool = False, claims: Claims | None = None, use_sources: Callable[[Path], None] = lambda file: None,
    ) -> None:  # fmt: skip
        self._file, self._runner, self._records, self._duties, self._emit = file, runner, records, duties, emit
        self._every, self._once, self._claims, self._use_sources = every, once, claims, use_sources
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._started_jobs: dict[str, Duty] = {}
        self._last_error: str | None = None
        self._waits = 0

    def stop(self) -> None:
        """Stop after the current work; on the second call, jobs exit at once."""
        if self._stopped.is_set():
            self._runner.force_stop()
        self._stopped.set()
        self._woken.set()

    def wake(self) -> None:
        self._woken.set()

    def run(self) -> None:
        """Run until :meth:`stop`; with ``once`` until nothing is left to do. Errors are reported once and retried."""
        while not self._stopped.is_set():
            busy = self._run_iteration()
            if self._once and not busy:
                break
            every = max(self._every, *(SPARE * duty.check_seconds for duty in self._duties))
            self._wait(min(every * 2 ** min(self._waits, 10), max(LONGEST_WAIT, every)))

    def close(self) -> None:
        """Stop the jobs that cannot run alone, and release the claim for another supervisor."""
        self._runner.close()
        self._file.remove_copy()
        if self._claims is None:
            return
        try:
            self._claims.leave()
        except FrontierUnavailable as error:
            self._emit("hindered", {"message": f"{error}; another schedule takes over when the claim of this one has expired"})
        self._claims.close()

    def _wait(self, seconds: float) -> None:
        """Wait, at most until :meth:`wake`, sending heartbeats that renew the claim."""
        until, heartbeat = time.monotonic() + seconds, self._file.sources.frontier.lease / HEARTBEATS
        while (remaining := until - time.monotonic()) > 0 and not self._woken.wait(min(remaining, heartbeat)):
            if self._claims is not None:
                with suppress(FrontierUnavailable):  # reported by the next iteration
                    self._claims.heartbeat()
        self._woken.clear()

    def _run_iteration(self) -> bool:
        """Run one iteration, handling errors; return whether there is more to do."""
        try:
            busy = self._iterate()
        except (StoreError, FrontierUnavailable, RunnerUnavailable, RunnerRefused, OSError) as error:
            if str(error) != self._last_error and not self._stopped.is_set():
                self._emit("hindered", {"message": f"{error}; what is due stays due; retrying"})
            self._last_error = str(error)
            self._waits += 1
            if self._once:
                raise
            return True
        if self._last_error is not None and busy is not None:
            self._emit("goes on", {"message": "the schedule continues"})
            self._last_error, self._waits = None, 0
        return bool(busy)

    def _iterate(self) -> bool | None:
        """Run one iteration; return ``None`` if another supervisor is active."""
        if not self._renew_claim():
            return None
        if self._file.reload():
            self._emit("reread", {"message": f"{self._file.sources.path} has changed and was reloaded"})
        if (path := self._file.path or self._file.sources.path) is not None and path.exists():
            self._use_sources(path)
        jobs = self._runner.jobs()
        self._report_ended(jobs)
        for duty in self._duties:
            for request in duty.requests(jobs, datetime.now().astimezone()):
                if self._stopped.is_set():
                    break
                id = new_id()
                self._runner.start(id, request)
                self._started_jobs[id] = duty
                self._emit("started", {"job": id, "kind": request.kind, "spider": request.subject, "sources": list(request.sources)})
        self._records.prune()
        return bool(self._started_jobs)

    def _renew_claim(self) -> bool:
        if self._claims is None:
            return True
        self._claims.heartbeat({"does": "schedule", "jobs": str(len(self._started_jobs))})
        if self._claims.claim(CLAIM, CLAIM_SECONDS):
            return True
        message = "another schedule runs with these sources: standing by"
        if message != self._last_error:
            self._emit("standing by", {"message": message})
        self._last_error = message
        return False

    def _report_ended(self, jobs: Sequence[Job]) -> None:
        by_id = {job.id: job for job in jobs}
        ended = [job for id in self._started_jobs if not (job := by_id.get(id) or Job(id, state="lost")).active]
        crawls = {job.id for job in ended if job.kind == CRAWL}
        runs: dict[str, Run] = {}
        if crawls:
            with suppress(NewsportalError), closing(open_store(self._file.sources.store, create=False)) as store:
                runs = reports(store, crawls)
        for job in ended:
            run = runs.get(job.id)
            if run is not None:
                job = replace(job, outcome=(outcome_of(run),))
                with suppress(RunnerRefused):  # the report in the store has it too
                    self._records.save(job)
            facts = {"job": job.id, "kind": job.kind, "spider": job.subject, "status": job.status, "result": job.state}
            self._emit("ended", {**facts, "run": run.id if run else None, "outcome": list(job.outcome), "error": job.error})
            self._started_jobs.pop(job.id).on_end(job, run)
