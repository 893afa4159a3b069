"""Records of jobs, whoever started them: a JSON file per job, next to its log and the reports of its running process.

A process reports JSON lines: ``{"event": "progress", "share": 0.5, "step": "fit"}``, ``{"event": "failed", "error": {...}}`` and
``{"event": "done"}``; every other object is a row of its outcome. When it has ended, they are merged into the record.
"""

import json
import os
import platform
import signal
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from newsportal.errors import RunnerRefused
from newsportal.items.report import Run, merge_runs, reasons
from newsportal.services.jobs.base import LOCAL, Job, Row, State
from newsportal.sources.editing import replace_file
from newsportal.store.store import Store

KEPT: Final = 500  # jobs whose records and logs are kept: some days of a portal with a few jobs an hour
MAX_LOG_BYTES: Final = 8 * 1024 * 1024  # bytes of one log: a crawl of 5,000 sources writes some 2 MB, so a longer log is repetitive
TAIL: Final = 1024 * 1024  # bytes kept at the end of a longer log
MAX_ALL_LOG_BYTES: Final = 256 * 1024 * 1024  # bytes of all logs; the oldest are deleted first
ROWS: Final = 1000  # rows kept of an outcome
ELSEWHERE: Final = timedelta(hours=6)
"""How long a job of another host (a container on the same volume) counts as running: its process is not visible from here."""

JOB: Final = TypeAdapter(Job)
CUT: Final = b"... earlier lines of this log were deleted\n"


class Records:
    """The records in a folder. Raises ``RunnerRefused`` if it is not writable; jobs are then remembered in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unsaved: dict[str, Job] = {}
        self._read: dict[str, tuple[tuple[int, int, int], Job]] = {}

    def save(self, job: Job) -> Job:
        """Write a record atomically."""
        self._unsaved[job.id] = job
        self._read.pop(job.id, None)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._file(job.id), JOB.dump_json(job))
        except OSError as error:
            raise self._unwritable(error) from error
        self._unsaved.pop(job.id, None)
        return job

    def get(self, id: str) -> Job | None:
        """Return the current state of a job; ``None`` if it is not recorded."""
        job = self._unsaved.get(id) or self._load(self._file(id))
        return self._present(job) if job else None

    def all(self, runner: str | None = None) -> list[Job]:
        """Return the jobs of one runner or of all, newest first."""
        unsaved = dict(self._unsaved)  # first: what is saved from now on is in the files
        found = {job.id: job for file in self.folder.glob("*.json") if (job := self._load(file))} | unsaved
        rows = (self._present(job) for job in list(found.values()) if runner in (None, job.runner))
        return sorted(rows, key=lambda job: (job.started or datetime.max.replace(tzinfo=UTC), job.active), reverse=True)

    def end(self, job: Job, state: State, status: int | None, error: Row | None, now: datetime) -> Job:
        job = self.with_reports(job)
        if state == "failed":
            error = job.error or error
        saved = self.save(replace(job, state=state, status=status, error=error if state == "failed" else None, ended=now))
        with suppress(OSError):
            self.report_file(job.id).unlink(missing_ok=True)
        return saved

    def with_reports(self, job: Job) -> Job:
        try:
            lines = self.report_file(job.id).read_text("utf-8", "replace").splitlines()
        except OSError:
            return job
        rows: list[Row] = list(job.outcome)
        changes: dict[str, Any] = {}
        for row in map(_row, lines):
            event = row.get("event")
            if event == "progress":
                changes |= {"progress": float(row.get("share", 0)), "step": str(row.get("step", ""))}
            elif event == "failed":
                changes["error"] = row.get("error")
            elif event == "done":
                changes["state"] = "done"
            elif row and len(rows) < ROWS:
                rows.append(row)
        return replace(job, outcome=tuple(rows), **changes)

    def log_file(self, id: str) -> Path:
        return self.folder / f"{id}.log"

    def report_file(self, id: str) -> Path:
        return self.folder / f"{id}.report"

    def truncate_log(self, id: str, max_bytes: int = MAX_LOG_BYTES, keep: int = TAIL) -> int:
        """Truncate a log that is too long while it is being written; return its size. Lines written at that moment may be lost."""
        try:
            with self.log_file(id).open("r+b") as log:
                size = log.seek(0, os.SEEK_END)
                if size <= max_bytes:
                    return size
                log.seek(size - keep)
                last = log.read(keep).partition(b"\n")[2]
                log.truncate(0)
                log.seek(0)
                return log.write(CUT + last)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._unwritable(error) from error

    def prune(self, keep: int = KEPT, max_bytes: int = MAX_ALL_LOG_BYTES) -> None:
        """Delete the oldest records, and logs of finished jobs if all logs have more than ``max_bytes`` bytes."""
        remaining = max_bytes
        try:
            for place, job in enumerate(self.all()):
                log = self.log_file(job.id)
                remaining -= log.stat().st_size if log.exists() else 0
                if job.active and (place < keep or job.runner == LOCAL):
                    continue
                if place >= keep:
                    self._read.pop(job.id, None)
                    self._file(job.id).unlink(missing_ok=True)
                    self.report_file(job.id).unlink(missing_ok=True)
                if place >= keep or remaining < 0:
                    log.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def _present(self, job: Job) -> Job:
        """Return the current state: a local job whose process no longer exists has ended, even if that was not recorded."""
        if job.runner != LOCAL or not job.active:
            return job
        job = self.with_reports(job)
        if job.host not in ("", platform.node()):
            runs = job.started is not None and datetime.now(UTC) - job.started < ELSEWHERE
        else:
            runs = job.pid is not None and is_running(job.pid, job.born)
        if runs:
            return replace(job, state="running")
        return replace(job, state="failed" if job.error else job.state if job.state == "done" else "lost")

    def _unwritable(self, error: OSError) -> RunnerRefused:
        return RunnerRefused(f"{self.folder} cannot be written: {error.strerror or error}; job records are stored there")

    def _file(self, id: str) -> Path:
        return self.folder / f"{id}.json"

    def _load(self, file: Path) -> Job | None:
        """Read a record, cached until the file changes; ``None`` if deleted meanwhile or invalid."""
        try:
            stamp = ((found := file.stat()).st_mtime_ns, found.st_size, found.st_ino)
            if (entry := self._read.get(file.stem)) is None or entry[0] != stamp:
                entry = self._read[file.stem] = (stamp, JOB.validate_json(file.read_bytes()))
            return entry[1]
        except (OSError, ValueError):
            return None


def _row(line: str) -> dict[str, Any]:
    """Parse a JSON line; an invalid or incomplete one is empty."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


