"""Jobs as processes of this machine: what scrapyd does, without a server. ``python -m scrapy crawl SPIDER``, a log file each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from newsportal.errors import RunnerUnavailable
from newsportal.runners.base import Job, State, Wanted, settings_of
from newsportal.runners.processes import alive, born, interrupt
from newsportal.runners.records import Record, Records

WHERE = "local"

STOP_PATIENCE = 30.0
"""Seconds that jobs get to end by themselves, all together; systemd waits 60 for us (deploy/)."""


class LocalRunner:
    """Its jobs live in sessions of their own. One that is killed leaves them running; the next one finds them by their records."""

    def __init__(self, records: Records, folder: Path, settings: Mapping[str, str]) -> None:
        self._records = records
        self._folder = folder
        self._settings = dict(settings)
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def where(self) -> str:
        return WHERE

    def start(self, id: str, wanted: Wanted) -> None:
        if id in self._children:
            return
        record = Record(id, wanted.spider, wanted.sources, datetime.now(UTC), WHERE)
        self._records.save(record)
        try:
            child = self._spawned(id, wanted)
        except OSError as error:
            raise RunnerUnavailable(f"no process can be started here: {error.strerror or error}") from error
        self._children[id] = child
        self._records.save(replace(record, pid=child.pid, born=born(child.pid)))

    def crawl_by(self, sources: Path) -> None:
        """Jobs that start from now on read this file."""
        self._settings["NEWSPORTAL_SOURCES"] = str(sources)

    def _spawned(self, id: str, wanted: Wanted) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "newsportal.settings", "PYTHONIOENCODING": "utf-8"}
        with self._records.log_file(id).open("ab") as log:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            return subprocess.Popen(self._command(id, wanted), cwd=self._folder, env=environment, start_new_session=True, **streams)

    def _command(self, id: str, wanted: Wanted) -> list[str]:
        command = [sys.executable, "-m", "scrapy", "crawl", wanted.spider]
        for name, value in wanted.arguments().items():
            command += ["-a", f"{name}={value}"]
        for name, value in settings_of(id, self._settings).items():
            command += ["-s", f"{name}={value}"]
        return command

    def jobs(self) -> list[Job]:
        for id in self._children:
            self._records.bound(id)
        return [self._job(record) for record in self._records.all(WHERE)]

    def _job(self, record: Record) -> Job:
        """How a process ended only its parent knows, and writes down."""
        child = self._children.get(record.id)
        if child is None:
            runs = record.ended is None and record.pid is not None and alive(record.pid, record.born)
        else:
            runs = child.poll() is None
        if child is not None and not runs:
            record = self._records.ended(record, child.returncode, datetime.now(UTC))
            del self._children[record.id]
        state: State = "running" if runs else "ended"
        return Job(record.id, record.spider, state, record.sources, record.started, record.ended, record.status)

    def log(self, id: str) -> str | None:
        try:
            return self._records.log_file(id).read_text("utf-8", "replace")
        except OSError:
            return None

    def cancel(self, id: str) -> bool:
        record = self._records.get(id)
        if record is None or record.pid is None or record.ended is not None or not alive(record.pid, record.born):
            return False
        return interrupt(record.pid)

    def hasten(self) -> None:
        """Asked a second time, a crawl stops where it is: what it had in hand waits for the next."""
        for child in list(self._children.values()):
            if child.poll() is None:
                interrupt(child.pid)

    def close(self) -> None:
        """End the jobs that were started here: in order, within :data:`STOP_PATIENCE`."""
        for id in list(self._children):
            self.cancel(id)
        until = time.monotonic() + STOP_PATIENCE
        for child in self._children.values():
            try:
                child.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.jobs()  # writes down how they ended
