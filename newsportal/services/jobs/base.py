"""Jobs and the interface of runners. The id of a crawl's job is the ``NEWSPORTAL_RUN_ID`` of its run, by which its report is found.

The process of a job lowers its priority, and writes progress and errors as JSON lines.
"""

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

State = Literal["waiting", "running", "done", "failed", "cancelled", "lost"]  # `lost`: the process has ended with unknown result

Row = Mapping[str, Any]

CRAWL: Final = "crawl"
LOCAL: Final = "local"  # the runner of this machine
ID_BYTES: Final = 4  # thousands of jobs are recorded; two with the same id differ in their times


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job to start: spider ``subject`` over ``sources`` (none: all that are due), or ``newsportal WORDS``. ``limit``: maximum seconds.
    ``silence``: seconds without output in its log after which it counts as hung."""

    subject: str = ""
    sources: tuple[str, ...] = ()
    kind: str = CRAWL
    words: tuple[str, ...] = ()
    limit: float | None = None
    silence: float | None = None
    by: str = ""
    params: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, str]:
        """Return the arguments of the spider, which checks again whether a source is due: another process may have visited it meanwhile."""
        return {"due": "1"} | ({"sources": json.dumps(self.sources, ensure_ascii=False)} if self.sources else {})


@dataclass(frozen=True, slots=True)
class Job:
    """A job. ``sources``: the keys it visits; ``None``: unknown. ``origin``: who started it. ``pid``, ``born`` and ``host`` identify its
    process. ``outcome``: JSON rows; ``error`` (code and text): why it failed; ``progress``: 0 to 1; ``step``: the current step."""

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
    """Interface of runners. Raises ``RunnerUnavailable`` if it is not reachable (retry later), ``RunnerRefused`` if it rejects a call."""

    @property
    def where(self) -> str:
        """Name of the runner for display."""

    def start(self, id: str, request: JobRequest) -> None:
        """Start or queue a job. Idempotent: after ``RunnerUnavailable``, retry with the same id."""

    def jobs(self) -> list[Job]:
        """Return all known jobs, including those started by others, newest first."""

    def log(self, id: str) -> str | None:
        """Return the log of a job; ``None`` if there is no such job or log."""

    def cancel(self, id: str) -> bool:
        """Stop a job. A crawl stores its pending items, and exits at once on the second call. Return False if it is not running."""

    def force_stop(self) -> None:
        """Make the jobs that :meth:`close` waits for exit at once. Called from a signal handler."""

    def close(self) -> None:
        """Stop the jobs that cannot run without this process."""


def new_id() -> str:
    return token_hex(ID_BYTES)


VARIABLE: Final = "NEWSPORTAL_JOB"  # environment variable of jobs, whose standard output is read by `records`
NICENESS: Final = 15  # niceness (of 19): a portal and a crawl on the same machine have priority
STEP: Final = 0.005  # minimum step of reported progress


def in_job() -> bool:
    return bool(os.environ.get(VARIABLE))


def report(event: str, **facts: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def progress_reporter() -> Callable[[float, str], None] | None:
    """Return a function that reports the completed share and the current step; ``None`` outside a job."""
    if not in_job():
        return None
    last: list[tuple[float, str]] = [(-1.0, "")]

    def tell(share: float, step: str) -> None:
        if step != last[0][1] or abs(share - last[0][0]) >= STEP:
            last[0] = (share, step)
            report("progress", share=round(share, 4), step=step)

    return tell


def run_as_job(command: Callable[[], Any]) -> None:
    """Run a command, report its result, and exit. ``command`` must not catch errors to format them for a terminal."""
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
