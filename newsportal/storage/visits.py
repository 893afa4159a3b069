"""The visits that were paid to sources: what the schedule learns from and the monitor judges by. A protocol of its own within the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from newsportal.visits import Visit


class Visits(Protocol):
    """Kept for some months, then forgotten. Blocking calls. Raises ``StoreUnavailable``."""

    def add(self, visit: Visit) -> None:
        """Remember a visit. The same source at the same moment replaces what was told of it. One of which nothing is told has begun, and
        is shown once something is joined to it; visits of the source more than ``visits.SKEW`` after it go: a wrong clock dated them, and
        what is done now must not be joined to them."""
        ...

    def join(self, parts: Sequence[Visit]) -> None:
        """Add what was done to the newest visit of each source, whoever began it (``visits.together``); remember it if there is none."""
        ...

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        """The visits of one source, newest first; ``bringing``: only those that brought something new."""
        ...

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        """The newest visits of every source (or of these), newest first: one question for a whole schedule of thousands."""
        ...

    def forget(self, before: datetime) -> int:
        """Let go what is older; answers how many visits."""
        ...
