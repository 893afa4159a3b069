"""Values that are kept for some time, since they cost a search or a count and change slowly, and what a visitor may have worked out of
hundreds of stories at once. Bounded, shared between threads."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from math import inf
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from fastapi import HTTPException

from newsportal.errors import StoreError
from newsportal.portal.access import RateLimit

T = TypeVar("T")
log = logging.getLogger(__name__)


class TtlCache(Generic[T]):
    """``get(key, make)`` answers what ``make()`` made for ``key`` less than ``seconds`` ago, else makes it; at most ``most`` are kept.

    Two threads that ask for the same at once may both make it. What ``make`` raises is raised and not kept.
    """

    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._made: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._lock = Lock()

    def cached(self, key: Hashable) -> list[T]:
        """What is kept for ``key``; nothing, where it is to be made."""
        with self._lock:
            kept = self._made.get(key)
        return [kept[1]] if kept is not None and self._clock() - kept[0] < self._seconds else []

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        for made in self.cached(key):
            return made
        made = make()
        with self._lock:
            self._made.pop(key, None)
            self._made[key] = self._clock(), made
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        return made


MOST_WAITING = 20  # beyond so many that are to be made, no further ones are begun: readers come faster than one thread makes them


class BackgroundCache(Generic[T]):
    """The same, made in a thread of its own: who asks waits ``within`` seconds, then does without. Who waits gets what ``make`` raises."""

    def __init__(self, kept: TtlCache[T], within: float) -> None:
        self._kept, self._within = kept, within
        self._making: dict[Hashable, Future[T]] = {}
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(1, "soon")

    def get(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """None: not yet."""
        for made in self._kept.cached(key):
            return made
        with self._lock:
            making = self._making.get(key)
            if making is None and len(self._making) < MOST_WAITING:
                making = self._making[key] = self._threads.submit(self._make, key, make)
        try:
            return making.result(self._within) if making is not None else None
        except TimeoutError:
            return None

    def stop(self) -> None:
        """Waits for what is being made; the rest is left."""
        self._threads.shutdown(cancel_futures=True)

    def _make(self, key: Hashable, make: Callable[[], T]) -> T:
        try:
            return self._kept.get(key, make)
        finally:
            with self._lock:
                del self._making[key]


class CostlyValue(Generic[T]):
    """``get()`` answers what ``make()`` made less than ``seconds`` ago, or ``spare`` times as long ago as it took; else one thread makes it
    anew while the others get the former value. What takes longer than ``slow`` seconds is made in a thread of its own, called ``name``."""

    def __init__(self, make: Callable[[], T], name: str, seconds: float, spare: float, slow: float = inf) -> None:
        self._make, self._name, self._seconds, self._spare, self._slow = make, name, seconds, spare, slow
        self._made: list[T] = []
        self._until, self._took = 0.0, 0.0
        self._lock = Lock()
        self._thread: Thread | None = None

    def get(self) -> T:
        """Raises what ``make`` raises while there is no former value, and where it is made at once."""
        for value in self._made:
            if monotonic() < self._until or not self._lock.acquire(blocking=False):
                return value
            break
        else:
            self._lock.acquire()
        if self._made and self._took > self._slow:
            self._thread = Thread(target=self._renew_in_thread, name=self._name, daemon=True)
            self._thread.start()  # the lock is the thread's now
            return self._made[0]
        try:
            return self._renew()
        finally:
            self._lock.release()

    def stop(self) -> None:
        """Waits for what is being made: the store is closed next."""
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _renew_in_thread(self) -> None:
        try:
            self._renew()
        except StoreError as error:
            self._until = monotonic() + max(self._seconds, self._spare * self._took)
            log.warning("%s: not renewed; pages show the former ones: %s", self._name, error)
        finally:
            self._lock.release()

    def _renew(self) -> T:
        if not self._made or monotonic() >= self._until:  # else another thread has made it while this one waited
            began = monotonic()
            self._made = [self._make()]
            self._took = monotonic() - began
            self._until = monotonic() + max(self._seconds, self._spare * self._took)
        return self._made[0]


COMPILED_SECONDS: Final = 300.0  # so old a briefing or a board may be
MOST_COMPILED: Final = 200
BURST, A_SECOND = 60.0, 1.0
"""New ones of a visitor: at once, and each second from then on. The feeds of eight topics, of seven days each, are 56."""

PATIENCE: Final = 10.0  # seconds that a request waits while others are worked out: it holds one of a few dozen threads


class Compilations:
    """Kept for some minutes, worked out one at a time. Shared between threads."""

    def __init__(self, pace: RateLimit | None = None, patience: float = PATIENCE) -> None:
        self._kept: TtlCache[Any] = TtlCache(COMPILED_SECONDS, MOST_COMPILED)
        self._pace = pace or RateLimit(BURST, A_SECOND)
        self._patience = patience
        self._working = Lock()

    def get(self, visitor: str, make: Callable[[], T], until: datetime, *key: Hashable) -> T:
        """What ``make`` makes of the time before ``until``. Raises a 429 where ``visitor``, an address, has had too many worked out, and a
        503 where the others before take too long; neither for one that is kept."""
        whole = (until.timestamp() // COMPILED_SECONDS, *key)
        found: list[T] = self._kept.cached(whole)
        if found:
            return found[0]
        if not self._pace.allows(visitor):
            raise HTTPException(429)
        if not self._working.acquire(timeout=self._patience):
            raise HTTPException(503)
        try:
            made: T = self._kept.get(whole, make)  # the one before may have been the same
        finally:
            self._working.release()
        return made
