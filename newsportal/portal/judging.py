"""How the sources do, judged for many readers at once. Of thousands it takes seconds, of a hundred thousand a minute."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Final

from newsportal.sources.watched import Judged, Watched, judged
from newsportal.store.store import Store

SECONDS: Final = 60.0
"""So old a judgement may be."""

SPARE: Final = 10.0
"""Times as long as it took to judge the sources, until they are judged anew."""


class Judging:
    """Of ``named`` sources; of those that were visited where none is named. Shared between threads: one of them judges, others who ask
    meanwhile get what was judged before. ``now`` is the clock, in the zone in which days begin."""

    def __init__(self, store: Store, named: tuple[Watched, ...], now: Callable[[], datetime]) -> None:
        self._store, self._named, self._now = store, named, now
        self._lock = Lock()
        self._kept: tuple[float, list[Judged]] | None = None

    def get(self) -> list[Judged]:
        """Those that need somebody first. Raises ``StoreError``."""
        kept = self._kept
        if kept is not None and (monotonic() <= kept[0] or not self._lock.acquire(blocking=False)):
            return kept[1]
        if kept is None:
            self._lock.acquire()
        try:
            return self._judged()
        finally:
            self._lock.release()

    def _judged(self) -> list[Judged]:
        kept = self._kept
        if kept is None or monotonic() > kept[0]:  # else somebody else judged while this thread waited
            began = monotonic()
            named = self._named or tuple(Watched(state.source, state.source.partition(":")[2]) for state in self._store.source_states())
            found = judged(self._store, named, self._now())
            kept = self._kept = (monotonic() + max(SECONDS, SPARE * (monotonic() - began)), found)
        return kept[1]
