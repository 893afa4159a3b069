"""What a person has read and starred (a mark a story, and a moment up to which everything is read), and the searches kept under a name;
and the numbers by which reader apps know stories: given once, growing in the order in which stories came."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.services.accounts.base import random_id
from newsportal.services.accounts.tables import CAUGHT_UP, FEED_KEYS, FOLLOWED, ITEM_NUMBERS, MARKS, SEARCHES
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.lists import Edge, behind
from newsportal.store.results import Story, StoryFilter
from newsportal.store.store import Store
from newsportal.text import clean

MAX_MARKS = 20_000
"""Of one person, beside the starred ones: about half a year of a diligent reader. The oldest go; «all read» covers what is older."""

MAX_STARRED = 5_000
SPARE = 500  # so many marks above the bound are borne until the oldest are deleted: not a deletion with every mark
STEP = 1_000  # rows of the change log looked at together
EVERYTHING = ""  # the topic of «everything» in `Marks.catch_up`
FOLLOWING = "marks"


class TooManyStarred(StoreError):
    """Raised by :meth:`Marks.star`; the caller says so, and that a star can be taken off."""


@dataclass(frozen=True, slots=True)
class Mark:
    """``read`` None: never said. ``starred``: since when. ``at``: when something was said last."""

    read: bool | None
    starred: datetime | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Marked:
    """The marks of a person on some stories. ``caught_up``: topic (:data:`EVERYTHING`) → until when everything is read."""

    marks: Mapping[str, Mark] = field(default_factory=dict)
    caught_up: Mapping[str, datetime] = field(default_factory=dict)

    def read(self, story: Story) -> bool:
        """Whether it is read: what was said of it last, by itself or with all others."""
        mark = self.marks.get(story.id)
        if mark is not None and mark.read:
            return True
        until = max((self.caught_up[name] for name in (EVERYTHING, *story.head.topics) if name in self.caught_up), default=None)
        if until is None or story.first_seen > until:
            return False
        return mark is None or mark.read is None or mark.at <= until

    def starred(self, story_id: str) -> bool:
        mark = self.marks.get(story_id)
        return mark is not None and mark.starred is not None


class Marks(Part):
    """May be shared between threads. Blocking calls. Errors are those of stores."""

    def marked(self, story_ids: Collection[str]) -> set[str]:
        """Of these stories those that somebody marked."""
        return {row["story_id"] for row in self._select_in(select(MARKS.c.story_id), MARKS.c.story_id, dict.fromkeys(story_ids))}

    def of(self, person_id: str, story_ids: Collection[str]) -> Marked:
        rows = self._select_in(select(MARKS).where(MARKS.c.person_id == person_id), MARKS.c.story_id, dict.fromkeys(story_ids))
        moments = self._rows(select(CAUGHT_UP.c.topic, CAUGHT_UP.c.at).where(CAUGHT_UP.c.person_id == person_id))
        marks = {row["story_id"]: Mark(row["read"], row["starred"], row["at"]) for row in rows}
        return Marked(marks, {row.topic: row.at for row in moments})

    def set_read(self, person_id: str, story_ids: str | Collection[str], read: bool, *, now: datetime) -> None:
        """Of one story or several."""
        with self._write() as connection:
            for story_id in [story_ids] if isinstance(story_ids, str) else dict.fromkeys(story_ids):
                _put(connection, person_id, story_id, {"read": read, "at": now})
            mine = and_(MARKS.c.person_id == person_id, MARKS.c.starred.is_(None))
            if connection.execute(select(func.count()).select_from(MARKS).where(mine)).scalar_one() > MAX_MARKS + SPARE:
                oldest = connection.scalar(select(MARKS.c.at).where(mine).order_by(MARKS.c.at.desc()).offset(MAX_MARKS).limit(1))
                connection.execute(delete(MARKS).where(mine, MARKS.c.at <= oldest))

    def star(self, person_id: str, story_id: str, starred: bool, *, now: datetime) -> None:
        """Raises ``TooManyStarred``. A story that has its star already keeps its place among the starred ones."""
        with self._write() as connection:
            mine = and_(MARKS.c.person_id == person_id, MARKS.c.starred.is_not(None))
            if not starred:
                connection.execute(update(MARKS).where(mine, MARKS.c.story_id == story_id).values(starred=None))
                return
            if connection.scalar(select(MARKS.c.story_id).where(mine, MARKS.c.story_id == story_id)) is not None:
                return
            if connection.execute(select(func.count()).select_from(MARKS).where(mine)).scalar_one() >= MAX_STARRED:
                raise TooManyStarred(f"{MAX_STARRED} stories are starred already: take the star off some first")
            _put(connection, person_id, story_id, {"starred": now, "at": now})

    def starred(self, person_id: str, *, before: Edge | None = None, limit: int = 30) -> list[tuple[datetime, str]]:
        """(since when, story) of the starred ones, the last starred first; ``before``: behind this one."""
        query = select(MARKS.c.starred, MARKS.c.story_id).where(MARKS.c.person_id == person_id, MARKS.c.starred.is_not(None))
        query = query.where(*behind(before, MARKS.c.starred, MARKS.c.story_id))
        rows = self._rows(query.order_by(MARKS.c.starred.desc(), MARKS.c.story_id.desc()).limit(limit))
        return [(row.starred, row.story_id) for row in rows]

    def catch_up(self, person_id: str, topic: str = EVERYTHING, *, now: datetime) -> None:
        """Everything (of a topic) that the portal has by ``now`` is read."""
        key = and_(CAUGHT_UP.c.person_id == person_id, CAUGHT_UP.c.topic == topic)
        with self._write() as connection:
            former = connection.scalar(select(CAUGHT_UP.c.at).where(key))
            row = {"person_id": person_id, "topic": topic, "at": now, "before": former}
            upsert(connection, CAUGHT_UP, [row], update=("at", "before"))

    def undo_catch_up(self, person_id: str, topic: str = EVERYTHING) -> None:
        """As it was before the last :meth:`catch_up`; nothing where there was none."""
        key = and_(CAUGHT_UP.c.person_id == person_id, CAUGHT_UP.c.topic == topic)
        with self._write() as connection:
            row = connection.execute(select(CAUGHT_UP.c.before).where(key)).one_or_none()
            if row is not None and row.before is not None:
                connection.execute(update(CAUGHT_UP).where(key).values(at=row.before, before=None))
            elif row is not None:
                connection.execute(delete(CAUGHT_UP).where(key))

    def feed_key(self, person_id: str, *, anew: bool = False) -> str:
        """The secret in the address of a person's own feeds, made when first asked for; ``anew``: another one, the former opens nothing."""
        with self._write() as connection:
            known = connection.scalar(select(FEED_KEYS.c.secret).where(FEED_KEYS.c.person_id == person_id))
            if known is not None and not anew:
                return str(known)
            row = {"person_id": person_id, "secret": secrets.token_urlsafe(24)}
            upsert(connection, FEED_KEYS, [row], update=("secret",))
            return str(row["secret"])

    def person_of_feed(self, secret: str) -> str | None:
        """Whose feed has this secret."""
        found: str | None = self._scalar(select(FEED_KEYS.c.person_id).where(FEED_KEYS.c.secret == secret))
        return found

    def follow(self, store: Store) -> int:
        """Marks go with their stories: those of a story that was folded into another are the other's from now on.

        Answers how many rows of the change log were read.
        """
        known = self._scalar(select(FOLLOWED.c.position).where(FOLLOWED.c.name == FOLLOWING))
        last = store.last_seq()
        if known is None or known > last:  # for the first time, or of a log that is shorter than what was read of it: from its end on
            known = last
            self._remember(last)
        position, read = int(known), 0
        while rows := store.changes(after=position, limit=STEP):
            ids = [row.id for row in rows if row.kind == "fold"]
            marked = {row["story_id"] for row in self._select_in(select(MARKS.c.story_id), MARKS.c.story_id, ids)}
            now = {old: story.id for old, story in store.listed(marked).items() if story.id != old} if marked else {}
            for old, new in now.items():
                with self._write() as connection:
                    _join(connection, old, new)
            position, read = rows[-1].seq, read + len(rows)
            self._remember(position)
        return read

    def _remember(self, position: int) -> None:
        self._upsert(FOLLOWED, [{"name": FOLLOWING, "position": position}], update=("position",))


