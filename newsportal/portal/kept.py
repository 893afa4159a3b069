"""Answers that are kept for some time: what costs a search and changes slowly. Bounded, shared between threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """``get(key, make)`` answers what ``make()`` made for ``key`` less than ``seconds`` ago, else makes it; at most ``most`` are kept.

    Two threads that ask for the same at once may both make it. What ``make`` raises is raised and not kept.
    """

    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._made: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            kept = self._made.get(key)
        if kept is not None and self._clock() - kept[0] < self._seconds:
            return kept[1]
        made = make()
        with self._lock:
            self._made.pop(key, None)
            self._made[key] = self._clock(), made
            if len(self._made) > self._most:
                self._made.popitem(last=False)
        return made
