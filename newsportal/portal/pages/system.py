"""``/monitor/system``: memory, disk and files, how many requests come, and the last lines of the logs; ``/monitor/log`` are these alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.context import Portal, Visit
from newsportal.portal.language import _
from newsportal.portal.logs import LEVELS, Line, Ring, chosen, tail
from newsportal.portal.machine import machine
from newsportal.portal.measuring import Meter
from newsportal.portal.render import render
from newsportal.report import Run
from newsportal.services.jobs.records import Records, job_of

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN: Final = 200
"""Lines."""

LOGS: Final = 10
"""Files of crawls that may be chosen, the latest."""

JOB: Final = re.compile(r"[A-Za-z0-9][\w-]{0,79}")
"""How a job may be called: no name that leads elsewhere."""

PARTS: Final = {
    "store": _("Store"),
    "index": _("Search index"),
    "accounts": _("Accounts"),
    "queue": _("Queue of requests"),
    "known": _("Filter of known addresses"),
    "archive": _("Archive"),
}


@router.get("/monitor/system")
def system(request: Request) -> Response:
    visit = Visit(request)
    meter: Meter = request.app.state.meter
    minutes = meter.minutes()
    said = visit.clock.words.gettext
    return render(
        request,
        "system.html",
        machine=machine(visit.portal.known),
        parts={name: said(text) for name, text in PARTS.items()},
        minutes=[sum(one.values()) for one in minutes],
        kinds={kind: sum(one.get(kind, 0) for one in minutes) for kind in sorted({kind for one in minutes for kind in one})},
        **log_of(request, visit),
    )


@router.get("/monitor/log")
def log(request: Request) -> Response:
    """What the page polls; without a script the page itself is loaded anew."""
    return render(request, "parts/log.html", **log_of(request, Visit(request)))


def log_of(request: Request, visit: Visit) -> dict[str, Any]:
    files = log_files(visit.portal)
    level, words, name = visit.text("level", 10), visit.text("words", 100), visit.text("file", 100)
    chosen_file = log_file(visit.portal, name)
    failed = False
    lines: list[Line] = []
    if chosen_file is not None:
        try:
            lines = tail(chosen_file)
        except OSError:  # it was let go meanwhile
            failed = True
    else:
        name = None
        ring: Ring | None = request.app.state.ring
        lines = ring.lines() if ring is not None else []
    labels = {file.stem: label(visit, file) for file in dict.fromkeys((*files, *((chosen_file,) if chosen_file else ())))}
    shown = {"level": level if level in LEVELS else None, "words": words, "file": name}
    return {"lines": chosen(lines, shown["level"], words, SHOWN), "levels": LEVELS, "files": labels, "wanted": shown, "failed": failed}


def run_log(visit: Visit, run: Run) -> dict[str, Any]:
    """The end of a crawl's log, where it wrote one on this machine."""
    name = job_of(run)
    file = log_file(visit.portal, name)
    if file is None:
        return {"wanted": None}
    try:
        lines = tail(file)
    except OSError:
        return {"wanted": None}
    return {"wanted": {"file": name}, "lines": chosen(lines, None, None, SHOWN), "failed": False}


def log_files(portal: Portal) -> list[Path]:
    """The logs that crawls write beside the store (``newsportal up`` and ``schedule``), the latest first."""
    folder = portal.known.jobs_folder if portal.known is not None else None
    try:
        found = [(file.stat().st_mtime, file) for file in folder.glob("*.log")] if folder is not None else []
    except OSError:
        return []
    return [file for _, file in sorted(found, reverse=True)[:LOGS]]


def log_file(portal: Portal, name: str | None) -> Path | None:
    """The log of this job; none for what names no job."""
    if portal.known is None or name is None or not JOB.fullmatch(name):
        return None
    file = portal.known.jobs_folder / f"{name}.log"
    return file if file.is_file() else None


def label(visit: Visit, file: Path) -> str:
    """When the crawl began whose log it is, and what it visits; the job's id where no more is known."""
    record = Records(file.parent).get(file.stem)
    if record is None:
        return file.stem
    began = visit.clock.full(record.started) if record.started else None
    return " ".join(filter(None, (began, record.subject or record.kind, file.stem)))
