"""How many stories a topic had lately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from newsportal.storage.base import Store, StoryFilter

WEEK: Final = timedelta(days=7)
MONTH: Final = timedelta(days=30)

PAGE: Final = 200
MOST: Final = 2000
"""Stories of a topic that are counted; beyond it the count says «at least»."""


@dataclass(frozen=True, slots=True)
class Lately:
    """Stories of the last 7 and 30 days. ``capped``: there are more than were counted."""

    week: int
    month: int
    capped: bool = False


def counts(store: Store, topics: Iterable[str], now: datetime) -> dict[str, Lately]:
    """Topic → how many stories it had lately."""
    return {topic: _lately(store, topic, now) for topic in topics}


def _lately(store: Store, topic: str, now: datetime) -> Lately:
    week = month = 0
    before: str | None = None
    while month < MOST:
        page = store.stories(StoryFilter(topic, since=now - MONTH, before=before, limit=PAGE))
        month += len(page.stories)
        week += sum(story.head.moment >= now - WEEK for story in page.stories)
        before = page.next
        if before is None:
            return Lately(week, month)
    return Lately(week, month, capped=True)
