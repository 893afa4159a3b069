"""The index and readers' marks follow the store while the portal is served: threads that ask every few seconds what has changed."""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from newsportal.errors import NewsportalError
from newsportal.store.store import Store

log = logging.getLogger(__name__)

EVERY = 3.0
"""Seconds between two looks: a story is found by search about as soon as it is on the front page."""

MAX_PAUSE = 60.0
"""Seconds between two tries while store or index are away."""


class Follows(Protocol):
    """An index, or marks."""

    def follow(self, store: Store) -> int: ...


class Follower:
    """Runs ``index.follow(store)`` again and again; ``name`` is what the log calls it. ``error`` is the last failure, None once it works
    again; it never ends the portal."""

    def __init__(self, index: Follows, store: Store, every: float = EVERY, name: str = "search index") -> None:
        self.index, self.store, self.every, self.name = index, store, every, name
        self.error: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{name} follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the step at hand; waits for it some seconds, since the stores are closed next."""
        self._stopping.set()
        self._thread.join(timeout=10)

    def step(self) -> float:
        """One look; answers how many seconds to wait until the next."""
        try:
            self.index.follow(self.store)
        except NewsportalError as error:
            self._failed(str(error))
            return MAX_PAUSE if self.every < MAX_PAUSE else self.every
        except Exception as error:
            self._failed(f"{type(error).__name__}: {error}")
            log.exception("the %s cannot follow the store", self.name)
            return MAX_PAUSE
        if self.error:
            log.info("the %s follows the store again", self.name)
        self.error = None
        return self.every

    def _failed(self, message: str) -> None:
        if message != self.error:
            log.warning("the %s cannot follow the store: %s", self.name, message)
        self.error = message

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = self.step()
