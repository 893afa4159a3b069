"""What a worker did of the visits of sources since it last wrote it down. Counting is immediate; writing is the spider's (``visiting``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from newsportal.frontier.reach import unreached
from newsportal.visits import COUNTED, Visit, newest


@dataclass(slots=True)
class _Part:
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    list_failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    published: tuple[datetime, ...] = ()
    asked_wait: float | None = None
    moved: str | None = None
    hub: str | None = None

    @property
    def unreached(self) -> bool:
        """Whether nothing came, since its host was not reached."""
        return not any(self.counts.values()) and not self.failed and unreached(self.list_failed)

    def visit(self, source: str, now: datetime) -> Visit:
        pages = self.counts["list_pages"]
        return Visit(
            source,
            now,
            **{name: max(0, self.counts[name]) for name in COUNTED},
            not_modified=bool(pages) and self.counts["not_modified"] >= pages,
            failed=dict(self.failed),
            list_failed=dict(self.list_failed),
            published=self.published,
            asked_wait=self.asked_wait,
            moved=self.moved,
            hub=self.hub,
        )


class Told:
    """See the module. Safe between threads."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = defaultdict(_Part)
        self._lock = Lock()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        """As ``Ledger.count``, which calls it."""
        with self._lock:
            part = self._parts[source]
            (getattr(part, column) if reason else part.counts)[reason or column] += number

    def published(self, source: str, moments: Iterable[datetime | None]) -> None:
        """When new entries were published; those that do not say are left out."""
        with self._lock:
            part = self._parts[source]
            part.published = newest((*part.published, *(moment for moment in moments if moment is not None)))

    def asked(self, source: str, seconds: float) -> None:
        """The server or the feed asked to wait so long; the longest counts."""
        with self._lock:
            part = self._parts[source]
            part.asked_wait = max(seconds, part.asked_wait or 0.0)

    def moved(self, source: str, url: str) -> None:
        """A list page has gone there for ever."""
        with self._lock:
            self._parts[source].moved = url

    def hub(self, source: str, url: str) -> None:
        """Where the feed can be subscribed to."""
        with self._lock:
            self._parts[source].hub = url

    @property
    def uncounted(self) -> frozenset[str]:
        """Sources of which something was counted that is not taken yet."""
        with self._lock:
            return frozenset(self._parts)

    def taken(self, now: datetime, going: Collection[str] = (), *, away: bool = False) -> list[Visit]:
        """What was counted, a part a source; counting begins anew.

        Of visits that are still ``going`` what only says that a host was not reached waits for their end, when more is known. While the
        network is ``away`` it is dropped: that says nothing of the source.
        """
        with self._lock:
            counted, self._parts = self._parts, defaultdict(_Part)
            lost = {source for source, part in counted.items() if part.unreached}
            self._parts.update({source: counted[source] for source in lost.intersection(going)})
        left = lost if away else lost.intersection(going)
        return [part.visit(source, now) for source, part in counted.items() if source not in left]