def _put(connection: Connection, person_id: str, story_id: str, values: Mapping[str, Any]) -> None:
    row = {"person_id": person_id, "story_id": story_id, **values}
    upsert(connection, MARKS, [row], update=tuple(values))


def _join(connection: Connection, old: str, new: str) -> None:
    """The marks on ``old`` become marks on ``new``: the same news, so it is read if one of them was, and starred if one of them was."""
    rows = connection.execute(select(MARKS).where(MARKS.c.story_id == old)).all()
    there = {row.person_id: row for row in connection.execute(select(MARKS).where(MARKS.c.story_id == new))}
    for row in rows:
        other = there.get(row.person_id)
        read = row.read if other is None or other.read is None else other.read or row.read
        starred = [since for since in (row.starred, other.starred if other else None) if since is not None]
        at = max(row.at, other.at) if other else row.at
        _put(connection, row.person_id, new, {"read": read, "starred": min(starred, default=None), "at": at})
    connection.execute(delete(MARKS).where(MARKS.c.story_id == old))


MAX_SEARCHES = 100  # of one person: a list that is still looked at
MAX_NAME = 80
MAX_ASKED = 4_000  # characters of the query of an address, percent signs and all


class SearchNotSaved(StoreError):
    """Raised by :meth:`Searches.keep` and :meth:`Searches.rename`; the caller shows the sentence beside the form."""


