"""Delete data older than ``retention`` of sources.yaml allows, in small transactions: the next run continues a killed one.

A story is deleted once all of its versions are old. Deletions are logged as ``gone``, which the index, destinations and figures follow, and
the identities stay known for :data:`NAMES_KEPT`, so that list pages do not bring the articles back.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, exists, func, insert, or_, select, update

from newsportal.store.article_rows import EDITOR
from newsportal.store.columns import METADATA
from newsportal.store.crawl_state import RUNS
from newsportal.store.dialects import Part, chunks, dialect, select_in
from newsportal.store.gallery_tables import GALLERIES, GALLERY_PAGES, GALLERY_PICTURES
from newsportal.store.labels import FORMER_LABELS, LABELLED
from newsportal.store.link_tables import LINKS, OVER, PRUNED
from newsportal.store.outbox import OUTBOX, POSITIONS
from newsportal.store.pictures import PICTURE_STORIES, PICTURES, SIGHTINGS
from newsportal.store.reading import topics_of
from newsportal.store.tables import ALIASES, ARTICLES, CHANGES, EVENT_EDITS, REVISIONS, STORIES, TOPICS, UNFOLDED
from newsportal.store.threads import THREADS
from newsportal.store.writing import log_changes

NAMES_KEPT: Final = timedelta(days=365)  # how long identities of deleted articles are kept: archives and sitemaps list a year. Chosen.
CHANGES_KEPT: Final = timedelta(days=30)  # how long every row of the change log is kept. Chosen, not measured.
REVISIONS_KEPT: Final = timedelta(days=90)  # how long editors may undo the nightly pass's edits of events. Chosen, not measured.
AT_ONCE: Final = 50  # stories deleted in one transaction, in some ten milliseconds: other writers wait no longer
MINE: Final = "by-hand"  # fold reason of editors; equals ``services.editing.drafts.BY_HAND`` of a higher layer
Marked = Callable[[Collection[str]], Collection[str]]  # returns those of the stories or articles that readers marked


@dataclass(frozen=True, slots=True)
class Ages:
    """Days that articles are kept (``None``: unlimited) after they were stored or their text last changed. ``sources`` and ``topics`` set
    others; the longest applies. ``withdraw``: delete published ones, too."""

    articles: int | None = None
    sources: Mapping[str, int | None] = field(default_factory=dict)
    topics: Mapping[str, int | None] = field(default_factory=dict)
    withdraw: bool = False

    def rule(self, source: str, topics: Collection[str]) -> tuple[str, int | None]:
        """Return the setting that applies to an article, and its days."""
        names = (source, source.partition(":")[2])
        rules = [(f"sources.{name}", self.sources[name]) for name in names if name in self.sources]
        rules += [(f"topics.{topic}", self.topics[topic]) for topic in sorted(topics) if topic in self.topics]
        return max(rules or [("articles", self.articles)], key=lambda rule: float("inf") if rule[1] is None else rule[1])

    @property
    def shortest(self) -> int | None:
        return min((days for days in (self.articles, *self.sources.values(), *self.topics.values()) if days is not None), default=None)


@dataclass(slots=True)
class PruneResult:
    """Numbers of articles deleted, by setting, and of old ones kept, by reason."""

    deleted: Counter[str] = field(default_factory=Counter)
    retained: Counter[str] = field(default_factory=Counter)


LAST: Final = select(func.max(CHANGES.c.seq)).correlate(None).scalar_subquery()
MEMBER: Final = ("id", "story_id", "source", "first_seen", "fetched", "corrected", "hidden", "category_by", "fold_reason")
MEMBERS: Final = select(*(ARTICLES.c[name] for name in MEMBER))
PUBLISHED: Final = select(OUTBOX.c.article_id).where(OUTBOX.c.digest.is_not(None))
BY_EDITORS: Final[Sequence[tuple[Select[Any], ColumnElement[Any]]]] = (
    (select(UNFOLDED.c.article_id), UNFOLDED.c.article_id),
    (select(TOPICS.c.article_id).where(TOPICS.c.by == EDITOR), TOPICS.c.article_id),
    (select(GALLERY_PICTURES.c.gallery_id).where(GALLERY_PICTURES.c.edited_caption.is_not(None)), GALLERY_PICTURES.c.gallery_id),
    (select(LABELLED.c.article_id).where(LABELLED.c.label_source != "from-store"), LABELLED.c.article_id),
)
"""Queries for articles that an editor worked on, apart from the columns of their own rows."""


class Pruning(Part):
    def articles(self, ages: Ages, marked: Marked, *, now: datetime, dry_run: bool = False) -> PruneResult:
        """Delete the stories that are due; with ``dry_run`` only count them. Each decision is repeated in the transaction that deletes: a
        reader may have marked a story meanwhile."""
        found, last = PruneResult(), ""
        if ages.shortest is None:
            return found
        old = select(STORIES.c.id).where(STORIES.c.last_seen <= now - timedelta(days=ages.shortest)).order_by(STORIES.c.id).limit(AT_ONCE)
        while ids := self._scalars(old.where(STORIES.c.id > last)):
            last = ids[-1]
            with self._read() as connection:
                due, reasons = _decide(connection, ids, ages, marked, now)
            if due and not dry_run:
                with self._write() as connection:
                    due, meanwhile = _decide(connection, list(due), ages, marked, now)
                    _delete(connection, due, now)
                reasons |= meanwhile
            for story, counts in reasons.items():
                (found.deleted if story in due else found.retained).update(counts)
        return found

    def revisions(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete revisions older than ``before``, except those of articles that editors corrected."""
        edited = exists().where(ARTICLES.c.id == REVISIONS.c.article_id, ARTICLES.c.corrected.is_not(None))
        return self._delete_old(REVISIONS, REVISIONS.c.fetched < before, ~edited, dry_run=dry_run)

    def runs(self, before: datetime, *, dry_run: bool = False) -> int:
        return self._delete_old(RUNS, RUNS.c.started < before, dry_run=dry_run)

    def leftovers(self, now: datetime) -> None:
        """Delete remains of deleted articles: expired identities, withdrawn outbox entries, old changes, old nightly edits of events."""
        self._delete_old(LINKS, LINKS.c.state == PRUNED, LINKS.c.changed < (now - NAMES_KEPT).timestamp())
        self._delete_old(OUTBOX, OUTBOX.c.state == "withdrawn", ~exists().where(ARTICLES.c.id == OUTBOX.c.article_id))
        self._delete_old(EVENT_EDITS, EVENT_EDITS.c.by == "", EVENT_EDITS.c.at < now - REVISIONS_KEPT)
        self._compact_changes(now)

    def _compact_changes(self, now: datetime) -> None:
        """Delete superseded rows of the change log. Followers read the current state of an article, so the last row of each kind suffices,
        and for a deleted article only its deletion. The log's last row stays: its number is the length of the log."""
        of_one = select(CHANGES.c.kind, CHANGES.c.id, func.max(CHANGES.c.seq).label("seq")).group_by(CHANGES.c.kind, CHANGES.c.id)
        latest = of_one.subquery()
        article_exists = exists().where(ARTICLES.c.id == CHANGES.c.id)
        deleted, followed = CHANGES.c.kind == "gone", select(func.coalesce(func.min(POSITIONS.c.seq), LAST)).scalar_subquery()
        expired = and_(deleted, CHANGES.c.at < now - NAMES_KEPT, CHANGES.c.seq <= followed)
        superseded = or_(CHANGES.c.seq < latest.c.seq, and_(~deleted, ~article_exists), expired)
        rows = select(CHANGES.c.seq).join(latest, and_(latest.c.kind == CHANGES.c.kind, latest.c.id == CHANGES.c.id))
        old = rows.where(CHANGES.c.at < now - CHANGES_KEPT, CHANGES.c.seq < LAST, superseded)
        for chunk in chunks(self._scalars(old)):
            with self._write() as connection:
                connection.execute(delete(CHANGES).where(CHANGES.c.seq.in_(chunk)))

    def release_space(self, *, rebuild: bool = False) -> int:
        """Return free space to the disk, and return the number of bytes. ``rebuild``: rebuild a SQLite file if necessary."""
        return dialect(self._engine.dialect.name).release_space(self._engine, rebuild)


