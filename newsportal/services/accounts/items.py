"""The numbers by which reader apps know stories: given once, growing in the order in which stories came."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import delete, func, insert, select

from newsportal.services.accounts.tables import FOLLOWED, ITEM_NUMBERS
from newsportal.store.dialects import Part, chunks, select_in
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

FOLLOWING: Final = "items"
STEP: Final = 1_000  # rows of the change log looked at together

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
        known, last = self._scalar(select(FOLLOWED.c.position).where(FOLLOWED.c.name == FOLLOWING)), store.last_seq()
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
        self._upsert(FOLLOWED, [{"name": FOLLOWING, "position": position}], update=("position",))