STARTED = 19  # index of the start time in `/proc/PID/stat`, counted from the end of its name (proc(5): the 22nd field)


def process_start(pid: int) -> str | None:
    """Return the start time of a process as given by the kernel; ``None`` if it does not exist, has ended, or the system has none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[STARTED] if len(fields) > STARTED and fields[0] != "Z" else None


def is_running(pid: int, since: str | None) -> bool:
    """Return whether the process with this start time is still running; if the system has no start times, any with this pid."""
    if since is not None:
        return process_start(pid) == since
    try:
        with suppress(PermissionError):  # another user's process
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def end_process(pid: int, *, gently: bool) -> bool:
    """Interrupt a process, as Ctrl-C does, or kill it with its children. Return False if it does not exist."""
    try:
        if gently:
            os.kill(pid, signal.SIGINT)
        else:
            os.killpg(pid, signal.SIGKILL)  # it leads its own session
    except (ProcessLookupError, PermissionError):
        return False
    return True


RUNS: Final = 500  # run reports searched for those of jobs: as many as jobs are recorded
LATEST: Final = 100  # run reports searched first, for recently ended jobs
REASONS: Final = 50  # lines on failing sources in an outcome


def job_of(run: Run) -> str:
    """Return the id of the job of a run: ``20260305-083000-JOB-rss``."""
    return run.id.split("-", 2)[-1].rsplit("-", 1)[0]


def reports(store: Store, ids: Collection[str] | None = None) -> dict[str, Run]:
    """Return the run reports by job id, merging those of several spiders. ``ids``: restrict to these. Raises ``StoreError``."""
    for limit in (LATEST, RUNS) if ids is not None else (RUNS,):
        runs = store.runs(limit)
        found: dict[str, list[Run]] = {}
        for run in reversed(runs):
            found.setdefault(job_of(run), []).append(run)
        if ids is None or set(ids) <= found.keys() or len(runs) < limit:
            break
    return {id: merge_runs(runs) for id, runs in found.items() if ids is None or id in ids}


def outcome_of(run: Run) -> dict[str, Any]:
    total = run.total
    counts = {name: getattr(total, name) for name in ("stored", "folded", "known", "failures", "left")}
    lists = {"list_failures": sum(total.list_failed.values()), "sources": len(run.sources), "reasons": reasons(run)[:REASONS]}
    return {"run": run.id, "reason": run.reason, "finished": run.ended is not None, **counts, **lists}


def with_outcome(job: Job, run: Run | None) -> Job:
    """Return a crawl with the outcome in its report, if there is one."""
    return job if run is None else replace(job, outcome=(outcome_of(run),), ended=job.ended or (None if job.active else run.ended))