def _decide(
    connection: Connection, stories: Collection[str], ages: Ages, marked: Marked, now: datetime
) -> tuple[dict[str, list[str]], dict[str, Counter[str]]]:
    """Return story → its articles, for those to delete; and story → the reasons why its articles are deleted or its old ones kept."""
    versions: dict[str, list[Any]] = {id: [] for id in stories}
    for row in select_in(connection, MEMBERS, ARTICLES.c.story_id, stories):
        versions[row["story_id"]].append(row)
    ids = [row["id"] for rows in versions.values() for row in rows]
    topics = {id: [mark.topic for mark in marks] for id, marks in topics_of(connection, ids).items()}
    by_editors = {next(iter(row.values())) for query, column in BY_EDITORS for row in select_in(connection, query, column, ids)}
    published = set() if ages.withdraw else {row["article_id"] for row in select_in(connection, PUBLISHED, OUTBOX.c.article_id, ids)}
    by_readers = set(marked([*stories, *ids]))
    due: dict[str, list[str]] = {}
    counts: dict[str, Counter[str]] = {}
    for story, rows in versions.items():
        reasons, rules = set[str](), Counter[str]()
        for row in rows:
            key, days = ages.rule(row["source"], topics.get(row["id"], ()))
            if days is None or max(row["first_seen"], row["fetched"]) > now - timedelta(days=days):
                reasons.add("younger")
            else:
                rules[key] += 1
            edited = row["corrected"] or row["hidden"] or row["category_by"] == EDITOR or row["fold_reason"] == MINE
            reasons |= {"edited"} if edited or row["id"] in by_editors else set()
            reasons |= {"published"} if row["id"] in published else set()
            reasons |= {"marked"} if row["id"] in by_readers or story in by_readers else set()
        if not reasons and rows:
            due[story] = [row["id"] for row in rows]
        reason = next((reason for reason in ("marked", "published", "edited") if reason in reasons), "younger")
        counts[story] = Counter({reason: rules.total()} if rules else ()) if reasons else rules
    return due, counts


