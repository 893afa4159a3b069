"""Read and starred stories of a person (a mark per story, and a time up to which everything is read), saved searches, and the numbers by
which reader apps identify stories: assigned once, in the order of arrival."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.services.accounts.base import random_id
from newsportal.services.accounts.tables import FEED_KEYS, ITEM_NUMBERS, LOG_POSITIONS, MARKS, READ_UNTIL, SEARCHES
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.lists import Edge, rows_after
from newsportal.store.results import Story, StoryFilter
from newsportal.store.store import Store
from newsportal.text import clean

MAX_MARKS = 20_000
"""Per person, besides starred ones: about half a year of a diligent reader. The oldest are deleted; «all read» covers older stories."""

MAX_STARRED = 5_000
SPARE = 500  # marks above the limit before the oldest are deleted, to avoid a deletion with every mark
STEP = 1_000  # rows of the change log read in one batch
EVERYTHING = ""  # the topic for «everything» in `Marks.catch_up`
FOLLOWING = "marks"


class TooManyStarred(StoreError):
    """Raised by :meth:`Marks.star`; the caller suggests removing a star."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on a story. ``read`` None: never set. ``starred``: since when. ``at``: time of the last change."""

    read: bool | None
    starred: datetime | None
    at: datetime


@dataclass(frozen=True, slots=True)
class StoryMarks:
    """The marks of a person on some stories. ``read_until``: topic (:data:`EVERYTHING`) → time until which everything is read."""

    marks: Mapping[str, Mark] = field(default_factory=dict)
    read_until: Mapping[str, datetime] = field(default_factory=dict)

    def read(self, story: Story) -> bool:
        """Return whether the story is read, by the later of its own mark and «all read»."""
        mark = self.marks.get(story.id)
        if mark is not None and mark.read:
            return True
        until = max((self.read_until[name] for name in (EVERYTHING, *story.head.topics) if name in self.read_until), default=None)
        if until is None or story.first_seen > until:
            return False
        return mark is None or mark.read is None or mark.at <= until

    def starred(self, story_id: str) -> bool:
        mark = self.marks.get(story_id)
        return mark is not None and mark.starred is not None


