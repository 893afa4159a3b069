"""What a crawl counts: Scrapy's stats by source, which the run report is made of."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from scrapy.statscollectors import StatsCollector

from newsportal.frontier.reach import Reach
from newsportal.frontier.told import Told
from newsportal.messages import Message
from newsportal.report import COUNTERS, SourceReport

PREFIX = "newsportal/"
"""Scrapy stats are named ``newsportal/SOURCE/COLUMN`` and ``newsportal/SOURCE/failed/REASON``."""

SECONDS = "seconds"
"""The column of how long visits took."""


def utcnow() -> datetime:
    return datetime.now(UTC)


class Figures:
    """Counting is immediate. ``reach`` is the process's: a list page that came says that there is a network."""

    def __init__(self, stats: StatsCollector, reach: Reach) -> None:
        self._stats = stats
        self._reach = reach
        self._notes: dict[str, dict[Message, None]] = defaultdict(dict)
        self.told = Told()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        """Add to a column of the report; ``reason`` for the columns ``failed`` and ``list_failed``."""
        key = f"{PREFIX}{source}/{column}"
        self._stats.inc_value(f"{key}/{reason}" if reason else key, number)
        self.told.count(source, column, reason, number)
        if column == "list_pages":
            self._reach.reached()

    def took(self, source: str, seconds: float) -> None:
        """A visit has ended that took so long."""
        key = f"{PREFIX}{source}/{SECONDS}"
        self._stats.set_value(key, self._stats.get_value(key, 0.0) + seconds)

    def note(self, source: str, message: Message) -> None:
        """A note of the report, once. Stages call it from their threads, too."""
        self._notes[source].setdefault(message)

    def report(self) -> tuple[SourceReport, ...]:
        """The rows so far, by source."""
        rows: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: {"": {}, "failed": {}, "list_failed": {}})
        for key, value in self._stats.get_stats().items():
            if key.startswith(PREFIX):
                source, column, *reason = key.removeprefix(PREFIX).split("/", 2)
                if reason:
                    rows[source][column][reason[0]] = value
                elif column in COUNTERS or column == SECONDS:
                    rows[source][""][column] = value
        for source in self._notes:
            rows[source]  # a source that only has a note has a row too
        return tuple(
            SourceReport(
                source=source,
                **tables[""],
                failed=tables["failed"],
                list_failed=tables["list_failed"],
                notes=tuple(self._notes.get(source, ())),
            )
            for source, tables in sorted(rows.items())
        )
