"""The result of one visit of a source, used by the schedule, the monitor and the store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

MAX_PUBLISHED = 50  # publication times kept per visit, the newest: a cadence is learned from many visits, not from one long list
MAX_CLOCK_SKEW: Final = timedelta(hours=1)
"""Tolerated difference between the clocks of two machines; times further ahead come from a wrong clock."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a source, from its first list page to its last article.

    ``entries``: on its list pages, ``new``: those not seen before, ``stored`` and ``folded``: results of these. ``not_modified``: every
    list page returned 304. ``failed`` and ``list_failed``: failures by reason. ``published``: publication times of the new entries
    according to list or page, one per entry (the schedule counts them: days without a time are repeated), the newest :data:`MAX_PUBLISHED`.
    ``asked_wait``: seconds requested by the server or the feed (Retry-After, ttl, sy:updatePeriod). ``shaky``: articles extracted with low
    confidence, ``garbled``: those with undecodable characters (both are counted by the link tracker). ``moved``: new URL of a list page
    that moved permanently (301, 308), the last one. ``hub``: where a feed can be subscribed to (WebSub).
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
        """Whether it found nothing new although its list could be read."""
        return not self.new and not self.list_failed

    @property
    def broken(self) -> bool:
        """Whether no list page could be read."""
        return bool(self.list_failed) and not self.entries and not self.not_modified

    @property
    def in_progress(self) -> bool:
        """Whether it has no results yet: it is still running, or its worker died."""
        return self == Visit(self.source, self.at)


COUNT_COLUMNS = ("list_pages", "entries", "new", "stored", "folded", "shaky", "garbled")


def merge_visits(visit: Visit, part: Visit) -> Visit:
    """Merge ``part``, a later result of ``visit`` or one from another worker. Numbers are added; other values are replaced."""
    unchanged = (visit.not_modified or not visit.list_pages) and (part.not_modified or not part.list_pages)
    return replace(
        visit,
        **{name: getattr(visit, name) + getattr(part, name) for name in COUNT_COLUMNS},
        seconds=max(visit.seconds, part.seconds),
        not_modified=unchanged and (visit.not_modified or part.not_modified),
        failed=_added(visit.failed, part.failed),
        list_failed=_added(visit.list_failed, part.list_failed),
        published=newest((*visit.published, *part.published)),
        asked_wait=max((wait for wait in (visit.asked_wait, part.asked_wait) if wait is not None), default=None),
        moved=part.moved or visit.moved,
        hub=part.hub or visit.hub,
    )


def newest(published: Iterable[datetime]) -> tuple[datetime, ...]:
    """Return the newest :data:`MAX_PUBLISHED` of these times, newest first."""
    return tuple(sorted(published, reverse=True)[:MAX_PUBLISHED])


def _added(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {reason: counts.get(reason, 0) + more.get(reason, 0) for reason in {**counts, **more}}
