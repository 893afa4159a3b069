"""Stories: which one an article belongs to by its keys, and what follows for the story; and new articles of one transaction, whose rows are
written together, table by table. All inside the caller's transaction."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from newsportal.dedup.fingerprints import Codes
from newsportal.dedup.judge import SAME, alike, title_letters
from newsportal.dedup.shingle_index import indexed
from newsportal.items import Fold, FoldKey, TopicMark, content_id
from newsportal.store import prints
from newsportal.store.article_rows import HIDDEN_COLUMNS as HIDDEN
from newsportal.store.article_rows import visible
from newsportal.store.columns import EPOCH, name, shifted, storable
from newsportal.store.dialects import chunks, insert_new, upsert
from newsportal.store.gallery_tables import GALLERIES
from newsportal.store.prints import Printed
from newsportal.store.reading import FIND, FIND_ALL, IDS, WANTED
from newsportal.store.tables import ARTICLES, EARLIEST_FIRST, EVENT_STORIES, FOLD_KEYS, LABELS, PRINTS, STORIES, TOPICS

MORE: Final = "contains-text"
LESS_OR_MORE: Final = frozenset({"part-of-text", MORE})  # Why a version stands in its story if it is not the same text as the others
NEARLY: Final = SAME  # share of the whole text that the original holds at least: what makes two texts the same to the judge


def original(versions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The original among ``versions`` (the earliest first), each with ``title``, ``length`` and ``fold_reason``; photo stories with
    ``pictures`` and ``complete``."""
    photographed = [version for version in versions if version.get("pictures")]
    if photographed:
        return max(photographed, key=lambda version: (version["pictures"], bool(version["complete"])))
    tellings = [version for version in versions if version.get("fold_reason") not in LESS_OR_MORE]
    titles = [title_letters(version["title"]) for version in tellings]
    for version in versions:
        if version.get("fold_reason") == MORE:
            own = title_letters(version["title"])
            if any(alike(own, title) for title in titles):
                tellings.append(version)
    whole = max((version["length"] for version in tellings), default=0)
    return next((version for version in versions if version in tellings and version["length"] >= NEARLY * whole), versions[0])


HEAT_HALF_LIFE: Final = timedelta(hours=12)
"""A report counts half after this time: yesterday evening's story needs twice the sites of this morning's. Chosen, not measured."""

SAME_SITE_WEIGHT: Final = 0.25
"""What a further version from a site that has one already counts: an update is less of a sign than another newsroom. Chosen."""

LABELLED_BY: Final = ("site", "source", "category")  # Columns of an article under whose values its story stands in lists, beside its topics


