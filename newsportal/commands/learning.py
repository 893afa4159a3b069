"""What ``newsportal up`` learns beside the crawls: after enough new articles ``newsportal retrain`` runs as a process of its own, at low
priority, for a bounded time, never two at once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from newsportal.report import Run

REST: Final = 3600.0
"""Seconds between two trainings at least: a portal that brings a thousand articles an hour need not learn from each hundred."""

MOST: Final = 1800.0
"""Seconds that a training may take; then it is ended, and nothing of it is kept."""


class Learning:
    """Told of every crawl; starts a training when it is due. ``least_new`` 0: never."""

    def __init__(
        self, sources: Path | None, least_new: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._sources = sources
        self._least_new = least_new
        self._say = say
        self._clock = clock
        self._new = 0
        self._last: float | None = None
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def crawled(self, run: Run) -> bool:
        """A crawl ended; answers whether a training began."""
        self._new += run.total.stored
        if not self._is_due():
            return False
        self._new, self._last = 0, self._clock()
        self._thread = threading.Thread(target=self._train, daemon=True, name="learning")
        self._thread.start()
        return True

    def wait(self) -> None:
        """Until a training that runs has ended."""
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """End a training that runs: what it has not finished is not kept."""
        self._stopped = True
        if self._child is not None and self._child.poll() is None:
            self._child.kill()
        self.wait()

    def _is_due(self) -> bool:
        rested = self._last is None or self._clock() - self._last >= REST
        at_work = self._thread is not None and self._thread.is_alive()
        return 0 < self._least_new <= self._new and rested and not at_work and not self._stopped

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "newsportal", "retrain", "--gently", "--json"]
        return command if self._sources is None else [*command, "--sources", str(self._sources)]

    def _train(self) -> None:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        self._child = subprocess.Popen(self._command(), start_new_session=True, **streams)
        if self._stopped:
            self._child.kill()
        try:
            output, errors = self._child.communicate(timeout=MOST)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()
            self._say(f"the training took more than {MOST / 60:g} minutes and was ended; the models in use stay")
            return
        if self._stopped:
            return
        for line in output.splitlines():
            self._tell(line)
        if self._child.returncode:
            why = errors.strip().splitlines()[-1:] or [f"status {self._child.returncode}"]
            self._say(f"the training failed: {why[0]}; the models in use stay")

    def _tell(self, line: str) -> None:
        """Of the corpora that were trained; the others are no news."""
        try:
            row = json.loads(line)
            if row["version"] is not None:
                used = "in use now" if row["active"] else f"not in use ({row['why']})"
                self._say(f"trained version {row['version']} of the model of {row['corpus']} on {row['documents']} articles: {used}")
        except (ValueError, KeyError, TypeError):
            self._say(f"the training said: {line[:200]}")
