"""Long work that a portal starts beside itself: a newsportal command as a process of its own, one at a time, that can be ended.

A process, since learning takes the whole of one processor and a gigabyte: readers of the portal do not wait for it, and ending it ends it.
It tells how far it is on standard error (:func:`teller`), and what became of it in lines of JSON on standard output.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, Literal

from newsportal.errors import NewsportalError

TELL: Final = "NEWSPORTAL_TELL"
"""The environment variable under which a command tells its progress in lines of JSON, and leaves the processor to others."""

GENTLY: Final = 15
"""Steps of niceness (of 19): a portal and a crawl on the same machine go first."""

NAMES: Final = "--"
"""Among the words of a command: what follows are names, which people made up; none of them is an option, however it begins."""

KEPT: Final = 20
"""Jobs that are remembered, the newest."""

ROWS: Final = 1000
"""Lines of a job's outcome that are kept."""

STEP: Final = 0.005
"""A share that is told: smaller steps nobody sees."""

PROGRAM: Final = (sys.executable, "-m", "newsportal")

FRAME: Final = " \t\r\n╭╮╰╯│─"
"""What stands around the words of a command that says what is wrong."""

State = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work: ``share`` (0 to 1) is done, ``what`` is under way. ``rows`` is its outcome, ``failure`` why it has none."""

    id: str
    kind: str
    thing: str
    by: str
    begun: datetime
    state: State = "running"
    share: float = 0.0
    what: str = ""
    ended: datetime | None = None
    rows: tuple[Mapping[str, Any], ...] = ()
    failure: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


class Busy(NewsportalError):
    """Raised by :meth:`Jobs.start` while another job runs, which it names. The caller shows that one."""

    def __init__(self, running: Job) -> None:
        super().__init__(f"{running.kind} of {running.thing} is under way; one job runs at a time")
        self.running = running


class Jobs:
    """Shared between threads. ``sources`` is the file that the commands read; ``now`` the clock; ``program`` what understands them."""

    def __init__(self, sources: Path | None, now: Callable[[], datetime], program: Sequence[str] = PROGRAM) -> None:
        self._sources, self._now, self._program = sources, now, program
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._child: subprocess.Popen[str] | None = None

    def start(self, kind: str, thing: str, words: Sequence[str], *, by: str = "", values: Mapping[str, str] | None = None) -> Job:
        """Begin ``newsportal WORDS``; where the machine starts no process the job has failed. ``values`` are what the page that shows it
        wants to know later. Raises :class:`Busy`."""
        with self._lock:
            if (running := self._running()) is not None:
                raise Busy(running)
            job = Job(secrets.token_hex(6), kind, thing, by, self._now(), values=dict(values or {}))
            self._jobs[job.id] = job
            for old in list(self._jobs)[:-KEPT]:
                del self._jobs[old]
            try:
                self._child = child = self._started(words)
            except OSError as error:  # no memory, no room for a process
                self._jobs[job.id] = replace(job, state="failed", ended=self._now(), failure=error.strerror or str(error))
                return self._jobs[job.id]
        threading.Thread(target=self._watch, args=(job.id, child), daemon=True, name=f"job {kind}").start()
        return job

    def _started(self, words: Sequence[str]) -> subprocess.Popen[str]:
        place = words.index(NAMES) if NAMES in words else len(words)
        options = ("--sources", str(self._sources)) if self._sources else ()
        return subprocess.Popen(
            [*self._program, *words[:place], *options, *words[place:]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
            start_new_session=True, env={**os.environ, TELL: "1", "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip

    def find(self, id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(id)

    def all(self) -> list[Job]:
        """The newest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def running(self) -> Job | None:
        with self._lock:
            return self._running()

    def latest(self, kind: str, thing: str | None = None) -> Job | None:
        """The newest of a kind, about a thing if one is named."""
        return next((job for job in self.all() if job.kind == kind and thing in (None, job.thing)), None)

    def cancel(self, id: str) -> bool:
        """End a job that runs; what it has not finished is not kept. Answers whether it ran."""
        with self._lock:
            job = self._jobs.get(id)
            if job is None or job.state != "running":
                return False
            self._jobs[id] = replace(job, state="cancelled", ended=self._now())
            if self._child is not None:
                _kill(self._child)
            return True

    def stop(self) -> None:
        """End what runs: the portal ends."""
        running = self.running()
        if running is not None:
            self.cancel(running.id)

    def _running(self) -> Job | None:
        return next((job for job in self._jobs.values() if job.state == "running"), None)

    def _watch(self, id: str, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        rows: list[Mapping[str, Any]] = []
        reader = threading.Thread(target=_read_rows, args=(child.stdout, rows), daemon=True)
        reader.start()
        last = ""
        for line in child.stderr:
            told = _told(line)
            if told is None:
                last = line.strip(FRAME) or last
            else:
                self._change(id, share=told[0], what=told[1])
        reader.join()
        status = child.wait()
        child.stdout.close()
        child.stderr.close()
        if status:
            self._end(id, "failed", rows, last or f"status {status}")
        else:
            self._end(id, "done", rows, None)

    def _end(self, id: str, state: State, rows: Sequence[Mapping[str, Any]], failure: str | None) -> None:
        with self._lock:
            job = self._jobs.get(id)
            if job is not None and job.state == "running":
                self._jobs[id] = replace(job, state=state, ended=self._now(), rows=tuple(rows), failure=failure)

    def _change(self, id: str, **values: Any) -> None:
        with self._lock:
            job = self._jobs.get(id)
            if job is not None and job.state == "running":
                self._jobs[id] = replace(job, **values)


def _kill(child: subprocess.Popen[str]) -> None:
    """The process and those that it has started: its session is its own."""
    if child.poll() is None:
        with suppress(ProcessLookupError):  # it has ended just now
            os.killpg(child.pid, signal.SIGKILL)


def _read_rows(stream: IO[str], rows: list[Mapping[str, Any]]) -> None:
    for line in stream:
        try:
            row = json.loads(line)
        except ValueError:
            row = {"said": line.strip()}
        if isinstance(row, dict) and len(rows) < ROWS:
            rows.append(row)


def _told(line: str) -> tuple[float, str] | None:
    """A line of progress, or ``None`` for one of words."""
    try:
        row = json.loads(line)
        return min(1.0, max(0.0, float(row["share"]))), str(row["what"])
    except (ValueError, KeyError, TypeError):
        return None


def teller() -> Callable[[float, str], None] | None:
    """In a job: what tells its progress to the portal that started it, and from now on the processor is left to others. Else ``None``."""
    if not os.environ.get(TELL):
        return None
    os.nice(GENTLY)
    before: list[tuple[float, str]] = [(-1.0, "")]

    def tell(share: float, what: str) -> None:
        if what != before[0][1] or abs(share - before[0][0]) >= STEP:
            before[0] = (share, what)
            sys.stderr.write(json.dumps({"share": round(share, 4), "what": what}) + "\n")
            sys.stderr.flush()

    return tell
