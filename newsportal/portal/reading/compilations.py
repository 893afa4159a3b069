"""Pages that are worked out of hundreds of stories, a briefing or a board of what rises: what a visitor may have worked out at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Any, Final

from fastapi import HTTPException

from newsportal.portal.access import RateLimit
from newsportal.portal.ttl_cache import T, TtlCache

SECONDS: Final = 300.0  # so old a briefing or a board may be
MOST: Final = 200
BURST, A_SECOND = 60.0, 1.0
"""New ones of a visitor: at once, and each second from then on. The feeds of eight topics, of seven days each, are 56."""

PATIENCE: Final = 10.0
"""Seconds that a request waits while others are worked out: it holds one of a few dozen threads."""


class Compilations:
    """Kept for some minutes, worked out one at a time. Shared between threads."""

    def __init__(self, pace: RateLimit | None = None, patience: float = PATIENCE) -> None:
        self._kept: TtlCache[Any] = TtlCache(SECONDS, MOST)
        self._pace = pace or RateLimit(BURST, A_SECOND)
        self._patience = patience
        self._working = Lock()

    def get(self, visitor: str, make: Callable[[], T], until: datetime, *key: Hashable) -> T:
        """What ``make`` makes of the time before ``until``. Raises a 429 where ``visitor``, an address, has had too many worked out, and a
        503 where the others before take too long; neither for one that is kept."""
        whole = (until.timestamp() // SECONDS, *key)
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
