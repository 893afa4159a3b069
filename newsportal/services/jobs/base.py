"""Jobs and who runs them. A job of a crawl has the ``NEWSPORTAL_RUN_ID`` of its run as its id, so that its report is found in the store.

The process that is a job leaves the processor to others, and writes progress and errors as lines of JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_hex
from typing import Any, Final, Literal, Protocol

from newsportal.errors import NewsportalError

State = Literal["waiting", "running", "done", "failed", "cancelled", "lost"]  # `lost`: the process is gone, and nobody saw how it ended

Row = Mapping[str, Any]

CRAWL: Final = "crawl"
LOCAL: Final = "local"  # the kind of jobs that run spiders, and the runner of this machine
ID_BYTES: Final = 4  # thousands of jobs are recorded; two with one id are told apart by their moments


@dataclass(frozen=True, slots=True)
class Wanted:
    """A job to start: spider ``subject`` over ``sources`` (none: all that are due), or ``newsportal WORDS``.

    ``limit``: seconds that it may take. ``silence``: seconds without a line in its log after which it counts as hung.
    """

    subject: str = ""
    sources: tuple[str, ...] = ()
    kind: str = CRAWL
    words: tuple[str, ...] = ()
    limit: float | None = None
    silence: float | None = None
    by: str = ""
    params: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, str]:
        """Arguments of the spider, which checks again whether a source is due: another process may have visited it meanwhile."""
        chosen = {"sources": json.dumps(self.sources, ensure_ascii=False)} if self.sources else {}
        return {"due": "1", **chosen}


@dataclass(frozen=True, slots=True)
class Job:
    """``sources``: the keys it visits; ``None``: not known. ``origin``: who started it. ``pid``, ``born`` and ``host`` name its process.

    ``outcome`` are rows of JSON, ``error`` (code and text) says why it failed; ``progress`` is 0 to 1, ``step`` what is under way.
    """

    id: str
    subject: str = ""
    state: State = "running"
    kind: str = CRAWL
    sources: tuple[str, ...] | None = None
    started: datetime | None = None
    ended: datetime | None = None
    status: int | None = None
    runner: str = LOCAL
    origin: str = ""
    by: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    cancelling: bool = False
    pid: int | None = None
    born: str | None = None
    host: str = ""
    progress: float = 0.0
    step: str = ""
    outcome: tuple[Row, ...] = ()
    error: Row | None = None

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")


class Runner(Protocol):
    """Raises ``RunnerUnavailable`` where it cannot be reached: nothing is lost, ask again; ``RunnerRefused`` for what it will not do."""

    @property
    def where(self) -> str:
        """For people: which runner it is."""

    def start(self, id: str, wanted: Wanted) -> None:
        """Start a job, or let it wait for its turn. May be repeated with the same id after ``RunnerUnavailable``: it starts once."""

    def jobs(self) -> list[Job]:
        """All it knows of, also those that others started, the newest first."""

    def log(self, id: str) -> str | None:
        """What the job logged so far; ``None`` if there is no such job, or its log is gone."""

    def cancel(self, id: str) -> bool:
        """End a job. A crawl stores what it has in hand, and ends at once when asked a second time. False: it does not run."""

    def hasten(self) -> None:
        """Jobs that :meth:`close` waits for end at once. Called from a signal handler."""

    def close(self) -> None:
        """End the jobs that do not go on without this process."""


def new_id() -> str:
    return token_hex(ID_BYTES)


VARIABLE: Final = "NEWSPORTAL_JOB"  # the environment variable under which a command is a job whose standard output is read by `records`
NICENESS: Final = 15  # steps of niceness (of 19): a portal and a crawl on the same machine go first
STEP: Final = 0.005  # smaller steps of progress are not reported


def in_job() -> bool:
    return bool(os.environ.get(VARIABLE))


def report(event: str, **facts: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def progress_reporter() -> Callable[[float, str], None] | None:
    """Reports the share that is done and the step under way; ``None`` outside of a job."""
    if not in_job():
        return None
    last: list[tuple[float, str]] = [(-1.0, "")]

    def tell(share: float, step: str) -> None:
        if step != last[0][1] or abs(share - last[0][0]) >= STEP:
            last[0] = (share, step)
            report("progress", share=round(share, 4), step=step)

    return tell


def run_as_job(command: Callable[[], Any]) -> None:
    """Run a command, report how it ended, and exit. ``command`` raises what it raises: nothing is formatted for a terminal."""
    os.nice(NICENESS)
    try:
        status = command()
    except Exception as error:
        name = type(error).__name__
        usage = getattr(error, "format_message", None)
        if not isinstance(error, NewsportalError) and usage is None:
            traceback.print_exc()
        text = usage() if usage else str(error) if isinstance(error, NewsportalError) else f"{name}: {error}"
        report("failed", error={"code": re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(), "text": text})
        raise SystemExit(getattr(error, "exit_code", 1)) from error
    if isinstance(status, int) and status:
        report("failed", error={"code": "exit-status", "text": f"status {status}"})
        raise SystemExit(status)
    report("done")