class Marks(Part):
    """Thread-safe, blocking. Raises the errors of stores."""

    def filter_marked(self, story_ids: Collection[str]) -> set[str]:
        """Return which of these stories anybody has marked."""
        return {row["story_id"] for row in self._select_in(select(MARKS.c.story_id), MARKS.c.story_id, dict.fromkeys(story_ids))}

    def of(self, person_id: str, story_ids: Collection[str]) -> StoryMarks:
        rows = self._select_in(select(MARKS).where(MARKS.c.person_id == person_id), MARKS.c.story_id, dict.fromkeys(story_ids))
        moments = self._rows(select(READ_UNTIL.c.topic, READ_UNTIL.c.until).where(READ_UNTIL.c.person_id == person_id))
        marks = {row["story_id"]: Mark(row["read"], row["starred"], row["at"]) for row in rows}
        return StoryMarks(marks, {row.topic: row.until for row in moments})

    def set_read(self, person_id: str, story_ids: str | Collection[str], read: bool, *, now: datetime) -> None:
        with self._write() as connection:
            for story_id in [story_ids] if isinstance(story_ids, str) else dict.fromkeys(story_ids):
                _put(connection, person_id, story_id, {"read": read, "at": now})
            condition = and_(MARKS.c.person_id == person_id, MARKS.c.starred.is_(None))
            if connection.execute(select(func.count()).select_from(MARKS).where(condition)).scalar_one() > MAX_MARKS + SPARE:
                oldest = connection.scalar(select(MARKS.c.at).where(condition).order_by(MARKS.c.at.desc()).offset(MAX_MARKS).limit(1))
                connection.execute(delete(MARKS).where(condition, MARKS.c.at <= oldest))

    def star(self, person_id: str, story_id: str, starred: bool, *, now: datetime) -> None:
        """Star or unstar a story. A starred story keeps its date. Raises ``TooManyStarred``."""
        with self._write() as connection:
            condition = and_(MARKS.c.person_id == person_id, MARKS.c.starred.is_not(None))
            if not starred:
                connection.execute(update(MARKS).where(condition, MARKS.c.story_id == story_id).values(starred=None))
                return
            if connection.scalar(select(MARKS.c.story_id).where(condition, MARKS.c.story_id == story_id)) is not None:
                return
            if connection.execute(select(func.count()).select_from(MARKS).where(condition)).scalar_one() >= MAX_STARRED:
                raise TooManyStarred(f"{MAX_STARRED} stories are starred already: unstar some first")
            _put(connection, person_id, story_id, {"starred": now, "at": now})

    def starred(self, person_id: str, *, before: Edge | None = None, limit: int = 30) -> list[tuple[datetime, str]]:
        """Return (since when, story) of starred stories, latest first; ``before``: continue after this one."""
        query = select(MARKS.c.starred, MARKS.c.story_id).where(MARKS.c.person_id == person_id, MARKS.c.starred.is_not(None))
        query = query.where(*rows_after(before, MARKS.c.starred, MARKS.c.story_id))
        rows = self._rows(query.order_by(MARKS.c.starred.desc(), MARKS.c.story_id.desc()).limit(limit))
        return [(row.starred, row.story_id) for row in rows]

    def mark_all_read(self, person_id: str, topic: str = EVERYTHING, *, now: datetime) -> None:
        """Mark everything (of a topic) in the portal until ``now`` as read."""
        key = and_(READ_UNTIL.c.person_id == person_id, READ_UNTIL.c.topic == topic)
        with self._write() as connection:
            former = connection.scalar(select(READ_UNTIL.c.until).where(key))
            row = {"person_id": person_id, "topic": topic, "until": now, "previous": former}
            upsert(connection, READ_UNTIL, [row], update=("until", "previous"))

    def undo_mark_all_read(self, person_id: str, topic: str = EVERYTHING) -> None:
        key = and_(READ_UNTIL.c.person_id == person_id, READ_UNTIL.c.topic == topic)
        with self._write() as connection:
            row = connection.execute(select(READ_UNTIL.c.previous).where(key)).one_or_none()
            if row is not None and row.previous is not None:
                connection.execute(update(READ_UNTIL).where(key).values(until=row.previous, previous=None))
            elif row is not None:
                connection.execute(delete(READ_UNTIL).where(key))

    def rename_topic(self, before: str, after: str) -> None:
        with self._write() as connection:
            rows = connection.execute(select(READ_UNTIL).where(READ_UNTIL.c.topic == before)).mappings().all()
            connection.execute(delete(READ_UNTIL).where(READ_UNTIL.c.topic == before))
            upsert(connection, READ_UNTIL, [{**row, "topic": after} for row in rows], update=("until", "previous"))

    def feed_key(self, person_id: str, *, renew: bool = False) -> str:
        """Return the secret in the URL of a person's feeds, created on first use; ``renew``: replace it, invalidating the former URL."""
        with self._write() as connection:
            secret = connection.scalar(select(FEED_KEYS.c.secret).where(FEED_KEYS.c.person_id == person_id))
            if secret is not None and not renew:
                return str(secret)
            row = {"person_id": person_id, "secret": secrets.token_urlsafe(24)}
            upsert(connection, FEED_KEYS, [row], update=("secret",))
            return str(row["secret"])

    def person_of_feed(self, secret: str) -> str | None:
        found: str | None = self._scalar(select(FEED_KEYS.c.person_id).where(FEED_KEYS.c.secret == secret))
        return found

    def follow(self, store: Store) -> int:
        """Move marks of stories that were folded into another one to that story. Return the number of change log rows read."""
        start = self._scalar(select(LOG_POSITIONS.c.seq).where(LOG_POSITIONS.c.name == FOLLOWING))
        last = store.last_seq()
        if start is None or start > last:  # first call, or a log shorter than the position: continue at its end
            start = last
            self._remember(last)
        position, read = int(start), 0
        while rows := store.changes(after=position, limit=STEP):
            ids = [row.id for row in rows if row.kind == "fold"]
            marked = {row["story_id"] for row in self._select_in(select(MARKS.c.story_id), MARKS.c.story_id, ids)}
            targets = {old: story.id for old, story in store.by_id(marked).items() if story.id != old} if marked else {}
            for old, new in targets.items():
                with self._write() as connection:
                    _join(connection, old, new)
            position, read = rows[-1].seq, read + len(rows)
            self._remember(position)
        return read

    def _remember(self, position: int) -> None:
        self._upsert(LOG_POSITIONS, [{"name": FOLLOWING, "seq": position}], update=("seq",))


