"""``/monitor/system``: memory, disk and files, requests, and the last lines of the logs, limited in size and without secrets."""

import logging
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.items.report import Run
from newsportal.portal.access import WATCH
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.language import _
from newsportal.portal.monitor.process_metrics import Meter, measure_machine
from newsportal.portal.render import render
from newsportal.services.jobs.records import Records, job_of
from newsportal.sources.uris import mask
from newsportal.text import clean

MAX_LINES: Final = 1000  # lines of the portal's own log: some days of warnings, at most a megabyte
MAX_LINE: Final = 1000  # characters of a line
TAIL_BYTES: Final = 256 * 1024  # bytes read from the end of a file
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

HEADERS: Final = re.compile(r"(?i)\b((?:authorization|cookie|set-cookie|x-api-key)['\"]?\s*[:=]\s*).*")
TOKENS: Final = re.compile(r"\bnp_[A-Za-z0-9_-]{8,}|\bbot\d{5,}:[A-Za-z0-9_-]{10,}|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}")
NAMED: Final = re.compile(r"(?i)\b((?:password|passwd|pwd|secret|token|api_?key|signature)['\"]?\s*[:=]\s*['\"]?)[^\s'\"&,;)]+")
HOOKS: Final = re.compile(r"(/(?:hook|webhook|services|robot)s?/)[^\s/?'\"]{6,}[^\s?'\"]*")

SCRAPY: Final = re.compile(r"(?P<at>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)\S* \[(?P<name>[\w.-]{1,80})\] (?P<level>[A-Z]{4,8}): (?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log. ``at`` ``None``: it continues the previous one (a traceback). ``from_`` is the logger."""

    at: datetime | None
    level: str
    from_: str
    text: str


class LogBuffer(logging.Handler):
    """Keeps the last log lines of this process."""

    def __init__(self, limit: int = MAX_LINES) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[Line] = deque(maxlen=limit)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text} ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        moment = datetime.fromtimestamp(record.created, UTC)
        self._lines.append(Line(moment, record.levelname if record.levelname in LEVELS else "INFO", record.name, redact(text)))

    def lines(self) -> list[Line]:
        """Return the lines, earliest first."""
        return list(self._lines)


def redact(text: str) -> str:
    """Return the text as one line without passwords, tokens, cookies, keys of webhooks, and control characters of terminals."""
    text = mask(clean(text))[: MAX_LINE * 2]
    text = HEADERS.sub(r"\g<1>***", text)
    text = TOKENS.sub("***", text)
    text = NAMED.sub(r"\g<1>***", text)
    return HOOKS.sub(r"\g<1>***", text)[:MAX_LINE]


def read_tail(file: Path, limit: int = MAX_LINES) -> list[Line]:
    """Return the last lines of a crawl's log, earliest first. Raises ``OSError``."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - TAIL_BYTES))
        raw = stream.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
    return list(_lines(raw[1:] if size > TAIL_BYTES else raw))[-limit:]


def _lines(raw: list[str]) -> Iterator[Line]:
    level = "INFO"
    for text in raw:
        if match := SCRAPY.match(text):
            level = match["level"] if match["level"] in LEVELS else "INFO"
            yield Line(datetime.fromisoformat(match["at"]).astimezone(), level, match["name"], redact(match["text"]))
        elif text.strip():
            yield Line(None, level, "", redact(text))


def find_lines(lines: list[Line], level: str | None, words: str | None, limit: int) -> list[Line]:
    """Return the last lines of at least ``level`` that contain ``words``, latest first."""
    least = LEVELS.index(level) if level in LEVELS else 0
    text = (words or "").lower()
    matching = [line for line in lines if LEVELS.index(line.level) >= least and text in f"{line.from_} {line.text}".lower()]
    return list(reversed(matching[-limit:]))


router = APIRouter(dependencies=WATCH)

SHOWN: Final = 200  # lines
LOGS: Final = 10  # the latest log files of crawls that may be chosen
JOB: Final = re.compile(r"[A-Za-z0-9][\w-]{0,79}")  # valid job names; they cannot name another folder

PARTS: Final = {
    "store": _("Store"),
    "index": _("Search index"),
    "accounts": _("Accounts"),
    "queue": _("Queue of requests"),
    "known": _("Filter of known URLs"),
    "archive": _("Archive"),
}

LINKS: Final = {
    "/monitor": _("Articles collected"),
    "/monitor/crawls": _("Crawl results"),
    "/monitor/failures": _("Why pages failed"),
    "/monitor/queues": _("Workers and queues"),
    "/monitor/reading": _("Readership"),
    "/monitor/system": _("Machine and log"),
}


def monitor_links(visit: Visit) -> dict[str, str]:
    """Return path → name of the monitor's pages of this portal."""
    return {path: visit.say(name) for path, name in LINKS.items() if path != "/monitor/queues" or visit.portal.queues is not None}


