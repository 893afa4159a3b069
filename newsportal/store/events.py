"""Events over stories (docs/algorithms/events.md): which stories report on one development, and editors' changes.

- a story is in at most one event; assignments by editors are permanent;
- ``assign`` updates the position in the change log in the same transaction: two followers never write the same changes;
- each change of an event increases ``events.change_seq``, so readers of :meth:`Events.changed_since` miss nothing;
- an edit records old and new values, and can be undone as long as the values were not changed again.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import log2
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.store.columns import EPOCH, build, name, storable
from newsportal.store.dialects import PAGE, Part, chunks, select_in, upsert
from newsportal.store.lists import cursor, parse_cursor, rows_after, unindexed
from newsportal.store.tables import ARTICLES, EVENT_EDITS, EVENT_POSITION, EVENT_REDIRECTS, EVENT_STORIES, EVENTS, LABELS, STORIES

READ: Final = [column for column in EVENTS.c if column.name != "vector"]


@dataclass(frozen=True, slots=True)
class Event:
    """``title``: an editor's, or that of the story with the most sites. ``heat``: sort key, as for stories; ``pinned``: when an editor
    pinned it to the top. ``change_seq``: increases with each change of any event."""

    id: str
    title: str
    head_id: str
    stories: int
    sites: int
    first: datetime
    last: datetime
    heat: float
    pinned: datetime | None = None
    change_seq: int = 0
    renamed: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """Assignment of a story to an event: similarity, the decisive words, and the editor who made it (``None``: the algorithm)."""

    story_id: str
    event_id: str
    score: float
    words: tuple[str, ...] = ()
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """``by``: the editor; empty: the nightly pass. ``moves``: story -> (old, new) event; ``title``, ``pinned``: (old, new) or None."""

    kind: str
    event_id: str
    at: datetime
    by: str
    moves: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    title: tuple[str | None, str | None] | None = None
    pinned: tuple[bool, bool] | None = None
    number: int = 0
    undone: int | None = None

    @property
    def events(self) -> set[str]:
        return {self.event_id, *(event for move in self.moves.values() for event in move)}


@dataclass(frozen=True, slots=True)
class ReportingSite:
    """A site that reported on an event: time of its first article, and number of articles."""

    site: str
    first: datetime
    articles: int


@dataclass(frozen=True, slots=True)
class EventPage:
    events: tuple[Event, ...]
    next: str | None = None


class Events(Part):
    def position(self, of: str = "log") -> int:
        """Return a position. ``log``: last change of the log whose stories were assigned to events; ``changed``: number of the last change
        of an event; ``revised``: last of these changes whose event was revised."""
        return self._scalar(select(EVENT_POSITION.c.seq).where(EVENT_POSITION.c.name == of)) or 0

    def save_position(self, of: str, seq: int) -> None:
        self._upsert(EVENT_POSITION, [{"name": of, "seq": seq}], update=("seq",))

    def vectors(self, limit: int, ids: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """Yield the algorithm's vectors of the most recent events, or of those with these ids."""
        with self._read() as connection:
            columns = select(EVENTS.c.id, EVENTS.c.vector)
            if ids is not None:
                rows: Iterable[Any] = select_in(connection, columns, EVENTS.c.id, ids)
            else:
                newest = columns.order_by(EVENTS.c.last.desc(), EVENTS.c.id).limit(limit)
                rows = connection.execute(newest, execution_options={"yield_per": PAGE}).mappings()
            for row in rows:
                yield row["id"], zlib.decompress(row["vector"])

    def assign(
        self, placed: Sequence[Assignment], vectors: Mapping[str, str], *, after: int, up_to: int, touched: Collection[str] = (),
        again: bool = False, edited: int | None = None,
    ) -> bool:  # fmt: skip
        """Assign stories to events and store the events' ``vectors``. Return False, with nothing written, if another process was faster.

        ``after`` and ``up_to``: range of the change log processed. ``touched``: stories whose events are recounted. ``again``: stories may
        have been deleted or moved, so recount every event that no longer matches its stories. ``edited``: the last edit in ``vectors``.
        """
        with self._write() as connection:
            if (connection.scalar(select(EVENT_POSITION.c.seq).where(EVENT_POSITION.c.name == "log")) or 0) != after:
                return False
            later = () if edited is None else connection.execute(select(EVENT_EDITS).where(EVENT_EDITS.c.number > edited)).mappings()
            if any(_edit(row).events & vectors.keys() for row in later):
                return False
            ids = [assignment.story_id for assignment in placed]
            available = {row["id"] for row in select_in(connection, select(STORIES.c.id), STORIES.c.id, ids)}
            available -= {row["story_id"] for row in select_in(connection, select(EVENT_STORIES.c.story_id), EVENT_STORIES.c.story_id, ids)}
            new = [assignment for assignment in placed if assignment.story_id in available]  # skip those assigned by an editor meanwhile
            _write_vectors(connection, {assignment.event_id: vectors[assignment.event_id] for assignment in new})
            upsert(connection, EVENT_STORIES, [asdict(assignment) | {"words": list(map(storable, assignment.words))} for assignment in new])
            touched_events = {row["event_id"] for row in select_in(connection, select(EVENT_STORIES), EVENT_STORIES.c.story_id, touched)}
            recount(connection, {assignment.event_id for assignment in new} | touched_events | (_outdated(connection) if again else set()))
            upsert(connection, EVENT_POSITION, [{"name": "log", "seq": up_to}], update=("seq",))
        return True

    def clear(self) -> list[str]:
        """Remove all stories from events, except those of editors, so that the change log is read from its start; return the rest."""
        with self._write() as connection:
            connection.execute(delete(EVENT_STORIES).where(EVENT_STORIES.c.by.is_(None)))
            recount(connection, set(connection.scalars(select(EVENTS.c.id))))
            upsert(connection, EVENT_POSITION, [{"name": "log", "seq": 0}], update=("seq",))
            return list(connection.scalars(select(EVENTS.c.id).order_by(EVENTS.c.id)))

    def save_vectors(self, vectors: Mapping[str, str]) -> None:
        with self._write() as connection:
            _write_vectors(connection, vectors)

    def edit(self, edit: Edit, vectors: Mapping[str, str], *, undoes: int | None = None) -> int:
        """Apply an edit, and return its number. ``vectors``: of the events between which it moves stories. Raises ``StoreError`` if an old
        value of the edit is no longer current."""
        with self._write() as connection:
            _expect(connection, edit)
            _write_vectors(connection, vectors)
            for story_id, (_, to) in edit.moves.items():
                moved = update(EVENT_STORIES).where(EVENT_STORIES.c.story_id == story_id).values(event_id=to)
                connection.execute(moved.values(score=1.0, words=[]) if edit.by else moved)
            if edit.moves and edit.by:  # the editor has confirmed the other stories of these events, too
                connection.execute(update(EVENT_STORIES).where(EVENT_STORIES.c.event_id.in_(edit.events)).values(by=name(edit.by)))
            row = update(EVENTS).where(EVENTS.c.id == edit.event_id)
            if edit.title is not None:
                connection.execute(row.values(title=None if edit.title[1] is None else storable(edit.title[1])))
            if edit.pinned is not None:
                connection.execute(row.values(pinned=edit.at if edit.pinned[1] else None))
            redirects = dict(edit.moves.values())  # unless stories remain: recount deletes those redirects
            upsert(connection, EVENT_REDIRECTS, [{"id": old, "event_id": to} for old, to in redirects.items()], update=("event_id",))
            connection.execute(delete(EVENT_REDIRECTS).where(EVENT_REDIRECTS.c.id.in_(redirects.values())))
            recount(connection, edit.events)
            moves = {"stories": {story: list(move) for story, move in edit.moves.items()}, "title": edit.title, "pinned": edit.pinned}
            written = {"kind": edit.kind, "event_id": edit.event_id, "at": edit.at, "by": name(edit.by), "moves": moves}
            (number,) = connection.execute(insert(EVENT_EDITS).values(written)).inserted_primary_key or (0,)
            if undoes is not None:
                connection.execute(update(EVENT_EDITS).where(EVENT_EDITS.c.number == undoes).values(undone=number))
            return int(number)

    def edits(self, event_id: str | None = None, *, after: int = 0, limit: int = 50) -> list[Edit]:
        """Return the edits of an event, latest first, or all edits after a number, earliest first."""
        query = select(EVENT_EDITS).where(EVENT_EDITS.c.number > after).limit(limit)
        if event_id is not None:
            query = query.where(EVENT_EDITS.c.event_id == event_id).order_by(EVENT_EDITS.c.number.desc())
        return [_edit(row) for row in self._mappings(query if event_id else query.order_by(EVENT_EDITS.c.number))]

    def last_edit(self) -> int:
        return self._scalar(select(func.max(EVENT_EDITS.c.number))) or 0

    def event(self, id: str) -> Event | None:
        return next(iter(self._events(select(*READ).where(EVENTS.c.id == id))), None)

    def merged_into(self, id: str) -> str | None:
        """Return the event into which this one was finally merged, or ``None``."""
        found = None
        while to := self._scalar(select(EVENT_REDIRECTS.c.event_id).where(EVENT_REDIRECTS.c.id == (found or id))):
            found = to
        return found

    def list_events(
        self, *, since: datetime | None = None, topic: str | None = None, min_stories: int = 2, order: str = "hottest",
        before: str | None = None, limit: int = 30,
    ) -> EventPage:  # fmt: skip
        """Return events with at least ``min_stories``, hottest or newest first. ``topic``: with a story of it. ``before``: a cursor."""
        key = EVENTS.c.heat if order == "hottest" else EVENTS.c.last
        query = select(*READ).where(EVENTS.c.stories >= min_stories, *rows_after(parse_cursor(before, order), key, EVENTS.c.id))
        if since is not None:
            query = query.where(EVENTS.c.last >= since)
        if topic is not None:
            of_topic = select(EVENT_STORIES.c.event_id).join(LABELS, LABELS.c.story_id == EVENT_STORIES.c.story_id)
            query = query.where(EVENTS.c.id.in_(of_topic.where(LABELS.c.kind == "topic", LABELS.c.value == name(topic))))
        found = self._events(query.order_by(key.desc(), EVENTS.c.id.desc()).limit(limit + 1))
        last = found[limit - 1] if len(found) > limit else None
        return EventPage(tuple(found[:limit]), cursor(last.heat if order == "hottest" else last.last, last.id) if last else None)

    def pinned(self) -> list[Event]:
        """Those that editors keep on top, the latest first."""  # SQLite looks up no "is not NULL" in an index
        return self._events(select(*READ).where(EVENTS.c.pinned > EPOCH).order_by(EVENTS.c.pinned.desc(), EVENTS.c.id))

    def changed_since(self, changed: int, limit: int = PAGE) -> list[Event]:
        """Return events changed after this number, in order of change."""
        return self._events(select(*READ).where(EVENTS.c.change_seq > changed).order_by(EVENTS.c.change_seq, EVENTS.c.id).limit(limit))

    def of(self, story_ids: Collection[str]) -> dict[str, Assignment]:
        """Return the assignment of each story that is in an event."""
        rows = self._select_in(select(EVENT_STORIES), EVENT_STORIES.c.story_id, story_ids)
        return {row["story_id"]: build(Assignment, row, words=tuple) for row in rows}

    def members(self, event_ids: Collection[str]) -> dict[str, list[Assignment]]:
        """Return the stories of each event, earliest first, without hidden ones."""
        columns = select(EVENT_STORIES, STORIES.c.moment).join(STORIES, STORIES.c.id == EVENT_STORIES.c.story_id)
        rows = self._select_in(columns.where(STORIES.c.count > 0), EVENT_STORIES.c.event_id, event_ids)
        found: dict[str, list[Assignment]] = {}
        for row in sorted(rows, key=lambda row: (row["moment"], row["story_id"])):
            found.setdefault(row["event_id"], []).append(build(Assignment, row, words=tuple))
        return found

    def reporting_sites(self, event_id: str) -> list[ReportingSite]:
        """Return the sites that reported on an event, earliest first."""
        first, number = func.min(ARTICLES.c.moment).label("first"), func.count().label("number")
        articles = select(ARTICLES.c.publisher, first, number).join(EVENT_STORIES, EVENT_STORIES.c.story_id == ARTICLES.c.story_id)
        query = articles.where(EVENT_STORIES.c.event_id == event_id, unindexed(ARTICLES.c.hidden).is_(None)).group_by(ARTICLES.c.publisher)
        return [ReportingSite(row.publisher, row.first, row.number) for row in self._rows(query.order_by(first, ARTICLES.c.publisher))]

    def _events(self, query: Any) -> list[Event]:
        """Return events with their titles. The titles of head stories take one extra query in all, not one per event."""
        with self._read() as connection:
            rows = connection.execute(query).mappings().all()
            titles = select(STORIES.c.id, ARTICLES.c.title).join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id)
            heads = {row["id"]: row["title"] for row in select_in(connection, titles, STORIES.c.id, {row["head_id"] for row in rows})}
        return [
            build(Event, {**row, "title": row["title"] or heads.get(row["head_id"], ""), "renamed": row["title"] is not None})
            for row in rows
        ]


