"""Look at the events of the record again, once more of their stories are there: part what does not hang together, join what is one.

Editors have the last word: stories that they put somewhere stay, events that they named or pinned are neither parted nor joined into
others. Each change is an edit as theirs are, by nobody; what they take back is theirs from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.events import EventClusters, Story
from newsportal.events.revision import components
from newsportal.services.events import editing
from newsportal.services.events.following import MOST_EVENTS, state_of, story_of
from newsportal.store.events import Event, Placed
from newsportal.store.store import Store

BUDGET: Final = 20_000
"""Stories of the events that one pass looks at: some five minutes. The next one goes on where it ended."""

PAGE: Final = 100

NOBODY: Final = ""
"""Who edits in the record."""


@dataclass(slots=True)
class Revision:
    """``events``: how many were looked at; ``parted``: events that came out of others; ``joined``: those that went into others.
    ``conflicts``: those that somebody else changed while they were looked at: the next pass looks at them again. ``more``: the budget ended
    before the changed events did."""

    events: int = 0
    parted: int = 0
    joined: int = 0
    conflicts: int = 0
    more: bool = False


def revise(store: Store, now: datetime, progress: Callable[[int, int], object], budget: int = BUDGET) -> Revision:
    """Look at the events that changed since the last pass, the longest ago first. May be stopped at any time.

    ``progress``: how many of the changes have been looked at, and how many there are. Raises ``StoreError``.
    """
    done, last = Revision(), store.events.position("changed")
    begin = at = min(store.events.position("revised"), last)
    if at == last:
        return done
    clusters = EventClusters()
    for id, vector in store.events.vectors(MOST_EVENTS):
        clusters.restore(state_of(id, vector))
    while page := [event for event in store.events.changed_since(at, PAGE) if event.changed <= last]:
        for event in page:
            if budget <= 0:
                done.more = True
                break
            budget -= max(1, event.stories)
            done.events += 1
            try:
                _revise_event(store, clusters, event.id, now, done)
            except StoreUnavailable:
                raise
            except StoreError:  # an editor, a fold or a deletion was quicker
                found = clusters.likest(event.id)
                _restore(store, clusters, event.id, *(found[:1] if found else ()))
                done.conflicts += 1
            at = event.changed
            progress(at - begin, last - begin)
        store.events.move("revised", at)
        if done.more:
            return done
    store.events.move("revised", last)
    return done


def _revise_event(store: Store, clusters: EventClusters, id: str, now: datetime, done: Revision) -> None:
    event, placed = store.events.event(id), store.events.members([id]).get(id, [])
    if event is None or not placed:
        return
    if 1 < len(placed) <= editing.MOST_SUMMED and not _is_named(event):
        for part in components(_stories(store, placed), {one.story_id for one in placed if one.by})[1:]:
            new, _ = editing.split(store, id, part, by=NOBODY, now=now)
            _restore(store, clusters, id, new)
            done.parted += 1
    other = None
    while (found := clusters.likest(id)) and (other := store.events.event(found[0])) is None:
        _restore(store, clusters, found[0])
    if other is None or not other.stories:
        return
    theirs = store.events.members([id, other.id])
    edited = [one.id for one in (event, other) if _is_named(one) or any(member.by for member in theirs.get(one.id, ()))]
    members = [member for members in theirs.values() for member in members]
    if len(edited) == 2 or (len(members) <= editing.MOST_SUMMED and len(components(_stories(store, members))) > 1):
        return
    largest = max((event, other), key=lambda one: (one.id in edited, len(theirs.get(one.id, ())), -one.first.timestamp(), one.id))
    gone = other if largest is event else event
    editing.join(store, largest.id, gone.id, by=NOBODY, now=now)
    _restore(store, clusters, largest.id, gone.id)
    done.joined += 1


def _is_named(event: Event) -> bool:
    return event.renamed or event.pinned is not None


def _stories(store: Store, placed: Sequence[Placed]) -> list[Story]:
    """The earliest first."""
    heads = [story.head.id for story in store.listed([one.story_id for one in placed]).values()]
    articles = sorted(store.articles(heads), key=lambda one: (one.moment, one.id))
    return [story_of(one.story_id, one.title, one.text, one.moment) for one in articles]


def _restore(store: Store, clusters: EventClusters, *ids: str) -> None:
    for id in ids:
        clusters.remove(id)
    for id, vector in store.events.vectors(MOST_EVENTS, ids):
        if (state := state_of(id, vector)).stories:
            clusters.restore(state)
