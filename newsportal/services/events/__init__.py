"""Events of the record: what they are asked for by other services. ``following`` fills them, ``editing`` changes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from newsportal.store.events import Event
from newsportal.store.store import Store

MOST: Final = 500
"""Events that are answered at most."""

AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class EventSummary:
    """``story_ids``: the earliest first. ``weight``: reports, each counting half after 12 hours; 1 for the weightiest of a list."""

    id: str
    title: str
    story_ids: tuple[str, ...]
    first: datetime
    last: datetime
    weight: float


def events_of(store: Store, *, since: datetime, topic: str | None = None) -> list[EventSummary]:
    """Events that had a story since then, the weightiest first, also those of one story; ``topic``: with a story of it."""
    found: list[Event] = []
    cursor: str | None = None
    while len(found) < MOST:
        page = store.events.listed(since=since, topic=topic, least=1, before=cursor, limit=AT_ONCE)
        found += page.events
        cursor = page.next
        if cursor is None:
            break
    members = store.events.members([event.id for event in found])
    top = max((event.heat for event in found), default=0.0)
    return [
        EventSummary(
            *(event.id, event.title, tuple(one.story_id for one in members.get(event.id, ()))),
            *(event.first, event.last, 2.0 ** (event.heat - top)),
        )
        for event in found
    ]