def _put(connection: Connection, person_id: str, story_id: str, values: Mapping[str, Any]) -> None:
    row = {"person_id": person_id, "story_id": story_id, **values}
    upsert(connection, MARKS, [row], update=tuple(values))


def _join(connection: Connection, old: str, new: str) -> None:
    """Merge the marks on ``old`` into those on ``new``, the same news: read or starred if one of them was."""
    rows = connection.execute(select(MARKS).where(MARKS.c.story_id == old)).all()
    existing = {row.person_id: row for row in connection.execute(select(MARKS).where(MARKS.c.story_id == new))}
    for row in rows:
        other = existing.get(row.person_id)
        read = row.read if other is None or other.read is None else other.read or row.read
        starred = [since for since in (row.starred, other.starred if other else None) if since is not None]
        at = max(row.at, other.at) if other else row.at
        _put(connection, row.person_id, new, {"read": read, "starred": min(starred, default=None), "at": at})
    connection.execute(delete(MARKS).where(MARKS.c.story_id == old))


MAX_SEARCHES = 100  # per person: as many as a list can show
MAX_NAME = 80
MAX_QUERY_CHARS = 4_000  # characters of the percent-encoded query


class SearchNotSaved(StoreError):
    """Raised by :meth:`Searches.save` and :meth:`Searches.rename`; the caller shows the message next to the form."""


@dataclass(frozen=True, slots=True)
class Search:
    """A saved search. ``query``: the query string of the search page (``q=…&topic=…``)."""

    id: str
    person_id: str
    name: str
    query: str
    created: datetime


class Searches(Part):
    """Thread-safe, blocking. Raises the errors of stores."""

    def save(self, person_id: str, name: str, query: str, *, now: datetime) -> Search:
        """Save a search; a saved one with the same query is renamed. Raises ``SearchNotSaved``."""
        label = _checked_name(name)
        if not query or len(query) > MAX_QUERY_CHARS:
            raise SearchNotSaved("The search is empty or too long.")
        with self._write() as connection:
            condition = SEARCHES.c.person_id == person_id
            existing = [row for row in connection.execute(select(SEARCHES).where(condition)) if row.query == query]
            if existing:
                connection.execute(update(SEARCHES).where(SEARCHES.c.id == existing[0].id).values(name=label))
                return Search(existing[0].id, person_id, label, query, existing[0].created)
            if connection.execute(select(func.count()).select_from(SEARCHES).where(condition)).scalar_one() >= MAX_SEARCHES:
                raise SearchNotSaved(f"{MAX_SEARCHES} searches are saved already: remove one first.")
            search = Search(random_id(), person_id, label, query, now)
            connection.execute(insert(SEARCHES).values(astuple(search)))
            return search

    def of(self, person_id: str) -> list[Search]:
        return [Search(*row) for row in self._rows(select(SEARCHES).where(SEARCHES.c.person_id == person_id).order_by(SEARCHES.c.name))]

    def search(self, person_id: str, search_id: str) -> Search | None:
        return next((Search(*row) for row in self._rows(select(SEARCHES).where(_owned(person_id, search_id)))), None)

    def rename(self, person_id: str, search_id: str, name: str) -> bool:
        """Return whether the person has this search. Raises ``SearchNotSaved``."""
        return self._execute(update(SEARCHES).where(_owned(person_id, search_id)).values(name=_checked_name(name))) > 0

    def remove(self, person_id: str, search_id: str) -> Search | None:
        """Return the removed search, so that it can be restored."""
        with self._write() as connection:
            row = connection.execute(select(SEARCHES).where(_owned(person_id, search_id))).one_or_none()
            connection.execute(delete(SEARCHES).where(_owned(person_id, search_id)))
        return Search(*row) if row is not None else None


