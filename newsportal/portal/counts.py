"""The totals of the store that pages show, counted beside them: of a million articles it takes a second, and most pages show some."""

from __future__ import annotations

import logging
from threading import Lock, Thread
from time import monotonic

from newsportal.errors import StoreError
from newsportal.store.results import Tally
from newsportal.store.store import Store

log = logging.getLogger(__name__)

TALLY_SECONDS = 5.0
"""A new topic or a larger number may be seen this much later."""

SLOW_SECONDS = 0.05
"""What takes longer to count is counted in a thread of its own; who asks meanwhile sees what was counted before."""

SPARE = 20.0
"""Times as long as it took to count, until it is counted anew: at most a twentieth of a processor."""


class Counts:
    """Of one store. Shared between threads: one of them counts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counted: Tally | None = None
        self._at, self._took = 0.0, 0.0
        self._lock = Lock()
        self._thread: Thread | None = None

    def get(self) -> Tally:
        """Raises ``StoreError`` while nothing has been counted."""
        kept = self._counted
        if kept is not None and (monotonic() - self._at < self._until() or not self._lock.acquire(blocking=False)):
            return kept
        if kept is None:
            self._lock.acquire()
        if self._counted is not None and self._took > SLOW_SECONDS:
            self._thread = Thread(target=self._aside, name="counts", daemon=True)
            self._thread.start()  # the lock is the thread's now
            return self._counted
        try:
            return self._count()
        finally:
            self._lock.release()

    def stop(self) -> None:
        """Waits for the counting at hand: the store is closed next."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout=10)

    def _until(self) -> float:
        return max(TALLY_SECONDS, SPARE * self._took)

    def _aside(self) -> None:
        try:
            self._count()
        except StoreError as error:
            self._at = monotonic()
            log.warning("the store was not counted; pages show what was counted before: %s", error)
        finally:
            self._lock.release()

    def _count(self) -> Tally:
        if self._counted is not None and monotonic() - self._at < self._until():
            return self._counted  # somebody else counted while this thread waited
        began = monotonic()
        counted = self._store.tally()
        self._counted, self._at = counted, monotonic()
        self._took = self._at - began
        return counted
