"""What editors do to events: name, pin, split, join; and take that back. Raises ``StoreError`` for what is not there any more.

Each takes the editor's name (``by``), and writes down what was done (``log``: action, event, details).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.services.events.following import vector_over
from newsportal.store.events import Edit, Event
from newsportal.store.store import Store

Log = Callable[[str, str, Mapping[str, Any]], None]


def unlogged(action: str, thing: str, details: Mapping[str, Any]) -> None:
    """A ``log`` where there is none: nobody ever made accounts."""


MOST_TITLE = 200
"""Characters of an event's title."""

MOST_SUMMED = 200
"""Stories, the latest, whose words make the vector of an event that an editor put together."""


def existing(store: Store, event_id: str) -> Event:
    event = store.events.event(event_id)
    if event is None:
        raise StoreError(f"no event {event_id!r}; `newsportal event list` names them")
    return event


def rename(store: Store, event_id: str, title: str | None, *, by: str, now: datetime, log: Log = unlogged) -> int:
    """Give an event a title; ``None``: that of the story that most sites told. Answers the number of the edit, by which it is undone."""
    event = existing(store, event_id)
    wanted = (title or "").strip() or None
    if wanted is not None and len(wanted) > MOST_TITLE:
        raise StoreError(f"a title of {len(wanted)} characters; an event's may have {MOST_TITLE}")
    number = store.events.edit(Edit("rename", event_id, now, by, title=(event.title if event.renamed else None, wanted)), {})
    log("event.rename", event_id, {"title": title})
    return number


def pin(store: Store, event_id: str, pinned: bool, *, by: str, now: datetime, log: Log = unlogged) -> int:
    """Let an event stand above the others, or no longer."""
    event = existing(store, event_id)
    number = store.events.edit(Edit("pin", event_id, now, by, pinned=(event.pinned is not None, pinned)), {})
    log("event.pin", event_id, {"pinned": pinned})
    return number


def split(store: Store, event_id: str, story_ids: Collection[str], *, by: str, now: datetime, log: Log = unlogged) -> tuple[str, int]:
    """Take stories out of an event into one of their own; answers that event, and the number of the edit."""
    existing(store, event_id)
    there = {one.story_id for one in store.events.members([event_id]).get(event_id, [])}
    taken = there & set(story_ids)
    if not taken or taken == there:
        raise StoreError(f"name some stories of event {event_id!r}, but not all of them")
    new = content_id(" ".join(("event", event_id, now.isoformat(), *sorted(taken))))
    edit = Edit("split", event_id, now, by, dict.fromkeys(taken, (event_id, new)))
    number = store.events.edit(edit, _vectors(store, edit.moves))
    log("event.split", event_id, {"to": new, "stories": list(story_ids)})
    return new, number


def join(store: Store, event_id: str, other: str, *, by: str, now: datetime, log: Log = unlogged) -> int:
    """Put all stories of another event into this one; its address leads here from now on."""
    existing(store, event_id)
    moved = [one.story_id for one in store.events.members([other]).get(other, [])]
    if other == event_id or not moved:
        raise StoreError(f"no other event {other!r} to join with; `newsportal event list` names them")
    edit = Edit("join", event_id, now, by, dict.fromkeys(moved, (other, event_id)))
    number = store.events.edit(edit, _vectors(store, edit.moves))
    log("event.join", event_id, {"from": other})
    return number


def undo(store: Store, number: int, *, by: str, now: datetime, log: Log = unlogged) -> Edit:
    """Take an edit back, as long as nobody changed the same since; answers what was taken back."""
    done = next(iter(store.events.edits(after=number - 1, limit=1)), None)
    if done is None or done.number != number or done.undone is not None:
        raise StoreError(f"no edit {number} that could be taken back")
    moves = {story: (to, come) for story, (come, to) in done.moves.items()}
    title = done.title and (done.title[1], done.title[0])
    pinned = done.pinned and (done.pinned[1], done.pinned[0])
    back = Edit("undo", done.event_id, now, by, moves, title, pinned)
    store.events.edit(back, _vectors(store, moves), undoes=number)
    log("event.undo", done.event_id, {"edit": number, "kind": done.kind})
    return done


def _vectors(store: Store, moves: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """The vectors of the events that stories are moved between, as they are once they were moved."""
    ids = {event for move in moves.values() for event in move}
    stories = {event: [one.story_id for one in placed if one.story_id not in moves] for event, placed in store.events.members(ids).items()}
    for story, (_, to) in moves.items():
        stories.setdefault(to, []).append(story)
    heads = {event: [one.head.id for one in store.listed(stories.get(event, [])[-MOST_SUMMED:]).values()] for event in ids}
    return {event: vector_over(event, store.articles(heads[event])) for event in ids}