def _owned(person_id: str, search_id: str) -> Any:
    return and_(SEARCHES.c.person_id == person_id, SEARCHES.c.id == search_id)


def _checked_name(name: str) -> str:
    cleaned = clean(name)[:MAX_NAME].strip()
    if not cleaned:
        raise SearchNotSaved("Give it a name.")
    return cleaned


NUMBERED: Final = "items"

NEWEST: Final = 5_000
"""Newest stories numbered on the first visit of an app. Older ones are numbered on demand."""

MAX_BEHIND: Final = 50_000
"""Changes; if no app came for longer, the newest stories are numbered as on the first visit, without reading the log."""


class ItemNumbers(Part):
    """Thread-safe, blocking. Raises the errors of stores."""

    def of(self, story_ids: Sequence[str]) -> dict[str, int]:
        """Return story → number. New numbers are assigned in reverse order of ``story_ids``, because lists begin with the newest."""
        query = select(ITEM_NUMBERS)
        found = {row["story_id"]: int(row["number"]) for row in self._select_in(query, ITEM_NUMBERS.c.story_id, dict.fromkeys(story_ids))}
        missing = [id for id in dict.fromkeys(reversed(story_ids)) if id not in found]
        if missing:
            with self._write() as connection:
                existing = {row["story_id"] for row in select_in(connection, query, ITEM_NUMBERS.c.story_id, missing)}
                new = [{"story_id": id} for id in missing if id not in existing]
                for chunk in chunks(new):
                    connection.execute(insert(ITEM_NUMBERS), list(chunk))
                rows = list(select_in(connection, query, ITEM_NUMBERS.c.story_id, missing))
            found |= {row["story_id"]: int(row["number"]) for row in rows}
        return found

    def stories(self, numbers: Collection[int]) -> dict[int, str]:
        """Return number → story, of numbers that were assigned."""
        rows = self._select_in(select(ITEM_NUMBERS), ITEM_NUMBERS.c.number, dict.fromkeys(numbers))
        return {int(row["number"]): row["story_id"] for row in rows}

    def above(self, number: int, limit: int) -> list[tuple[int, str]]:
        """Return (number, story) above ``number``, lowest first."""
        query = select(ITEM_NUMBERS).where(ITEM_NUMBERS.c.number > number).order_by(ITEM_NUMBERS.c.number).limit(limit)
        return [(int(row.number), row.story_id) for row in self._rows(query)]

    def below(self, number: int, limit: int) -> list[tuple[int, str]]:
        """Return (number, story) below ``number``, highest first."""
        query = select(ITEM_NUMBERS).where(ITEM_NUMBERS.c.number < number).order_by(ITEM_NUMBERS.c.number.desc()).limit(limit)
        return [(int(row.number), row.story_id) for row in self._rows(query)]

    def count(self) -> int:
        return self._scalar(select(func.count()).select_from(ITEM_NUMBERS)) or 0

    def follow(self, store: Store) -> None:
        """Number the stories added since the last call; delete the numbers of deleted ones."""
        start, last = self._scalar(select(LOG_POSITIONS.c.seq).where(LOG_POSITIONS.c.name == NUMBERED)), store.last_seq()
        if start is None or start > last or last - start > MAX_BEHIND:
            self.of([story.id for story in store.newest(StoryFilter(limit=STEP), NEWEST)])
            self._remember(last)
            return
        position = int(start)
        while rows := store.changes(after=position, limit=STEP):
            stories = store.by_id([row.id for row in rows])
            self.of([story.id for row in reversed(rows) if (story := stories.get(row.id)) is not None])
            deleted = {row.id for row in rows if row.kind == "gone"} - set(stories)
            if deleted:
                self._execute(delete(ITEM_NUMBERS).where(ITEM_NUMBERS.c.story_id.in_(deleted)))
            position = rows[-1].seq
            self._remember(position)

    def _remember(self, position: int) -> None:
        self._upsert(LOG_POSITIONS, [{"name": NUMBERED, "seq": position}], update=("seq",))
