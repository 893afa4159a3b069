"""Caches of values that cost a search or a count and change slowly, and of compilations of hundreds of stories. Bounded; thread-safe."""

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
    """``get(key, make)`` returns the value that ``make()`` returned for ``key`` less than ``seconds`` ago, else calls it;
    at most ``capacity`` are kept.

    Two threads may both make the same value at once. Exceptions of ``make`` are raised and not cached.
    """

    def __init__(self, seconds: float, capacity: int, clock: Callable[[], float] = monotonic) -> None:
        self._seconds, self._capacity, self._clock = seconds, capacity, clock
        self._values: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._lock = Lock()

    def cached(self, key: Hashable) -> list[T]:
        """Return the cached value of ``key`` in a list, which is empty if there is none."""
        with self._lock:
            entry = self._values.get(key)
        return [entry[1]] if entry is not None and self._clock() - entry[0] < self._seconds else []

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        for value in self.cached(key):
            return value
        value = make()
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = self._clock(), value
            if len(self._values) > self._capacity:
                self._values.popitem(last=False)
        return value


MAX_WAITING = 20  # values in progress or queued; beyond that, no more are begun: readers come faster than one thread makes them


class BackgroundCache(Generic[T]):
    """The same, made in a thread: callers wait up to ``within`` seconds, then do without. Exceptions of ``make`` reach those who wait."""

    def __init__(self, cache: TtlCache[T], within: float) -> None:
        self._cache, self._within = cache, within
        self._pending: dict[Hashable, Future[T]] = {}
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(1, "soon")

    def get(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """Return the value, or None if it is not ready."""
        for value in self._cache.cached(key):
            return value
        with self._lock:
            future = self._pending.get(key)
            if future is None and len(self._pending) < MAX_WAITING:
                future = self._pending[key] = self._threads.submit(self._make, key, make)
        try:
            return future.result(self._within) if future is not None else None
        except TimeoutError:
            return None

    def stop(self) -> None:
        """Wait for the value in progress; queued ones are cancelled."""
        self._threads.shutdown(cancel_futures=True)

    def _make(self, key: Hashable, make: Callable[[], T]) -> T:
        try:
            return self._cache.get(key, make)
        finally:
            with self._lock:
                del self._pending[key]


class CostlyValue(Generic[T]):
    """A cached value: ``get()`` returns what ``make()`` returned less than ``seconds`` ago, or ``spare`` times as long ago as it took; else
    one thread renews it while others get the former one. If it takes longer than ``slow`` seconds, a thread called ``name`` renews it."""

    def __init__(self, make: Callable[[], T], name: str, seconds: float, spare: float, slow: float = inf) -> None:
        self._make, self._name, self._seconds, self._spare, self._slow = make, name, seconds, spare, slow
        self._values: list[T] = []
        self._until, self._duration = 0.0, 0.0
        self._lock = Lock()
        self._thread: Thread | None = None

    def get(self) -> T:
        """Raises the exceptions of ``make`` if there is no former value or this thread renews it."""
        for value in self._values:
            if monotonic() < self._until or not self._lock.acquire(blocking=False):
                return value
            break
        else:
            self._lock.acquire()
        if self._values and self._duration > self._slow:
            self._thread = Thread(target=self._renew_in_thread, name=self._name, daemon=True)
            self._thread.start()  # the lock now belongs to the thread
            return self._values[0]
        try:
            return self._renew()
        finally:
            self._lock.release()

    def stop(self) -> None:
        """Wait for the value in progress, because the store is closed next."""
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _renew_in_thread(self) -> None:
        try:
            self._renew()
        except StoreError as error:
            self._until = monotonic() + max(self._seconds, self._spare * self._duration)
            log.warning("%s: not renewed; pages show the former value: %s", self._name, error)
        finally:
            self._lock.release()

    def _renew(self) -> T:
        if not self._values or monotonic() >= self._until:  # else another thread renewed it while this one waited
            began = monotonic()
            self._values = [self._make()]
            self._duration = monotonic() - began
            self._until = monotonic() + max(self._seconds, self._spare * self._duration)
        return self._values[0]


COMPILED_SECONDS: Final = 300.0  # maximum age of a briefing or a board
MAX_COMPILED: Final = 200
BURST, PER_SECOND = 60.0, 1.0
"""New compilations of a visitor: a burst, and the rate per second after it. The feeds of eight topics, of seven days each, are 56."""

WAIT_SECONDS: Final = 10.0  # seconds that a request waits for other compilations: it holds one of a few dozen threads


class Compilations:
    """Cached for some minutes, made one at a time. Thread-safe."""

    def __init__(self, pace: RateLimit | None = None, patience: float = WAIT_SECONDS) -> None:
        self._cache: TtlCache[Any] = TtlCache(COMPILED_SECONDS, MAX_COMPILED)
        self._pace = pace or RateLimit(BURST, PER_SECOND)
        self._patience = patience
        self._working = Lock()

    def get(self, visitor: str, make: Callable[[], T], until: datetime, *key: Hashable) -> T:
        """Return the result of ``make`` for the time before ``until``. Unless it is cached, raises 429 if ``visitor``, an IP address, has
        requested too many, and 503 if those before it take too long."""
        full_key = (until.timestamp() // COMPILED_SECONDS, *key)
        cached: list[T] = self._cache.cached(full_key)
        if cached:
            return cached[0]
        if not self._pace.allows(visitor):
            raise HTTPException(429)
        if not self._working.acquire(timeout=self._patience):
            raise HTTPException(503)
        try:
            value: T = self._cache.get(full_key, make)  # the one before may have made it
        finally:
            self._working.release()
        return value