def _edit(row: Mapping[Any, Any]) -> Edit:
    moves = row["moves"]
    title, pinned = (tuple(moves[key]) if moves[key] is not None else None for key in ("title", "pinned"))
    stories = {story: (move[0], move[1]) for story, move in moves["stories"].items()}
    return Edit(row["kind"], row["event_id"], row["at"], row["by"], stories, title, pinned, row["number"], row["undone"])


def _write_vectors(connection: Connection, vectors: Mapping[str, str]) -> None:
    rows = [{"id": id, "vector": zlib.compress(vector.encode()), **EMPTY} for id, vector in vectors.items()]
    upsert(connection, EVENTS, rows, update=("vector",))


EMPTY: Final = {"head_id": None, "stories": 0, "sites": 0, "first": EPOCH, "last": EPOCH, "heat": 0.0, "change_seq": 0}
"""Columns of a new row before its stories are counted."""


def _expect(connection: Connection, edit: Edit) -> None:
    row = connection.execute(select(EVENTS.c.title, EVENTS.c.pinned).where(EVENTS.c.id == edit.event_id)).one_or_none()
    if row is None and not edit.moves:
        raise StoreError(f"no event {edit.event_id!r}")
    found = {row["story_id"]: row["event_id"] for row in select_in(connection, select(EVENT_STORIES), EVENT_STORIES.c.story_id, edit.moves)}
    same = all(found.get(story) == event for story, (event, _) in edit.moves.items())
    same = same and (edit.title is None or (row is not None and row.title == edit.title[0]))
    if not (same and (edit.pinned is None or (row is not None and (row.pinned is not None) == edit.pinned[0]))):
        raise StoreError(f"event {edit.event_id!r} was changed meanwhile: reload it")


