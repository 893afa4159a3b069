"""A circuit breaker: a server that did not respond is not called for some seconds; callers get its error at once and hold no thread.

The portal serves readers with a few dozen threads. Every call of a server that hangs would hold one of them until it times out. So after a
failure, calls fail at once for some seconds; then one call tries the server, and the others follow when it has succeeded (Nygard, Release
It!, 2007, chapter 5). Only missing responses count (``ServerUnavailable``, ``SearchUnavailable``): a server that returns an error is up.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from threading import Lock
from time import monotonic
from typing import Any, Final, cast

from newsportal.errors import SearchUnavailable, ServerUnavailable
from newsportal.search.base import Index
from newsportal.store.store import Store

OPEN_SECONDS: Final = 5.0  # how long calls fail at once: a reader who reloads the page some seconds later gets it, if the server is back

STORE_PARTS: Final = frozenset("boards corpora galleries outbox pictures readers records subscriptions threads visits".split())


class CircuitBreaker:
    """The circuit breaker of one server. Thread-safe."""

    def __init__(self, seconds: float = OPEN_SECONDS, clock: Callable[[], float] = monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._lock = Lock()
        self._failed: ServerUnavailable | SearchUnavailable | None = None
        self._until = 0.0
        self._trying = False

    def call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call ``method`` and return its result; iterators are guarded, too. While the breaker is open, raise the server's last error."""

        def guarded_rest() -> Iterator[Any]:
            with self._noting_failures():
                yield from result

        with self._attempt():
            result = method(*args, **kwargs)
            if not isinstance(result, Iterator):
                return result
            head = list(islice(result, 1))  # a generator runs nothing before its first item
        return chain(head, guarded_rest())

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        with self._lock:  # while the breaker is open, one caller tries whether the server is back; the others get its error
            trying = self._failed is not None
            if self._failed is not None and (self._trying or self._clock() < self._until):
                raise type(self._failed)(*self._failed.args)
            self._trying = self._trying or trying
        try:
            with self._noting_failures():
                yield
        except (ServerUnavailable, SearchUnavailable):
            raise
        except Exception:
            self._note_success()
            raise
        else:
            self._note_success()
        finally:
            if trying:
                self._trying = False

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        try:
            yield
        except (ServerUnavailable, SearchUnavailable) as error:
            with self._lock:
                self._failed, self._until = error, self._clock() + self._seconds
            raise

    def _note_success(self) -> None:
        with self._lock:
            self._failed = None


class Guarded:
    """A store, a part of one, or an index, whose methods are called through a :class:`CircuitBreaker`."""

    def __init__(self, target: object, breaker: CircuitBreaker, parts: frozenset[str] = frozenset()) -> None:
        self._target, self._breaker, self._parts = target, breaker, parts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if name in self._parts:
            return Guarded(value, self._breaker)
        return value if not callable(value) or name == "close" else partial(self._breaker.call, value)


def guard_store(store: Store) -> Store:
    return cast("Store", Guarded(store, CircuitBreaker(), STORE_PARTS))


def guard_index(index: Index) -> Index:
    return cast("Index", Guarded(index, CircuitBreaker()))
