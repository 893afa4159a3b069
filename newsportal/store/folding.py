"""Stories: assignment of articles by their fold keys, and the figures of stories; new articles of one transaction, whose rows are inserted
together by table. All functions run in the caller's transaction."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from newsportal.dedup.document import MIN_SAME_SHARE, alike, title_letters
from newsportal.items import Fold, FoldKey, TopicMark, content_id
from newsportal.store import prints
from newsportal.store.article_rows import HIDDEN_COLUMNS as HIDDEN
from newsportal.store.article_rows import visible
from newsportal.store.columns import EPOCH, name, shift, storable
from newsportal.store.dialects import chunks, insert_new, upsert
from newsportal.store.gallery_tables import GALLERIES
from newsportal.store.prints import TextPrint
from newsportal.store.reading import FIND, FIND_ALL, IDS, WANTED
from newsportal.store.tables import ARTICLES, EARLIEST_FIRST, EVENT_STORIES, FOLD_KEYS, LABELS, PRINTS, STORIES, TOPICS

LESS_OR_MORE: Final = frozenset({"part-of-text", "contains-text"})  # fold reasons of versions whose text differs from the other versions
NEARLY: Final = MIN_SAME_SHARE  # minimum share of the full text in the original; the judge's threshold for equal texts


def original(versions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the original among ``versions``: rows of :data:`VERSIONS`, earliest first."""
    photographed = [version for version in versions if version.get("pictures")]
    if photographed:
        return max(photographed, key=lambda version: (version["pictures"], bool(version["complete"])))
    full = [version for version in versions if version.get("fold_reason") not in LESS_OR_MORE]
    titles = [title_letters(version["title"]) for version in full]
    candidates = [version for version in versions if version in full or any(alike(title_letters(version["title"]), it) for it in titles)]
    longest = max((version["length"] for version in candidates), default=0)
    return next((version for version in candidates if version["length"] >= NEARLY * longest), versions[0])


HEAT_HALF_LIFE: Final = timedelta(hours=12)
"""Half-life of a report's weight: a story of last night needs twice the sites of one of this morning. Chosen, not measured."""

SAME_SITE_WEIGHT: Final = 0.25
"""Weight of further versions from a site already counted: an update means less than another newsroom. Chosen, not measured."""

LABELLED_BY: Final = ("site", "source", "category")  # Columns of an article whose values become labels of its story, besides topics


