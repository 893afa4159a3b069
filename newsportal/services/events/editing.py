"""Editing of events: rename, pin, split, join, undo; and their automatic revision. Raises ``StoreError`` if an object no longer exists."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.events import EventClusters, Story
from newsportal.events.revision import components
from newsportal.items import content_id
from newsportal.services.events.following import MAX_EVENTS, state_of, story_of, vector_over
from newsportal.store.events import Assignment, Edit, Event
from newsportal.store.store import Store

Log = Callable[[str, str, Mapping[str, Any]], None]


def no_log(action: str, thing: str, details: Mapping[str, Any]) -> None:
    """Do not log, for portals without accounts."""


MAX_TITLE_CHARS = 200  # characters of an event's title
MAX_VECTOR_STORIES = 200  # latest stories whose keywords make the vector of an edited event


def get_event(store: Store, event_id: str) -> Event:
    event = store.events.event(event_id)
    if event is None:
        raise StoreError(f"no event {event_id!r}; see: newsportal event list")
    return event


def rename(store: Store, event_id: str, title: str | None, *, by: str, now: datetime, log: Log = no_log) -> int:
    """Set the title of an event; ``None``: that of its most reported story. Return the number of the edit, for :func:`undo`."""
    event = get_event(store, event_id)
    new_title = (title or "").strip() or None
    if new_title is not None and len(new_title) > MAX_TITLE_CHARS:
        raise StoreError(f"a title of {len(new_title)} characters; an event's may have {MAX_TITLE_CHARS}")
    number = store.events.edit(Edit("rename", event_id, now, by, title=(event.title if event.renamed else None, new_title)), {})
    log("event.rename", event_id, {"title": title})
    return number


def pin(store: Store, event_id: str, pinned: bool, *, by: str, now: datetime, log: Log = no_log) -> int:
    """Pin an event above the others, or unpin it."""
    event = get_event(store, event_id)
    number = store.events.edit(Edit("pin", event_id, now, by, pinned=(event.pinned is not None, pinned)), {})
    log("event.pin", event_id, {"pinned": pinned})
    return number


def split(store: Store, event_id: str, story_ids: Collection[str], *, by: str, now: datetime, log: Log = no_log) -> tuple[str, int]:
    """Move stories of an event into a new one; return its id and the number of the edit."""
    get_event(store, event_id)
    members = {member.story_id for member in store.events.members([event_id]).get(event_id, [])}
    moved = members & set(story_ids)
    if not moved or moved == members:
        raise StoreError(f"name some stories of event {event_id!r}, but not all of them")
    new = content_id(" ".join(("event", event_id, now.isoformat(), *sorted(moved))))
    edit = Edit("split", event_id, now, by, dict.fromkeys(moved, (event_id, new)))
    number = store.events.edit(edit, _vectors(store, edit.moves))
    log("event.split", event_id, {"to": new, "stories": list(story_ids)})
    return new, number


def join(store: Store, event_id: str, other: str, *, by: str, now: datetime, log: Log = no_log) -> int:
    """Move all stories of another event into this one; the other's URL redirects here."""
    get_event(store, event_id)
    moved = [member.story_id for member in store.events.members([other]).get(other, [])]
    if other == event_id or not moved:
        raise StoreError(f"no other event {other!r} to join with; see: newsportal event list")
    edit = Edit("join", event_id, now, by, dict.fromkeys(moved, (other, event_id)))
    number = store.events.edit(edit, _vectors(store, edit.moves))
    log("event.join", event_id, {"from": other})
    return number


def undo(store: Store, number: int, *, by: str, now: datetime, log: Log = no_log) -> Edit:
    """Undo an edit unless the same was changed since; return the edit."""
    edit = next(iter(store.events.edits(after=number - 1, limit=1)), None)
    if edit is None or edit.number != number or edit.undone is not None:
        raise StoreError(f"no edit {number} that can be undone")
    moves = {story: (new, old) for story, (old, new) in edit.moves.items()}
    title = edit.title and (edit.title[1], edit.title[0])
    pinned = edit.pinned and (edit.pinned[1], edit.pinned[0])
    inverse = Edit("undo", edit.event_id, now, by, moves, title, pinned)
    store.events.edit(inverse, _vectors(store, moves), undoes=number)
    log("event.undo", edit.event_id, {"edit": number, "kind": edit.kind})
    return edit