@dataclass(frozen=True, slots=True)
class Search:
    """``asked``: the query of the search page's address (``q=…&topic=…``)."""

    id: str
    person_id: str
    name: str
    asked: str
    created: datetime


class Searches(Part):
    """May be shared between threads. Blocking calls. Errors are those of stores."""

    def keep(self, person_id: str, name: str, asked: str, *, now: datetime) -> Search:
        """Keep a search; one that is kept already gets the new name. Raises ``SearchNotSaved``."""
        named = _named(name)
        if not asked or len(asked) > MAX_ASKED:
            raise SearchNotSaved("There is nothing to keep, or it is too long.")
        with self._write() as connection:
            mine = SEARCHES.c.person_id == person_id
            known = [row for row in connection.execute(select(SEARCHES).where(mine)) if row.asked == asked]
            if known:
                connection.execute(update(SEARCHES).where(SEARCHES.c.id == known[0].id).values(name=named))
                return Search(known[0].id, person_id, named, asked, known[0].created)
            if connection.execute(select(func.count()).select_from(SEARCHES).where(mine)).scalar_one() >= MAX_SEARCHES:
                raise SearchNotSaved(f"{MAX_SEARCHES} searches are kept already: remove one first.")
            made = Search(random_id(), person_id, named, asked, now)
            connection.execute(insert(SEARCHES).values(asdict(made)))
            return made

    def of(self, person_id: str) -> list[Search]:
        return [Search(*row) for row in self._rows(select(SEARCHES).where(SEARCHES.c.person_id == person_id).order_by(SEARCHES.c.name))]

    def search(self, person_id: str, search_id: str) -> Search | None:
        return next((Search(*row) for row in self._rows(select(SEARCHES).where(_mine(person_id, search_id)))), None)

    def rename(self, person_id: str, search_id: str, name: str) -> bool:
        """Whether there is such a search of this person. Raises ``SearchNotSaved``."""
        return self._execute(update(SEARCHES).where(_mine(person_id, search_id)).values(name=_named(name))) > 0

    def remove(self, person_id: str, search_id: str) -> Search | None:
        """What was removed, so that it can be kept again."""
        with self._write() as connection:
            row = connection.execute(select(SEARCHES).where(_mine(person_id, search_id))).one_or_none()
            connection.execute(delete(SEARCHES).where(_mine(person_id, search_id)))
        return Search(*row) if row is not None else None


