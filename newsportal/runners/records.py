"""What jobs were started from here, a small file each: who starts anew knows what runs, and whose log is whose."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from newsportal.errors import RunnerRefused
from newsportal.report import Run

KEPT = 500
"""Jobs whose records and logs are kept: some days of a portal that starts a few jobs an hour."""

MOST_LOG = 8 * 1024 * 1024
"""Bytes of one log: a crawl of 5,000 sources says some 2 MB, so this is a crawl that says the same thing again and again."""

TAIL = 1024 * 1024
"""Bytes that stay of one that has more: the last ones."""

MOST_LOGS = 256 * 1024 * 1024
"""Bytes of all logs together; the oldest go first."""

LET_GO = b"... earlier lines of this log were let go\n"


def job_of(run: Run) -> str:
    """The id of the job whose run it was: ``20260305-083000-JOB-rss``."""
    return run.id.split("-", 2)[-1].rsplit("-", 1)[0]


@dataclass(frozen=True, slots=True)
class Record:
    """A job as it was started. ``where``: ``local`` or the server's URL. ``pid`` and ``born`` name a process of this machine, so that
    another one which got the same number later is not taken for it."""

    id: str
    spider: str
    sources: tuple[str, ...]
    started: datetime
    where: str
    pid: int | None = None
    born: str | None = None
    status: int | None = None
    ended: datetime | None = None


class Records:
    """The files of a folder. Raises ``RunnerRefused`` where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, record: Record) -> None:
        """Whole or not at all, whenever the process is killed."""
        plain = asdict(record) | {name: _written(getattr(record, name)) for name in ("started", "ended")}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            beside = self.folder / f"{record.id}.new"
            beside.write_text(json.dumps(plain, ensure_ascii=False), "utf-8")
            os.replace(beside, self._file(record.id))
        except OSError as error:
            raise self._unwritable(error) from error

    def ended(self, record: Record, status: int | None, now: datetime) -> Record:
        done = replace(record, status=status, ended=now)
        self.save(done)
        return done

    def all(self, where: str) -> list[Record]:
        """Those of one runner, newest first."""
        return sorted((one for one in self._read() if one.where == where), key=lambda one: one.started, reverse=True)

    def get(self, id: str) -> Record | None:
        """``None`` for a job that is not remembered (any more)."""
        return _read(self._file(id))

    def log_file(self, id: str) -> Path:
        return self.folder / f"{id}.log"

    def bound(self, id: str, most: int = MOST_LOG, keep: int = TAIL) -> None:
        """Cut a log that has become too long, while it is written: whoever does so appends, so that it goes on behind what stays. Lines
        of the very moment may be lost."""
        try:
            with self.log_file(id).open("r+b") as log:
                size = log.seek(0, os.SEEK_END)
                if size <= most:
                    return
                log.seek(size - keep)
                last = log.read(keep).partition(b"\n")[2]
                log.truncate(0)
                log.seek(0)
                log.write(LET_GO + last)
        except FileNotFoundError:
            return  # nothing was said yet
        except OSError as error:
            raise self._unwritable(error) from error

    def forget(self, keep: int = KEPT, most: int = MOST_LOGS) -> None:
        """Let the oldest go; and logs of jobs that ended, as soon as all have more than ``most`` bytes."""
        room = most
        try:
            for place, record in enumerate(sorted(self._read(), key=lambda one: one.started, reverse=True)):
                log = self.log_file(record.id)
                room -= log.stat().st_size if log.exists() else 0
                if place >= keep:
                    self._file(record.id).unlink(missing_ok=True)
                if place >= keep or (room < 0 and record.ended is not None):
                    log.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> RunnerRefused:
        return RunnerRefused(f"{self.folder} cannot be written: {error.strerror or error}; jobs are remembered there")

    def _file(self, id: str) -> Path:
        return self.folder / f"{id}.json"

    def _read(self) -> Iterator[Record]:
        found = map(_read, self.folder.glob("*.json") if self.folder.is_dir() else ())
        return (record for record in found if record is not None)


def _read(file: Path) -> Record | None:
    """``None``: forgotten by somebody meanwhile, or no record; a job without one counts as one of unknown sources."""
    try:
        return _record(json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _written(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _record(plain: dict[str, Any]) -> Record:
    moments = {name: datetime.fromisoformat(plain[name]) if plain[name] else None for name in ("started", "ended")}
    return Record(**{**plain, **moments, "sources": tuple(plain["sources"])})