def _vectors(store: Store, moves: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the vectors of the affected events after the moves."""
    ids = {event for move in moves.values() for event in move}
    stories = {event: [row.story_id for row in rows if row.story_id not in moves] for event, rows in store.events.members(ids).items()}
    for story, (_, target) in moves.items():
        stories.setdefault(target, []).append(story)
    heads = {event: [story.head.id for story in store.by_id(stories.get(event, [])[-MAX_VECTOR_STORIES:]).values()] for event in ids}
    return {event: vector_over(event, store.articles(heads[event])) for event in ids}


BUDGET: Final = 20_000  # stories of the events revised in one pass: some five minutes. The next one continues.
PAGE: Final = 100

NOBODY: Final = ""  # the editor of automatic edits


@dataclass(slots=True)
class Revision:
    """Result of a pass. ``events``: events examined; ``split``: events split off; ``joined``: events merged into others. ``conflicts``:
    events edited concurrently, examined again in the next pass. ``more``: the budget was exhausted before the changed events."""

    events: int = 0
    split: int = 0
    joined: int = 0
    conflicts: int = 0
    more: bool = False


def revise(store: Store, now: datetime, progress: Callable[[int, int], object], budget: int = BUDGET) -> Revision:
    """Revise the events changed since the last pass, oldest change first: split unconnected ones, merge equal ones. May be stopped.

    Editors have precedence: stories that they moved stay, events that they named or pinned are neither split nor merged into others. Each
    change is an ordinary edit without an author; once undone, it is not repeated.

    ``progress``: number of changes examined, and their total. Raises ``StoreError``.
    """
    revision, last = Revision(), store.events.position("changed")
    begin = at = min(store.events.position("revised"), last)
    if at == last:
        return revision
    clusters = EventClusters()
    for id, vector in store.events.vectors(MAX_EVENTS):
        clusters.restore(state_of(id, vector))
    while page := [event for event in store.events.changed_since(at, PAGE) if event.change_seq <= last]:
        for event in page:
            if budget <= 0:
                revision.more = True
                break
            budget -= max(1, event.stories)
            revision.events += 1
            try:
                _revise_event(store, clusters, event.id, now, revision)
            except StoreUnavailable:
                raise
            except StoreError:  # a concurrent edit, fold or deletion
                found = clusters.most_similar(event.id)
                _restore(store, clusters, event.id, *(found[:1] if found else ()))
                revision.conflicts += 1
            at = event.change_seq
            progress(at - begin, last - begin)
        store.events.save_position("revised", at)
        if revision.more:
            return revision
    store.events.save_position("revised", last)
    return revision


def _revise_event(store: Store, clusters: EventClusters, id: str, now: datetime, revision: Revision) -> None:
    event, assignments = store.events.event(id), store.events.members([id]).get(id, [])
    if event is None or not assignments:
        return
    if 1 < len(assignments) <= MAX_VECTOR_STORIES and not _is_named(event):
        for part in components(_stories(store, assignments), {member.story_id for member in assignments if member.by})[1:]:
            new, _ = split(store, id, part, by=NOBODY, now=now)
            _restore(store, clusters, id, new)
            revision.split += 1
    other = None
    while (found := clusters.most_similar(id)) and (other := store.events.event(found[0])) is None:
        _restore(store, clusters, found[0])
    if other is None or not other.stories:
        return
    by_event = store.events.members([id, other.id])
    edited = [side.id for side in (event, other) if _is_named(side) or any(member.by for member in by_event.get(side.id, ()))]
    members = [member for members in by_event.values() for member in members]
    if len(edited) == 2 or (len(members) <= MAX_VECTOR_STORIES and len(components(_stories(store, members))) > 1):
        return
    largest = max((event, other), key=lambda side: (side.id in edited, len(by_event.get(side.id, ())), -side.first.timestamp(), side.id))
    smaller = other if largest is event else event
    join(store, largest.id, smaller.id, by=NOBODY, now=now)
    _restore(store, clusters, largest.id, smaller.id)
    revision.joined += 1


def _is_named(event: Event) -> bool:
    return event.renamed or event.pinned is not None


def _stories(store: Store, assignments: Sequence[Assignment]) -> list[Story]:
    """Return the stories, earliest first."""
    heads = [story.head.id for story in store.by_id([assignment.story_id for assignment in assignments]).values()]
    articles = sorted(store.articles(heads), key=lambda article: (article.moment, article.id))
    return [story_of(article.story_id, article.title, article.text, article.moment) for article in articles]


def _restore(store: Store, clusters: EventClusters, *ids: str) -> None:
    for id in ids:
        clusters.remove(id)
    for id, vector in store.events.vectors(MAX_EVENTS, ids):
        if (state := state_of(id, vector)).stories:
            clusters.restore(state)