def figures(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of a story from its versions (earliest first). A completely hidden story has count 0, but other figures."""
    visible_versions = visible(versions)
    versions = visible_versions or versions
    head = original(versions)
    return {
        "head_id": head["id"], "count": len(visible_versions), "sites": len({version["publisher"] for version in visible_versions}),
        "first_seen": min(version["first_seen"] for version in versions), "last_seen": max(version["first_seen"] for version in versions),
        "moment": head["moment"], "heat": heat((version["moment"], version["publisher"]) for version in versions),
    }  # fmt: skip


def heat(versions: Iterable[tuple[datetime, str]]) -> float:
    """Return the heat of a story from the (moment, site) of its versions.

        heat = log2( sum over versions of  weight * 2 ** (moment / HEAT_HALF_LIFE) )

    with weight 1 for the first version of a site and :data:`SAME_SITE_WEIGHT` for the others. All reports decay alike, by half in each
    ``HEAT_HALF_LIFE``, so the order of stories never has to be recomputed: one half-life of age offsets twice the number of sites.
    """
    sites: set[str] = set()
    powers: list[float] = []
    for moment, site in sorted(versions):
        weight = SAME_SITE_WEIGHT if site in sites else 1.0
        sites.add(site)
        powers.append(math.log2(weight) + (moment - EPOCH) / HEAT_HALF_LIFE)
    top = max(powers)
    return top + math.log2(sum(2.0 ** (power - top) for power in powers))


def min_heat(since: datetime) -> float:
    """Return the minimum heat of a story with a version of ``since`` or later: that version alone, from a site already counted."""
    return math.log2(SAME_SITE_WEIGHT) + (since - EPOCH) / HEAT_HALF_LIFE


def by_hash(keys: Iterable[FoldKey]) -> dict[str, FoldKey]:
    """Return fold keys by their stored hash; of equal keys the one with the best score."""
    return {content_id(key.key): key for key in sorted(keys, key=lambda key: key.score)}


# Statements of every write, built once: building one costs more than running it.
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
KEYS_AT_ONCE = 50  # keys in one query. Articles have two; SQLite allows a few hundred.


def choose_match(connection: sa.Connection, row: Mapping[str, Any], keys: Sequence[FoldKey], excluded: Collection[str] = ()) -> Fold | None:
    """Return the article that ``row`` repeats: the key with the best score first, then the earliest article with that key.

    Stories in ``excluded`` are skipped. Writers with the same key must not run concurrently: the write lock guarantees that; a database
    with parallel writers would need a lock per key (``pg_advisory_xact_lock``, ``GET_LOCK``).
    """
    by_score = sorted(by_hash(keys).items(), key=lambda pair: (-pair[1].score, pair[0]))
    by_key = _find_by_keys(connection, by_score, row["moment"])
    for key_id, key in by_score:
        others = [other for other in by_key.get(key_id, ()) if other.id != row["id"]]
        # A recurring column (「每日天气」 on many sites, every day) must not be folded through another site's edition: unless
        # ``same_site``, a story that holds an article of this site with the key is excluded.
        same_site = set() if key.same_site else {candidate.story_id for candidate in others if candidate.publisher == row["publisher"]}
        allowed = [candidate for candidate in others if candidate.story_id not in same_site and candidate.story_id not in excluded]
        reports = Counter(candidate.story_id for candidate in allowed)  # prefer stories with several matches
        found = min(allowed, key=lambda candidate: -reports[candidate.story_id], default=None)
        if found:
            return Fold(found.story_id, found.id, storable(key.reason), key.score)
    return None


def _find_by_keys(connection: sa.Connection, keys: Sequence[tuple[str, FoldKey]], moment: datetime) -> dict[str, list[Any]]:
    """Return the articles (``id``, ``story_id``, ``publisher``, ``moment``) with each of the hashed keys within its window around
    ``moment``, earliest first."""
    found: dict[str, list[Any]] = {}
    for chunk in chunks(keys, KEYS_AT_ONCE):
        values: dict[str, str | datetime] = {}
        for n, (key_id, key) in enumerate(chunk):
            span = timedelta(seconds=key.window)
            first, last = shift(moment, -span), shift(moment, span)
            values |= {f"key_{n}": key_id, f"first_{n}": first, f"last_{n}": last}
        for row in connection.execute(_keys_query(len(chunk)), values):
            found.setdefault(row.key, []).append(row)
    return found


@cache
def _keys_query(count: int) -> sa.Select[tuple[str, str, str, str, datetime]]:
    """Return the query for articles with any of ``count`` keys, each with its own window."""
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
    upsert(connection, FOLD_KEYS, key_rows(article_id, moment, by_hash(keys)), update=("moment",))


def key_rows(article_id: str, moment: datetime, keys: Iterable[str]) -> list[dict[str, Any]]:
    return [{"key": key_id, "article_id": article_id, "moment": moment} for key_id in keys]


def new_story(connection: sa.Connection, founder: Mapping[str, Any], topics: Collection[str]) -> str:
    """Create a story for one article (its row and topics), and return the story's id.

    A story has the id of its founder, so old links to it work after it was folded away. If the founder was moved out of that story, the new
    story needs another id.
    """
    story, attempt = story_row(founder), 0
    while not insert_new(connection, STORIES, story):
        attempt += 1
        story["id"] = content_id(f"{founder['id']} {attempt}")
    if labels := labels_of(story, [founder], topics):
        connection.execute(NEW_LABELS, labels)
    return str(story["id"])


def story_row(founder: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": str(founder["id"]), **figures([founder])}


def hidden_columns(connection: sa.Connection, story_id: str) -> dict[str, Any]:
    """Return the columns of an article folded into this story if it is completely hidden; empty otherwise."""
    row = connection.execute(HIDDEN_STORY, {"story": story_id}).mappings().first()
    return dict(row) if row else {}


def refresh(connection: sa.Connection, story_id: str) -> None:
    """Recompute a story's original, figures and labels from its versions, and delete a story without versions."""
    versions = [dict(row) for row in connection.execute(VERSIONS, {"story": story_id}).mappings()]
    connection.execute(NO_LABELS, {"story": story_id})
    if not versions:
        connection.execute(NO_EVENT, {"story": story_id})
        connection.execute(NO_STORY, {"story": story_id})
        return
    columns = figures(versions)
    connection.execute(FIGURES, {"story": story_id, **columns})
    topics = set(connection.scalars(STORY_TOPICS, {"story": story_id}))
    if labels := labels_of({"id": story_id, **columns}, versions, topics):
        connection.execute(NEW_LABELS, labels)


def labels_of(story: Mapping[str, Any], versions: Sequence[Mapping[str, Any]], topics: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows for each topic, site, source and category of a story's visible versions, with the sort keys of lists."""
    visible_versions = visible(versions)
    if not visible_versions:
        return []
    labels = {(kind, version[kind]) for version in visible_versions for kind in LABELLED_BY if version[kind]}
    labels |= {("topic", topic) for topic in topics}
    order = {"story_id": story["id"], "moment": story["moment"], "heat": story["heat"]}
    return [{"kind": kind, "value": value, **order} for kind, value in sorted(labels)]


NEW_ARTICLE, NEW_STORY = sa.insert(ARTICLES), sa.insert(STORIES)
STORY = sa.select(sa.null(), STORIES.c.id)
FIND_ONE: sa.CompoundSelect[Any] = sa.union_all(*FIND.selects, STORY.where(STORIES.c.id == WANTED))  # half the time of FIND_MANY
FIND_MANY: sa.CompoundSelect[Any] = sa.union_all(*FIND_ALL.selects, STORY.where(STORIES.c.id.in_(IDS)))


def find_existing(connection: sa.Connection, identities: Iterable[str]) -> dict[str, str | None]:
    """Map the id of each identity to the article known by it, directly or as an alias; ``None``: only a story has that id."""
    found: dict[str, str | None] = {}
    for chunk in chunks(map(content_id, identities)):
        single = len(chunk) == 1
        for article_id, id in connection.execute(FIND_ONE if single else FIND_MANY, {"wanted": chunk[0]} if single else {"ids": chunk}):
            found[id] = article_id or found.get(id)
    return found


def topic_rows(article_id: str, topics: Mapping[str, TopicMark]) -> list[dict[str, Any]]:
    return [{"article_id": article_id, "topic": topic, "by": name(mark.by), "score": mark.score} for topic, mark in sorted(topics.items())]


@dataclass(slots=True)
class NewRows:
    """Rows buffered until :meth:`write`. Their articles cannot be found before: write them first if a new one :meth:`may_repeat` them."""

    _rows: defaultdict[sa.Table, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    _runs: set[int] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)

    def may_repeat(self, new: TextPrint, keys: Collection[str]) -> bool:
        """Return whether the text shares an indexed run or a key with a buffered article, so that it may repeat one."""
        return not (self._keys.isdisjoint(keys) and self._runs.isdisjoint(new.fingerprint.runs.tolist()))

    def begin_story(self, founder: Mapping[str, Any], topics: Collection[str]) -> None:
        """Add a story of one article, with the article's id."""
        story = story_row(founder)
        self._rows[STORIES].append(story)
        self._rows[LABELS] += labels_of(story, [founder], topics)

    def add(self, row: dict[str, Any], topics: list[dict[str, Any]], keys: Collection[str], new: TextPrint, now: datetime) -> None:
        from newsportal.dedup.shingle_index import indexed  # loaded late: few processes need numpy

        self._rows[ARTICLES].append(row)
        self._rows[TOPICS] += topics
        self._rows[FOLD_KEYS] += key_rows(row["id"], row["moment"], keys)
        self._rows[PRINTS] += prints.print_rows(row["id"], row["moment"], new, now)
        self._keys.update(keys)
        self._runs.update(indexed(new.fingerprint.runs, new.fingerprint.length).tolist())

    def write(self, connection: sa.Connection, now: datetime) -> list[str]:
        """Insert the buffered rows, and return the ids of the articles."""
        rows, self._rows = self._rows, defaultdict(list)
        self._runs.clear()
        self._keys.clear()
        for table, statement in ((STORIES, NEW_STORY), (LABELS, NEW_LABELS), (ARTICLES, NEW_ARTICLE)):
            if rows[table]:
                connection.execute(statement, rows[table])
        upsert(connection, TOPICS, rows[TOPICS])
        upsert(connection, FOLD_KEYS, rows[FOLD_KEYS], update=("moment",))
        prints.save(connection, rows[PRINTS], now)
        return [row["id"] for row in rows[ARTICLES]]
