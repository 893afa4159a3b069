"""Jobs of this machine: subprocesses (``newsportal …``, ``scrapy crawl SPIDER``) with a log file each. And jobs that users start from the
portal: newsportal commands, one at a time."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

from newsportal.errors import NewsportalError, RunnerRefused, RunnerUnavailable
from newsportal.services.jobs.base import CRAWL, LOCAL, VARIABLE, Job, JobRequest, Row, State, new_id
from newsportal.services.jobs.records import Records, end_process, is_running, process_start

STOP_PATIENCE: Final = 30.0  # seconds for all crawls to end by themselves; systemd waits 60 for us (deploy/)
CHECK_INTERVAL: Final = 10.0  # seconds between checks of a log for excessive size or silence
NAMES: Final = "--"
"""Separates user-defined names from options in the words of a command, so that no name is parsed as an option."""

PROGRAM: Final = (sys.executable, "-m", "newsportal")


@dataclass(frozen=True, slots=True)
class Child:
    """A job started by this process; ``thread`` waits for its end."""

    job: Job
    process: subprocess.Popen[bytes]
    thread: threading.Thread


class LocalRunner:
    """Runs jobs as processes with their own sessions. A killed runner leaves crawls running; the next one finds them by their records.
    Thread-safe. ``origin``: recorded as who started the jobs. ``warn``: called if records cannot be written, and jobs start without;
    ``None``: they do not start. ``on_end``: called after a job has ended."""

    where = LOCAL

    def __init__(
        self, records: Records, folder: Path, settings: Mapping[str, str], *, origin: str = "", warn: Callable[[str], None] | None = None,
        on_end: Callable[[], None] = lambda: None, now: Callable[[], datetime] = lambda: datetime.now(UTC),
        program: Sequence[str] = PROGRAM,
    ) -> None:  # fmt: skip
        self._records, self._folder, self._settings = records, folder, dict(settings)
        self._origin, self._warn, self._on_end, self._now, self._program = origin, warn, on_end, now, program
        self._children: dict[str, Child] = {}
        self._lock = threading.RLock()
        self._closed = False

    def use_sources(self, sources: Path) -> None:
        """Set the sources file for jobs started from now on."""
        self._settings["NEWSPORTAL_SOURCES"] = str(sources)

    def start(self, id: str, request: JobRequest) -> None:
        with self._lock:
            if id in self._children:
                return
            if self._closed:
                raise RunnerRefused("this process is shutting down and starts no more jobs")
            job = Job(id, request.subject, kind=request.kind, sources=request.sources, started=self._now(), origin=self._origin)
            job = replace(job, by=request.by, params=dict(request.params), host=platform.node())
            try:
                self._records.save(job)
            except RunnerRefused as error:
                if self._warn is None:
                    raise
                self._warn(str(error))
            try:
                process = self._spawn(id, request)
            except OSError as error:
                failure = {"code": "no-process", "text": error.strerror or str(error)}
                with suppress(RunnerRefused):
                    self._records.end(job, "failed", None, failure, self._now())
                raise RunnerUnavailable(f"cannot start a process here: {error.strerror or error}") from error
            job = replace(job, pid=process.pid, born=process_start(process.pid))
            with suppress(RunnerRefused):  # it runs, and is known to this process
                self._records.save(job)
            thread = threading.Thread(target=self._watch, args=(id, request), daemon=True, name=f"job {request.kind}")
            self._children[id] = Child(job, process, thread)
            thread.start()

    def _spawn(self, id: str, request: JobRequest) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}
        extra = {VARIABLE: id} if request.kind != CRAWL else {"SCRAPY_SETTINGS_MODULE": "newsportal.settings"}
        with self._open_log(self._records.log_file(id)) as log, self._open_log(self._records.report_file(id)) as report:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log if request.kind == CRAWL else report, "stderr": log}
            folder = self._folder if self._folder.is_dir() else None
            return subprocess.Popen(self._command(id, request), cwd=folder, env=environment | extra, start_new_session=True, **streams)

    def _open_log(self, file: Path) -> IO[bytes]:
        try:
            return file.open("ab")
        except OSError:
            if self._warn is None:
                raise
            return Path(os.devnull).open("ab")

    def _command(self, id: str, request: JobRequest) -> list[str]:
        if request.words or request.kind != CRAWL:
            place = request.words.index(NAMES) if NAMES in request.words else len(request.words)
            file = self._settings.get("NEWSPORTAL_SOURCES")
            options = [*(("--sources", file) if file else ()), *(("--run-id", id) if request.kind == CRAWL else ())]
            return [*self._program, *request.words[:place], *options, *request.words[place:]]
        command = [sys.executable, "-m", "scrapy", "crawl", request.subject]
        for name, value in request.arguments().items():
            command += ["-a", f"{name}={value}"]
        for name, value in (self._settings | {"NEWSPORTAL_RUN_ID": id}).items():
            command += ["-s", f"{name}={value}"]
        return command

    def _watch(self, id: str, request: JobRequest) -> None:
        with self._lock:
            child = self._children[id]
        try:
            error = self._await(id, child.process, request)
            status = child.process.returncode
            error = error or ({"code": "exit-status", "text": f"status {status}"} if status else None)
            recorded = self._records.get(id)
            if recorded is None or recorded.ended is None:  # else it was cancelled and recorded before
                state: State = "cancelled" if recorded is not None and recorded.cancelling else "failed" if error else "done"
                with suppress(RunnerRefused):
                    self._records.end(child.job, state, status, error, self._now())
        finally:
            with self._lock:
                del self._children[id]
            self._on_end()

    def _await(self, id: str, process: subprocess.Popen[bytes], request: JobRequest) -> Row | None:
        """Wait for the process to end; return the reason if it had to be stopped."""
        until = None if request.limit is None else time.monotonic() + request.limit
        size, quiet, reason = 0, 0.0, None
        while True:
            timeout = CHECK_INTERVAL if until is None or reason else max(0.0, min(CHECK_INTERVAL, until - time.monotonic()))
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout)
                return reason
            before = size
            with suppress(RunnerRefused):
                size = self._records.truncate_log(id)
            quiet = quiet + CHECK_INTERVAL if size == before else 0.0  # counted in checks: a suspended machine is not silent
            if reason is not None or (until is not None and time.monotonic() >= until):
                reason = reason or {"code": "timeout", "text": f"it took more than {request.limit:g} seconds"}
                end_process(process.pid, gently=False)
            elif request.silence is not None and quiet >= request.silence:
                reason = {"code": "silent", "text": f"it logged nothing for {request.silence:g} seconds"}
                end_process(process.pid, gently=True)

    def jobs(self) -> list[Job]:
        """Return the jobs of this machine, whoever started them."""
        children = {id: child.job for id, child in list(self._children.items())}  # read first: a job is recorded before its removal here
        found = {job.id: _until_recorded(job, children) for job in self._records.all(LOCAL)}
        deleted = [job for id, job in children.items() if id not in found]  # the folder was deleted
        return [*deleted, *found.values()]

    def get(self, id: str) -> Job | None:
        children = list(self._children)
        job = self._records.get(id)
        return _until_recorded(job, children) if job else None

    def log(self, id: str) -> str | None:
        try:
            return self._records.log_file(id).read_text("utf-8", "replace")
        except OSError:
            return None

    def cancel(self, id: str) -> bool:
        job = self._records.get(id)
        if job is None or job.pid is None or not job.active or not is_running(job.pid, job.born):
            return False
        with suppress(RunnerRefused):
            if job.kind != CRAWL:
                self._records.end(job, "cancelled", None, None, self._now())
            else:
                self._records.save(replace(job, cancelling=True))
        return end_process(job.pid, gently=job.kind == CRAWL)

    def force_stop(self) -> None:
        """Interrupt crawls a second time: they exit at once, and their pending requests stay queued."""
        for child in list(self._children.values()):
            if child.process.poll() is None:
                end_process(child.process.pid, gently=True)

    def close(self, patience: float = STOP_PATIENCE) -> None:
        """Stop the jobs started here, within ``patience`` seconds; later ones are refused."""
        with self._lock:
            self._closed = True
            children = list(self._children.values())
        for child in children:
            self.cancel(child.job.id)
        until = time.monotonic() + patience
        for child in children:
            child.thread.join(max(0.0, until - time.monotonic()))
            if child.thread.is_alive():
                end_process(child.process.pid, gently=False)
                child.thread.join(CHECK_INTERVAL)


def _until_recorded(job: Job, children: Collection[str]) -> Job:
    """Treat a job of this process as running until its end is recorded."""
    return replace(job, state="running") if job.ended is None and job.id in children else job


ORIGIN: Final = "portal"
RECENT: Final = timedelta(days=1)  # how long a finished job is shown on the page that started it
LISTED: Final = 100  # newest jobs listed


class Busy(NewsportalError):
    """Raised by :meth:`Jobs.start` while another job of the portal is running. The caller shows that job."""

    def __init__(self, running: Job) -> None:
        super().__init__(f"{running.kind} of {running.subject} is in progress; only one job runs at a time")
        self.running = running


class Jobs:
    """Jobs of the portal, one at a time; ``runner`` finds and cancels them. Thread-safe. ``folder``: records of jobs (``None``: temporary);
    ``sources``: the file for the commands; ``now``: the clock; ``program``: the command line of newsportal."""

    def __init__(
        self, folder: Path | None, sources: Path | None, now: Callable[[], datetime], program: Sequence[str] = PROGRAM
    ) -> None:  # fmt: skip
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="newsportal-jobs-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._now = now
        self._lock = threading.Lock()
        settings = {"NEWSPORTAL_SOURCES": str(sources)} if sources else {}
        self.runner = LocalRunner(Records(folder), Path(), settings, origin=ORIGIN, warn=lambda text: None, now=now, program=program)

    def start(self, kind: str, subject: str, words: Sequence[str], *, by: str = "", params: Mapping[str, str] | None = None) -> Job:
        """Start ``newsportal WORDS``; the job has failed if no process can start. ``params``: data for its page. Raises :class:`Busy`."""
        id = new_id()
        try:
            with self._lock:
                if (running := self.running()) is not None:
                    raise Busy(running)
                self.runner.start(id, JobRequest(subject, kind=kind, words=tuple(words), by=by, params=params or {}))
        except (RunnerUnavailable, RunnerRefused) as error:
            failed = Job(id, subject, "failed", kind, started=self._now(), error={"code": "not-started", "text": str(error)})
            return self.runner.get(id) or failed
        return self.runner.get(id) or Job(id, subject, kind=kind, started=self._now())

    def all(self) -> list[Job]:
        """Return the jobs of everybody on this machine, newest first."""
        return self.runner.jobs()[:LISTED]

    def running(self) -> Job | None:
        return next((job for job in self.runner.jobs() if job.active and job.origin == ORIGIN), None)

    def latest(self, kinds: Sequence[str], subject: str | None = None) -> Job | None:
        """Return the newest job of these kinds that is running or ended recently, for a subject if given."""
        found = (job for job in self.runner.jobs() if job.kind in kinds and subject in (None, job.subject))
        return next((job for job in found if job.active or (job.started and self._now() - job.started < RECENT)), None)