def _outdated(connection: Connection) -> set[str]:
    """Return events whose figures no longer match their stories: some were folded, hidden or deleted."""
    members = select(EVENT_STORIES.c.event_id, func.count().label("number")).join(STORIES, STORIES.c.id == EVENT_STORIES.c.story_id)
    counts = members.where(STORIES.c.count > 0).group_by(EVENT_STORIES.c.event_id).subquery()
    query = select(EVENTS.c.id).outerjoin(counts, counts.c.event_id == EVENTS.c.id)
    return set(connection.scalars(query.where(EVENTS.c.stories != func.coalesce(counts.c.number, 0))))


def recount(connection: Connection, ids: Collection[str]) -> None:
    """Recompute the figures of events from their stories, and delete empty events unless an editor named or pinned them."""
    columns = select(EVENT_STORIES.c.event_id, *(STORIES.c[name] for name in ("id", "sites", "moment", "heat")))
    visible = columns.join(STORIES, STORIES.c.id == EVENT_STORIES.c.story_id).where(STORIES.c.count > 0)
    figures: dict[str, list[RowMapping]] = {}  # of visible stories
    for found in select_in(connection, visible, EVENT_STORIES.c.event_id, ids):
        figures.setdefault(found["event_id"], []).append(found)
    publishers = select(EVENT_STORIES.c.event_id, func.count(ARTICLES.c.publisher.distinct()).label("number"))
    articles = publishers.join(ARTICLES, ARTICLES.c.story_id == EVENT_STORIES.c.story_id).where(unindexed(ARTICLES.c.hidden).is_(None))
    counts = select_in(connection, articles.group_by(EVENT_STORIES.c.event_id), EVENT_STORIES.c.event_id, ids)
    sites = {found["event_id"]: found["number"] for found in counts}
    number = connection.scalar(select(EVENT_POSITION.c.seq).where(EVENT_POSITION.c.name == "changed")) or 0
    for number, id in enumerate(sorted(ids), number + 1):  # noqa: B020  the last number is stored below
        row = update(EVENTS).where(EVENTS.c.id == id)
        if stories := figures.get(id):
            head = max(stories, key=lambda story: (story["sites"], -story["moment"].timestamp(), story["id"]))
            moments, top = [story["moment"] for story in stories], max(story["heat"] for story in stories)
            heat = top + log2(sum(2.0 ** (story["heat"] - top) for story in stories))
            values = {"head_id": head["id"], "first": min(moments), "last": max(moments), "heat": heat, "sites": sites.get(id, 0)}
            connection.execute(row.values(stories=len(stories), change_seq=number, **values))
        else:
            connection.execute(row.values(stories=0, change_seq=number))
    for chunk in chunks(list(figures)):
        connection.execute(delete(EVENT_REDIRECTS).where(EVENT_REDIRECTS.c.id.in_(chunk)))
    for chunk in chunks(id for id in ids if id not in figures):
        with_stories = select(EVENT_STORIES.c.event_id).where(EVENT_STORIES.c.event_id.in_(chunk))
        removable = (EVENTS.c.title.is_(None), EVENTS.c.pinned.is_(None), EVENTS.c.id.not_in(with_stories.scalar_subquery()))
        connection.execute(delete(EVENTS).where(EVENTS.c.id.in_(chunk), *removable))
    upsert(connection, EVENT_POSITION, [{"name": "changed", "seq": number}], update=("seq",))
