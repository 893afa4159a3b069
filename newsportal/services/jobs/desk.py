"""Long work that people start from the portal: a newsportal command as a job, one at a time."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from newsportal.errors import NewsportalError, RunnerRefused, RunnerUnavailable
from newsportal.services.jobs.base import Job, Wanted, new_id
from newsportal.services.jobs.local import PROGRAM, LocalRunner
from newsportal.services.jobs.records import Records

ORIGIN: Final = "portal"
RECENT: Final = timedelta(days=1)  # so long a job that ended is shown on the page that it was started from
LISTED: Final = 100  # jobs that are listed, the newest


class Busy(NewsportalError):
    """Raised by :meth:`Jobs.start` while another job of the portal runs, which it names. The caller shows that one."""

    def __init__(self, running: Job) -> None:
        super().__init__(f"{running.kind} of {running.subject} is under way; one job runs at a time")
        self.running = running


class Jobs:
    """Shared between threads. ``folder`` holds the record of jobs (``None``: this process's own); ``sources`` is the file that the commands
    read; ``now`` the clock; ``program`` what understands them."""

    def __init__(
        self, folder: Path | None, sources: Path | None, now: Callable[[], datetime], program: Sequence[str] = PROGRAM
    ) -> None:  # fmt: skip
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="newsportal-jobs-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._now = now
        self._lock = threading.Lock()
        settings = {"NEWSPORTAL_SOURCES": str(sources)} if sources else {}
        self._runner = LocalRunner(Records(folder), Path(), settings, origin=ORIGIN, say=lambda text: None, now=now, program=program)

    def start(self, kind: str, subject: str, words: Sequence[str], *, by: str = "", params: Mapping[str, str] | None = None) -> Job:
        """Start ``newsportal WORDS``; where the machine starts no process the job has failed. ``params`` are what the page that shows it
        wants to know later. Raises :class:`Busy`."""
        id = new_id()
        try:
            with self._lock:
                if (running := self.running()) is not None:
                    raise Busy(running)
                self._runner.start(id, Wanted(subject, kind=kind, words=tuple(words), by=by, params=params or {}))
        except (RunnerUnavailable, RunnerRefused) as error:
            failed = Job(id, subject, "failed", kind, started=self._now(), error={"code": "not-started", "text": str(error)})
            return self.find(id) or failed
        return self.find(id) or Job(id, subject, kind=kind, started=self._now())

    def find(self, id: str) -> Job | None:
        return self._runner.get(id)

    def all(self) -> list[Job]:
        """Those of everybody on this machine, the newest first."""
        return self._runner.jobs()[:LISTED]

    def running(self) -> Job | None:
        return next((job for job in self._runner.jobs() if job.active and job.origin == ORIGIN), None)

    def latest(self, kinds: Sequence[str], subject: str | None = None) -> Job | None:
        """The newest of these kinds that runs or ended lately, about a subject if one is named."""
        found = (job for job in self._runner.jobs() if job.kind in kinds and subject in (None, job.subject))
        return next((job for job in found if job.active or (job.started and self._now() - job.started < RECENT)), None)

    def log(self, id: str) -> str | None:
        return self._runner.log(id)

    def cancel(self, id: str) -> bool:
        """End a job that runs: of a crawl what it has in hand is stored, of other work nothing is kept. Answers whether it ran."""
        return self._runner.cancel(id)

    def stop(self) -> None:
        self._runner.close()
