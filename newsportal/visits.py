"""What one visit of a source brought: the words in which the schedule, the monitor and the store speak of a source's past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

MAX_PUBLISHED = 50
"""Publication times that a visit keeps, the newest: a cadence is learnt from many visits, not from one long list."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a source, from its first list page to its last article.

    ``entries`` are those of its list pages, ``new`` those not met before, ``stored`` and ``folded`` what became of them. ``not_modified``:
    every list page answered 304. ``failed`` and ``list_failed``: how often, by reason. ``published``: when the new entries were published,
    as the list or the page said, the newest :data:`MAX_PUBLISHED`. ``asked_wait``: seconds that the server or the feed asked to wait
    (Retry-After, ttl, sy:updatePeriod). ``shaky``: articles that were read with little confidence, ``garbled``: whose characters were
    not understood (the ledger counts both under these names). ``moved``: where a list page has gone
    for ever (301, 308), the last of them. ``hub``: where a feed can be subscribed to (WebSub).
    """

    source: str
    at: datetime
    seconds: float = 0.0
    list_pages: int = 0
    entries: int = 0
    new: int = 0
    stored: int = 0
    folded: int = 0
    not_modified: bool = False
    failed: Mapping[str, int] = field(default_factory=dict)
    list_failed: Mapping[str, int] = field(default_factory=dict)
    published: tuple[datetime, ...] = ()
    asked_wait: float | None = None
    shaky: int = 0
    garbled: int = 0
    moved: str | None = None
    hub: str | None = None

    @property
    def empty(self) -> bool:
        """Whether it brought nothing new although its list could be read."""
        return not self.new and not self.list_failed

    @property
    def broken(self) -> bool:
        """Whether no list page could be read."""
        return bool(self.list_failed) and not self.entries and not self.not_modified
