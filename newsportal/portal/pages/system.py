"""``/monitor/system``: memory, disk and files, how many requests come, and the last lines of the logs; ``/monitor/log`` are these alone."""

from __future__ import annotations

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

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN: Final = 200
"""Lines."""

LOGS: Final = 10
"""Files of crawls that may be chosen, the latest."""

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
    files = {file.stem: file for file in log_files(visit.portal)}
    level, words, name = visit.text("level", 10), visit.text("words", 100), visit.text("file", 100)
    failed = False
    lines: list[Line] = []
    if name in files:
        try:
            lines = tail(files[name])
        except OSError:  # it was let go meanwhile
            failed = True
    else:
        name = None
        ring: Ring | None = request.app.state.ring
        lines = ring.lines() if ring is not None else []
    shown = {"level": level if level in LEVELS else None, "words": words, "file": name}
    return {"lines": chosen(lines, shown["level"], words, SHOWN), "levels": LEVELS, "files": list(files), "wanted": shown, "failed": failed}


def log_files(portal: Portal) -> list[Path]:
    """The logs that crawls write beside the store (``newsportal schedule``), the latest first. None is named by who asks."""
    folder = jobs_folder(portal)
    try:
        found = [(file.stat().st_mtime, file) for file in folder.glob("*.log")] if folder is not None else []
    except OSError:
        return []
    return [file for _, file in sorted(found, reverse=True)[:LOGS]]


def jobs_folder(portal: Portal) -> Path | None:
    """As ``newsportal schedule`` has it."""
    known = portal.known
    if known is None:
        return None
    return (known.known_file.parent if known.known_file else known.folder / "data") / "jobs"