@router.get("/monitor/system")
def system(request: Request, visit: VisitDep) -> Response:
    meter: Meter = request.app.state.meter
    minutes, mark = meter.minutes(), visit.portal.config.backup_mark
    return render(
        request, "system.html", current_path="/monitor/system", links=monitor_links(visit), machine=measure_machine(visit.portal.config),
        parts={name: visit.say(text) for name, text in PARTS.items()}, minutes=[sum(minute.values()) for minute in minutes],
        kinds={kind: sum(minute.get(kind, 0) for minute in minutes) for kind in sorted({kind for minute in minutes for kind in minute})},
        last_backup=datetime.fromtimestamp(mark.stat().st_mtime, UTC) if mark.exists() else None, **log_of(request, visit),
    )  # fmt: skip


@router.get("/monitor/log")
def log(request: Request) -> Response:
    """The fragment that the page polls; without scripts the page itself is reloaded."""
    return render(request, "parts/log.html", **log_of(request, Visit(request)))


def log_of(request: Request, visit: Visit) -> dict[str, Any]:
    level, words = visit.text("level", 10), visit.text("words", 100)
    file, failed = log_file(visit.portal, visit.text("file", 100)), False
    log_buffer: LogBuffer = request.app.state.log_buffer
    lines: list[Line] = []
    try:
        lines = read_tail(file) if file is not None else log_buffer.lines()
    except OSError:  # deleted meanwhile
        failed = True
    labels = {path.stem: log_label(visit, path) for path in dict.fromkeys((*log_files(visit.portal), *((file,) if file else ())))}
    query = {"level": level if level in LEVELS else None, "words": words, "file": file.stem if file else None}
    return {"lines": find_lines(lines, query["level"], words, SHOWN), "levels": LEVELS, "files": labels, "query": query, "failed": failed}


def run_log(visit: Visit, run: Run) -> dict[str, Any]:
    lines = run_lines(visit.portal, run)
    if lines is None:
        return {"query": None}
    return {"query": {"file": job_of(run)}, "lines": find_lines(lines, None, None, SHOWN), "failed": False}


def run_lines(portal: Portal, run: Run) -> list[Line] | None:
    """Return the end of a crawl's log, earliest line first; ``None`` if there is none on this machine."""
    file = log_file(portal, job_of(run))
    try:
        return read_tail(file) if file is not None else None
    except OSError:
        return None


def log_files(portal: Portal) -> list[Path]:
    """Return the logs that crawls write beside the store (``newsportal up`` and ``schedule``), latest first."""
    try:
        files = [(file.stat().st_mtime, file) for file in portal.config.jobs_folder.glob("*.log")]
    except OSError:
        return []
    return [file for _, file in sorted(files, reverse=True)[:LOGS]]


def log_file(portal: Portal, name: str | None) -> Path | None:
    """Return the log of this job; ``None`` if there is none or the name is invalid."""
    if name is None or not JOB.fullmatch(name):
        return None
    file = portal.config.jobs_folder / f"{name}.log"
    return file if file.is_file() else None


def log_label(visit: Visit, file: Path) -> str:
    """Return the start and subject of the crawl that wrote the log; only the job's id if it is not recorded."""
    record = Records(file.parent).get(file.stem)
    if record is None:
        return file.stem
    began = visit.clock.full(record.started) if record.started else None
    return " ".join(filter(None, (began, record.subject or record.kind, file.stem)))