def _mine(person_id: str, search_id: str) -> Any:
    return and_(SEARCHES.c.person_id == person_id, SEARCHES.c.id == search_id)


def _named(name: str) -> str:
    named = clean(name)[:MAX_NAME].strip()
    if not named:
        raise SearchNotSaved("Give it a name.")
    return named


NUMBERED: Final = "items"

NEWEST: Final = 5_000
"""So many of the newest stories are numbered when an app comes for the first time. Older ones get their number when one is asked for."""

MAX_BEHIND: Final = 50_000
"""Changes; when no app came for longer, the newest stories are numbered as at the first time, rather than the log read."""


class ItemNumbers(Part):
    """May be shared between threads. Blocking calls. Errors are those of stores."""

    def of(self, story_ids: Sequence[str]) -> dict[str, int]:
        """Story → number. Those that have none get one, the last of ``story_ids`` the lowest: lists begin with the newest."""
        wanted = select(ITEM_NUMBERS)
        found = {row["story_id"]: int(row["number"]) for row in self._select_in(wanted, ITEM_NUMBERS.c.story_id, dict.fromkeys(story_ids))}
        missing = [id for id in dict.fromkeys(reversed(story_ids)) if id not in found]
        if missing:
            with self._write() as connection:
                there = {row["story_id"] for row in select_in(connection, wanted, ITEM_NUMBERS.c.story_id, missing)}
                new = [{"story_id": id} for id in missing if id not in there]
                for some in chunks(new):
                    connection.execute(insert(ITEM_NUMBERS), list(some))
                rows = list(select_in(connection, wanted, ITEM_NUMBERS.c.story_id, missing))
            found |= {row["story_id"]: int(row["number"]) for row in rows}
        return found

    def stories(self, numbers: Collection[int]) -> dict[int, str]:
        """Number → story, of those that were given."""
        rows = self._select_in(select(ITEM_NUMBERS), ITEM_NUMBERS.c.number, dict.fromkeys(numbers))
        return {int(row["number"]): row["story_id"] for row in rows}

    def above(self, number: int, limit: int) -> list[tuple[int, str]]:
        """(number, story) of those above ``number``, the lowest first."""
        wanted = select(ITEM_NUMBERS).where(ITEM_NUMBERS.c.number > number).order_by(ITEM_NUMBERS.c.number).limit(limit)
        return [(int(row.number), row.story_id) for row in self._rows(wanted)]

    def below(self, number: int, limit: int) -> list[tuple[int, str]]:
        """(number, story) of those below ``number``, the highest first."""
        wanted = select(ITEM_NUMBERS).where(ITEM_NUMBERS.c.number < number).order_by(ITEM_NUMBERS.c.number.desc()).limit(limit)
        return [(int(row.number), row.story_id) for row in self._rows(wanted)]

    def count(self) -> int:
        return self._scalar(select(func.count()).select_from(ITEM_NUMBERS)) or 0

    def follow(self, store: Store) -> None:
        """Number the stories that came since the last call; forget those that were deleted."""
        known, last = self._scalar(select(FOLLOWED.c.position).where(FOLLOWED.c.name == NUMBERED)), store.last_seq()
        if known is None or known > last or last - known > MAX_BEHIND:
            self.of([story.id for story in store.newest(StoryFilter(limit=STEP), NEWEST)])
            self._remember(last)
            return
        position = int(known)
        while rows := store.changes(after=position, limit=STEP):
            stories = store.listed([row.id for row in rows])
            self.of([story.id for row in reversed(rows) if (story := stories.get(row.id)) is not None])
            gone = {row.id for row in rows if row.kind == "gone"} - set(stories)
            if gone:
                self._execute(delete(ITEM_NUMBERS).where(ITEM_NUMBERS.c.story_id.in_(gone)))
            position = rows[-1].seq
            self._remember(position)

    def _remember(self, position: int) -> None:
        self._upsert(FOLLOWED, [{"name": NUMBERED, "position": position}], update=("position",))
