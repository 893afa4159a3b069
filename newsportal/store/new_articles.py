"""New articles of one transaction: what of them is there already, and their rows, which are written together, table by table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Table, insert, null, select, union_all

from newsportal.dedup.fingerprints import Codes
from newsportal.dedup.shingle_index import indexed
from newsportal.items import TopicMark, content_id
from newsportal.store import prints
from newsportal.store.columns import name
from newsportal.store.dialects import chunks, upsert
from newsportal.store.folding import NEW_LABELS, founded, key_rows, labels_of
from newsportal.store.prints import Printed
from newsportal.store.reading import FIND, FIND_ALL, IDS, WANTED
from newsportal.store.tables import ARTICLES, FOLD_KEYS, LABELS, PRINTS, STORIES, TOPICS

NEW_ARTICLE, NEW_STORY = insert(ARTICLES), insert(STORIES)
STORY = select(null(), STORIES.c.id)
FIND_ONE: CompoundSelect[Any] = union_all(*FIND.selects, STORY.where(STORIES.c.id == WANTED))  # half the time of one of many
FIND_MANY: CompoundSelect[Any] = union_all(*FIND_ALL.selects, STORY.where(STORIES.c.id.in_(IDS)))


def find_existing(connection: Connection, identities: Iterable[str]) -> dict[str, str | None]:
    """Id of an identity → the article that is known by it, itself or as an alias; ``None``: there is none, but a story of that id."""
    found: dict[str, str | None] = {}
    for some in chunks(map(content_id, identities)):
        one = len(some) == 1
        for article_id, id in connection.execute(FIND_ONE if one else FIND_MANY, {"wanted": some[0]} if one else {"ids": some}):
            found[id] = article_id or found.get(id)
    return found


def topic_rows(article_id: str, topics: Mapping[str, TopicMark]) -> list[dict[str, Any]]:
    return [{"article_id": article_id, "topic": topic, "by": name(mark.by), "score": mark.score} for topic, mark in sorted(topics.items())]


@dataclass(slots=True)
class NewRows:
    """Rows that wait until :meth:`write`. Nobody finds their articles before: who :meth:`may_repeat` one of them has them written first."""

    _rows: defaultdict[Table, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    _runs: set[int] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)

    def may_repeat(self, runs: Codes, keys: Collection[str]) -> bool:
        """Whether a text of these ``runs`` shares an indexed one, or a key, with an article that waits: else it cannot repeat one."""
        return not (self._keys.isdisjoint(keys) and self._runs.isdisjoint(runs.tolist()))

    def begin_story(self, founder: Mapping[str, Any], topics: Collection[str]) -> None:
        """A story of one article, under its id."""
        story = founded(founder)
        self._rows[STORIES].append(story)
        self._rows[LABELS] += labels_of(story, [founder], topics)

    def add(self, row: dict[str, Any], topics: list[dict[str, Any]], keys: Collection[str], new: Printed, now: datetime) -> None:
        self._rows[ARTICLES].append(row)
        self._rows[TOPICS] += topics
        self._rows[FOLD_KEYS] += key_rows(row["id"], row["moment"], keys)
        self._rows[PRINTS] += prints.print_rows(row["id"], row["moment"], new, now)
        self._keys.update(keys)
        self._runs.update(indexed(new.fingerprint.runs, new.fingerprint.length).tolist())

    def write(self, connection: Connection, now: datetime) -> list[str]:
        """Answers the ids of the articles."""
        rows, self._rows = self._rows, defaultdict(list)
        self._runs.clear()
        self._keys.clear()
        for table, statement in ((STORIES, NEW_STORY), (LABELS, NEW_LABELS), (ARTICLES, NEW_ARTICLE)):
            if rows[table]:
                connection.execute(statement, rows[table])
        upsert(connection, TOPICS, rows[TOPICS])
        upsert(connection, FOLD_KEYS, rows[FOLD_KEYS], update=("moment",))
        prints.keep(connection, rows[PRINTS], now)
        return [row["id"] for row in rows[ARTICLES]]