def _delete(connection: Connection, due: Mapping[str, Sequence[str]], now: datetime) -> None:
    """Delete stories with all dependent rows, and log it. ``due``: story → its articles."""
    ids, stories = [id for articles in due.values() for id in articles], list(due)
    _keep_names(connection, ids, now)
    pictures = list(connection.scalars(select(SIGHTINGS.c.picture_id).distinct().where(SIGHTINGS.c.story_id.in_(ids))))
    connection.execute(delete(FORMER_LABELS).where(FORMER_LABELS.c.id.in_(ids)))
    for column in (LABELLED.c.article_id, GALLERY_PAGES.c.gallery_id, SIGHTINGS.c.story_id, PICTURE_STORIES.c.id):
        connection.execute(delete(column.table).where(column.in_(ids)))
    unseen = ~exists().where(SIGHTINGS.c.picture_id == PICTURES.c.id)
    connection.execute(delete(PICTURES).where(PICTURES.c.id.in_(pictures), PICTURES.c.frequent_reason.is_(None), unseen))
    connection.execute(delete(OUTBOX).where(OUTBOX.c.article_id.in_(ids), OUTBOX.c.digest.is_(None), OUTBOX.c.state != "under-way"))
    connection.execute(delete(UNFOLDED).where(UNFOLDED.c.story_id.in_(stories)))
    for table in reversed(METADATA.sorted_tables):
        for key in table.foreign_keys:
            if key.column is STORIES.c.id:
                connection.execute(delete(table).where(key.parent.in_(stories)))
            elif key.column in (ARTICLES.c.id, GALLERIES.c.id, THREADS.c.id):  # the last two are articles' ids
                connection.execute(delete(table).where(key.parent.in_(ids)))
    connection.execute(delete(STORIES).where(STORIES.c.id.in_(stories)))
    for id in ids:
        log_changes(connection, "gone", id, now)


def _keep_names(connection: Connection, ids: Sequence[str], now: datetime) -> None:
    """Keep the identities of articles in the link table, so that no list page opens them again."""
    names = {*ids, *connection.scalars(select(ALIASES.c.id).where(ALIASES.c.article_id.in_(ids)))}
    existing = set[str]()
    wall = now.timestamp()
    for row in list(select_in(connection, select(LINKS.c.id, LINKS.c.number).where(LINKS.c.link == 1), LINKS.c.id, names)):
        existing.add(row["id"])
        finished = or_(LINKS.c.state.in_(OVER), LINKS.c.state == PRUNED)
        connection.execute(update(LINKS).where(LINKS.c.number == row["number"], finished).values(state=PRUNED, changed=wall, reason=None))
    defaults = {"queue": "", "state": PRUNED, "host": "", "precedence": 0, "link": 1, "tries": 0, "failures": 0, "body": ""}
    if fresh := sorted(names - existing):
        connection.execute(insert(LINKS), [{"id": id, "added": wall, "changed": wall, **defaults} for id in fresh])
