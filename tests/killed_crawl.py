"""Kill a crawl at a certain request, however busy the machine is."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from tests.forked import Started


class Killing(list[Any]):
    """A request log of the made-up Web that kills ``process`` after ``more`` requests, before the last of them gets its response."""

    def __init__(self, log: Sequence[Any], more: int) -> None:
        super().__init__(log)
        self._length = len(log) + more
        self.process: Future[Started] = Future()

    def append(self, visit: Any) -> None:
        super().append(visit)
        if len(self) == self._length:
            self.process.result().kill()


def crawl_and_kill(web: Any, requests: int, *words: str) -> None:
    """Run ``newsportal words...`` and kill it at request number ``requests`` to ``web``."""
    web.requests = log = Killing(web.requests, requests)
    process = Started(*words)
    log.process.set_result(process)
    assert process.wait() == -signal.SIGKILL, "the crawl ended before it was killed"
