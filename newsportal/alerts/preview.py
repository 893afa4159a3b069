"""What an alert would have sent in the last days, had it been there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from newsportal.accounts.alerts import Alert
from newsportal.alerts.conditions import conditions
from newsportal.alerts.matching import found_by
from newsportal.alerts.run import TOGETHER, Work, allowed, item
from newsportal.alerts.timing import gathered
from newsportal.alerts.wording import Item
from newsportal.storage.answers import Story, StoryFilter
from newsportal.storage.paging import chunks

DAYS: Final = 7
MOST: Final = 500
"""Stories that are looked through: of an alert that finds more nobody reads the preview to its end."""

PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Planned:
    """A message that would have been sent. ``at`` may lie ahead: it would wait now."""

    at: datetime
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """``planned``: the latest first. ``capped``: there are more stories than were looked through."""

    planned: tuple[Planned, ...]
    stories: int
    capped: bool


def preview(work: Work, alert: Alert, days: int = DAYS) -> Preview:
    """Raises ``StoreError``, and ``SearchError`` for a search."""
    now = work.now()
    if alert.about not in ("topic", "search"):
        if not allowed(work, alert):
            return Preview((), 0, capped=False)
        items = tuple(Item(one.key, one.says[alert.language], "", "") for one in conditions(work, (alert.about,)))
        return Preview((Planned(now, items),) if items else (), len(items), capped=False)
    since = now - timedelta(days=days)
    found = _of_topic(work, alert.of, since) if alert.about == "topic" else _of_search(work, alert.of, since, now)
    stories = sorted((story for story in found if since <= story.first_seen <= now), key=lambda story: story.first_seen)
    messages = gathered([story.first_seen for story in stories], alert, work.zone, TOGETHER)
    planned = [Planned(at, tuple(item(stories[place], work.url) for place in places)) for at, places in messages]
    return Preview(tuple(reversed(planned)), len(stories), len(found) >= MOST)


def _of_topic(work: Work, topic: str, since: datetime) -> list[Story]:
    found: list[Story] = []
    cursor: str | None = None
    while len(found) < MOST:
        page = work.store.stories(StoryFilter(topic=topic, since=since, before=cursor, limit=PAGE))
        found += page.stories
        cursor = page.next
        if cursor is None:
            break
    return found[:MOST]


def _of_search(work: Work, text: str, since: datetime, now: datetime) -> list[Story]:
    if work.index is None:
        return []
    ids: Iterable[str] = dict.fromkeys(found_by(work.index, text, work.zone, since, now + timedelta(seconds=1)).values())
    stories = [story for chunk in chunks(ids) for story in work.store.listed(chunk).values()]
    return list({story.id: story for story in stories}.values())[:MOST]
