"""The side of the process that is a job: it leaves the processor to others, and writes progress and errors as lines of JSON."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

from newsportal.errors import NewsportalError

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
