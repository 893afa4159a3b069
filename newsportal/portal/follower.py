"""The index follows the store while the portal is served: a thread that asks every few seconds what has changed."""

from __future__ import annotations

import logging
import threading

from newsportal.errors import NewsportalError
from newsportal.search.base import Index
from newsportal.storage.base import Store

log = logging.getLogger(__name__)

EVERY = 3.0
"""Seconds between two looks: a story is found by search about as soon as it is on the front page."""

MAX_PAUSE = 60.0
"""Seconds between two tries while store or index are away."""


class Follower:
    """Runs ``index.follow(store)`` again and again. ``error`` is the last failure, None once it works again; it never ends the portal."""

    def __init__(self, index: Index, store: Store, every: float = EVERY) -> None:
        self.index, self.store, self.every = index, store, every
        self.error: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="index-follower", daemon=True)

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
            log.exception("the search index cannot follow the store")
            return MAX_PAUSE
        if self.error:
            log.info("the search index follows the store again")
        self.error = None
        return self.every

    def _failed(self, message: str) -> None:
        if message != self.error:
            log.warning("the search index cannot follow the store: %s", message)
        self.error = message

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = self.step()
