"""What ``newsportal up`` learns beside the crawls: after enough new articles ``newsportal retrain`` runs as a process of its own, at low
priority, for a bounded time, never two at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from newsportal.commands.beside import Beside, command
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
        self._beside = Beside()
        self._thread: threading.Thread | None = None

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
        self._beside.stop()
        self.wait()

    def _is_due(self) -> bool:
        rested = self._last is None or self._clock() - self._last >= REST
        at_work = self._thread is not None and self._thread.is_alive()
        return 0 < self._least_new <= self._new and rested and not at_work and not self._beside.stopped

    def _command(self) -> list[str]:
        return command(self._sources, "retrain", "--gently", "--json")

    def _train(self) -> None:
        done = self._beside.run(self._command(), MOST)
        if done is None:
            return
        if done.late:
            self._say(f"the training took more than {MOST / 60:g} minutes and was ended; the models in use stay")
            return
        for line in done.output.splitlines():
            self._tell(line)
        if done.failure:
            self._say(f"the training failed: {done.failure}; the models in use stay")

    def _tell(self, line: str) -> None:
        """Of the corpora that were trained; the others are no news."""
        try:
            row = json.loads(line)
            if row["version"] is not None:
                used = "in use now" if row["active"] else f"not in use ({row['why']})"
                self._say(f"trained version {row['version']} of the model of {row['corpus']} on {row['documents']} articles: {used}")
        except (ValueError, KeyError, TypeError):
            self._say(f"the training said: {line[:200]}")
