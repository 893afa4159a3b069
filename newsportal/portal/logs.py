"""The last lines of the portal's own log, and of the files that crawls write theirs to: bounded, without secrets and control characters."""

from __future__ import annotations

import logging
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from newsportal.sources.uris import mask
from newsportal.text import clean

KEPT: Final = 1000
"""Lines of the own log: some days of warnings, at most a megabyte."""

MAX_LINE: Final = 1000
"""Characters of a line."""

TAIL: Final = 256 * 1024
"""Bytes that are read from the end of a file."""

LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

HEADERS: Final = re.compile(r"(?i)\b((?:authorization|cookie|set-cookie|x-api-key)['\"]?\s*[:=]\s*).*")
TOKENS: Final = re.compile(r"\bnp_[A-Za-z0-9_-]{8,}|\bbot\d{5,}:[A-Za-z0-9_-]{10,}|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}")
NAMED: Final = re.compile(r"(?i)\b((?:password|passwd|pwd|secret|token|api_?key|signature)['\"]?\s*[:=]\s*['\"]?)[^\s'\"&,;)]+")
HOOKS: Final = re.compile(r"(/(?:hook|webhook|services|robot)s?/)[^\s/?'\"]{6,}[^\s?'\"]*")

SCRAPY: Final = re.compile(r"(?P<at>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)\S* \[(?P<name>[\w.-]{1,80})\] (?P<level>[A-Z]{4,8}): (?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """``at`` ``None``: the line goes on from the one before (a trace). ``from_`` is who logged it."""

    at: datetime | None
    level: str
    from_: str
    text: str


class Ring(logging.Handler):
    """The last lines of this process."""

    def __init__(self, kept: int = KEPT) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[Line] = deque(maxlen=kept)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text} ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        moment = datetime.fromtimestamp(record.created, UTC)
        self._lines.append(Line(moment, record.levelname if record.levelname in LEVELS else "INFO", record.name, harmless(text)))

    def lines(self) -> list[Line]:
        """The earliest first."""
        return list(self._lines)


def harmless(text: str) -> str:
    """One line that holds no password, token, cookie or key of a webhook, and nothing that a terminal would obey."""
    text = mask(clean(text))[: MAX_LINE * 2]
    text = HEADERS.sub(r"\g<1>***", text)
    text = TOKENS.sub("***", text)
    text = NAMED.sub(r"\g<1>***", text)
    return HOOKS.sub(r"\g<1>***", text)[:MAX_LINE]


def tail(file: Path, limit: int = KEPT) -> list[Line]:
    """The last lines of a crawl's log, the earliest first. Raises ``OSError``."""
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - TAIL))
        raw = opened.read(TAIL).decode("utf-8", "replace").splitlines()
    return list(_lines(raw[1:] if size > TAIL else raw))[-limit:]


def _lines(raw: list[str]) -> Iterator[Line]:
    level = "INFO"
    for text in raw:
        if found := SCRAPY.match(text):
            level = found["level"] if found["level"] in LEVELS else "INFO"
            yield Line(datetime.fromisoformat(found["at"]).astimezone(), level, found["name"], harmless(found["text"]))
        elif text.strip():
            yield Line(None, level, "", harmless(text))


def chosen(lines: list[Line], level: str | None, words: str | None, limit: int) -> list[Line]:
    """The last of those that are at least of ``level`` and hold ``words``, the latest first."""
    least = LEVELS.index(level) if level in LEVELS else 0
    wanted = (words or "").lower()
    found = [line for line in lines if LEVELS.index(line.level) >= least and wanted in f"{line.from_} {line.text}".lower()]
    return list(reversed(found[-limit:]))