def figures(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of a story, from its versions (earliest first). One that is hidden as a whole counts none, and is led as it was."""
    counted = visible(versions)
    versions = counted or versions
    head = original(versions)
    return {
        "head_id": head["id"], "count": len(counted), "sites": len({version["publisher"] for version in counted}),
        "first_seen": min(version["first_seen"] for version in versions), "last_seen": max(version["first_seen"] for version in versions),
        "moment": head["moment"], "heat": heat((version["moment"], version["publisher"]) for version in versions),
    }  # fmt: skip


def heat(versions: Iterable[tuple[datetime, str]]) -> float:
    """How hot a story is, from the (moment, site) of its versions.

        heat = log2( sum over versions of  weight * 2 ** (moment / HEAT_HALF_LIFE) )

    with weight 1 for the first version of a site and :data:`SAME_SITE_WEIGHT` for its others. Every report's share halves each
    ``HEAT_HALF_LIFE``, for all stories alike, so their order never has to be worked out again as time goes by: one half-life of age
    weighs as much as twice the sites.
    """
    visible: set[str] = set()
    powers: list[float] = []
    for moment, site in sorted(versions):
        weight = SAME_SITE_WEIGHT if site in visible else 1.0
        visible.add(site)
        powers.append(math.log2(weight) + (moment - EPOCH) / HEAT_HALF_LIFE)
    top = max(powers)
    return top + math.log2(sum(2.0 ** (power - top) for power in powers))


def coolest(since: datetime) -> float:
    """What a story is at least as hot as that has a version of ``since`` or later: that version alone, from a site that has one already."""
    return math.log2(SAME_SITE_WEIGHT) + (since - EPOCH) / HEAT_HALF_LIFE


def hashed(keys: Iterable[FoldKey]) -> dict[str, FoldKey]:
    """Fold keys by the hash they are kept under; of equal keys the one with the best score."""
    return {content_id(key.key): key for key in sorted(keys, key=lambda key: key.score)}


# Statements of every write, made once: to put them together anew costs more than to run them.
_STORY: sa.BindParameter[str] = sa.bindparam("story")
VERSION = ("id", "publisher", "site", "source", "category", "moment", "first_seen", "title", "length", "fold_reason", "hidden")
VERSIONS = (
    sa.select(*(ARTICLES.c[name] for name in VERSION), GALLERIES.c.pictures, GALLERIES.c.complete)
    .outerjoin(GALLERIES, GALLERIES.c.id == ARTICLES.c.id)
    .where(ARTICLES.c.story_id == _STORY)
    .order_by(*EARLIEST_FIRST)
)
NEW_LABELS = sa.insert(LABELS)
NO_LABELS = sa.delete(LABELS).where(LABELS.c.story_id == _STORY)
FIGURES = sa.update(STORIES).where(STORIES.c.id == _STORY)
NO_EVENT = sa.delete(EVENT_STORIES).where(EVENT_STORIES.c.story_id == _STORY)
NO_STORY = sa.delete(STORIES).where(STORIES.c.id == _STORY)
STORY_TOPICS = (
    sa.select(TOPICS.c.topic)
    .distinct()
    .join(ARTICLES, ARTICLES.c.id == TOPICS.c.article_id)
    .where(ARTICLES.c.story_id == _STORY, ARTICLES.c.hidden.is_(None))
)
HIDDEN_STORY = (
    sa.select(*(ARTICLES.c[name] for name in HIDDEN))
    .join(STORIES, STORIES.c.head_id == ARTICLES.c.id)
    .where(STORIES.c.id == _STORY, STORIES.c.count == 0)
)
KEYS_AT_ONCE = 50  # keys that one statement asks for. Articles have two; SQLite takes a few hundred.


def choose(connection: sa.Connection, row: Mapping[str, Any], keys: Sequence[FoldKey], apart: Collection[str] = ()) -> Fold | None:
    """The article that ``row`` repeats, and by which of its keys: best score first, then the earliest article under that key.

    Stories of ``apart`` are out. No two writers may be here with the same key at the same time: SQLite's write transactions see to
    it; a database with parallel writers takes a lock a key (``pg_advisory_xact_lock``, ``GET_LOCK``) before.
    """
    by_score = sorted(hashed(keys).items(), key=lambda pair: (-pair[1].score, pair[0]))
    under = _under(connection, by_score, row["moment"])
    for key_id, key in by_score:
        others = [other for other in under.get(key_id, ()) if other.id != row["id"]]
        # A standing column (「每日天气」 on many sites, every day) must not creep in through another site's edition, so with ``same_site``
        # False a story that holds this site's own article under the key is out as a whole.
        taken = set() if key.same_site else {candidate.story_id for candidate in others if candidate.publisher == row["publisher"]}
        allowed = [candidate for candidate in others if candidate.story_id not in taken and candidate.story_id not in apart]
        reports = Counter(candidate.story_id for candidate in allowed)  # a text that stands alone in its story draws no reposts away
        found = min(allowed, key=lambda candidate: -reports[candidate.story_id], default=None)
        if found:
            return Fold(found.story_id, found.id, storable(key.reason), key.score)
    return None


def _under(connection: sa.Connection, keys: Sequence[tuple[str, FoldKey]], moment: datetime) -> dict[str, list[Any]]:
    """The articles (``id``, ``story_id``, ``publisher``, ``moment``) under each of the hashed keys within its window around ``moment``,
    earliest first."""
    found: dict[str, list[Any]] = {}
    for asked in chunks(keys, KEYS_AT_ONCE):
        values: dict[str, str | datetime] = {}
        for n, (key_id, key) in enumerate(asked):
            span = timedelta(seconds=key.window)
            first, last = shifted(moment, -span), shifted(moment, span)
            values |= {f"key_{n}": key_id, f"first_{n}": first, f"last_{n}": last}
        for row in connection.execute(_under_any(len(asked)), values):
            found.setdefault(row.key, []).append(row)
    return found


@cache
def _under_any(count: int) -> sa.Select[tuple[str, str, str, str, datetime]]:
    """The articles under any of so many keys, each key with a window of its own."""
    within = (
        sa.and_(
            FOLD_KEYS.c.key == sa.bindparam(f"key_{n}"), FOLD_KEYS.c.moment.between(sa.bindparam(f"first_{n}"), sa.bindparam(f"last_{n}"))
        )
        for n in range(count)
    )
    return (
        sa.select(FOLD_KEYS.c.key, ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.publisher, ARTICLES.c.moment)
        .join(FOLD_KEYS, FOLD_KEYS.c.article_id == ARTICLES.c.id)
        .where(sa.or_(*within))
        .order_by(ARTICLES.c.moment, ARTICLES.c.id)
    )


def save_keys(connection: sa.Connection, article_id: str, moment: datetime, keys: Iterable[FoldKey]) -> None:
    """Keep the article under its keys, for those that come later."""
    upsert(connection, FOLD_KEYS, key_rows(article_id, moment, hashed(keys)), update=("moment",))


def key_rows(article_id: str, moment: datetime, keys: Iterable[str]) -> list[dict[str, Any]]:
    return [{"key": key_id, "article_id": article_id, "moment": moment} for key_id in keys]


def new_story(connection: sa.Connection, founder: Mapping[str, Any], topics: Collection[str]) -> str:
    """Found a story on one article (its row, and its topics); answers the story's id.

    A story is called like its founder, so an old link still leads to the founder's story when it was folded away. The founder of a
    story who is taken out of it needs another name.
    """
    story, attempt = founded(founder), 0
    while not insert_new(connection, STORIES, story):
        attempt += 1
        story["id"] = content_id(f"{founder['id']} {attempt}")
    if labels := labels_of(story, [founder], topics):
        connection.execute(NEW_LABELS, labels)
    return str(story["id"])


def founded(founder: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a story of one article."""
    return {"id": str(founder["id"]), **figures([founder])}


def hidden_with(connection: sa.Connection, story_id: str) -> dict[str, Any]:
    """The columns of an article that is folded into this story, if that is hidden as a whole; else none."""
    row = connection.execute(HIDDEN_STORY, {"story": story_id}).mappings().first()
    return dict(row) if row else {}


def refresh(connection: sa.Connection, story_id: str) -> None:
    """Work out a story's original, figures and labels from its versions; a story without any goes."""
    versions = [dict(row) for row in connection.execute(VERSIONS, {"story": story_id}).mappings()]
    connection.execute(NO_LABELS, {"story": story_id})
    if not versions:
        connection.execute(NO_EVENT, {"story": story_id})
        connection.execute(NO_STORY, {"story": story_id})
        return
    counted = figures(versions)
    connection.execute(FIGURES, {"story": story_id, **counted})
    topics = set(connection.scalars(STORY_TOPICS, {"story": story_id}))
    if labels := labels_of({"id": story_id, **counted}, versions, topics):
        connection.execute(NEW_LABELS, labels)


def labels_of(story: Mapping[str, Any], versions: Sequence[Mapping[str, Any]], topics: Collection[str]) -> list[dict[str, Any]]:
    """The rows that list a story under every topic, site, source and category of the versions that readers see, each with what lists are
    ordered by."""
    shown = visible(versions)
    if not shown:
        return []
    labels = {(kind, version[kind]) for version in shown for kind in LABELLED_BY if version[kind]}
    labels |= {("topic", topic) for topic in topics}
    order = {"story_id": story["id"], "moment": story["moment"], "heat": story["heat"]}
    return [{"kind": kind, "value": value, **order} for kind, value in sorted(labels)]


NEW_ARTICLE, NEW_STORY = sa.insert(ARTICLES), sa.insert(STORIES)
STORY = sa.select(sa.null(), STORIES.c.id)
FIND_ONE: sa.CompoundSelect[Any] = sa.union_all(*FIND.selects, STORY.where(STORIES.c.id == WANTED))  # half the time of one of many
FIND_MANY: sa.CompoundSelect[Any] = sa.union_all(*FIND_ALL.selects, STORY.where(STORIES.c.id.in_(IDS)))


def find_existing(connection: sa.Connection, identities: Iterable[str]) -> dict[str, str | None]:
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

    _rows: defaultdict[sa.Table, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
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

    def write(self, connection: sa.Connection, now: datetime) -> list[str]:
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
