"""Queries for articles, stories and their identities."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Connection, RowMapping, Select, bindparam, func, literal, select, tuple_, union_all

from newsportal.items import TopicMark, content_id
from newsportal.store.article_rows import article_from, story_from
from newsportal.store.columns import EPOCH, name, name_id
from newsportal.store.dialects import PAGE, Part, chunks, select_in
from newsportal.store.link_tables import LINKS, PRUNED
from newsportal.store.results import Change, StoredArticle, Story, Tally
from newsportal.store.tables import ALIASES, ARTICLES, CHANGES, CONTENT, DECLARED, EARLIEST_FIRST, LABELS, REVISIONS, STORIES, TOPICS

WANTED: BindParameter[Any] = bindparam("wanted")
IDS: BindParameter[Any] = bindparam("ids", expanding=True)
ITSELF, ALIASED = select(ARTICLES.c.id.label("article_id"), ARTICLES.c.id), select(ALIASES.c.article_id, ALIASES.c.id)
FIND = union_all(ITSELF.where(ARTICLES.c.id == WANTED), ALIASED.where(ALIASES.c.id == WANTED))
FIND_ALL = union_all(ITSELF.where(ARTICLES.c.id.in_(IDS)), ALIASED.where(ALIASES.c.id.in_(IDS)))
"""Articles of identities. No identity is both: an article's own identity never becomes an alias."""

DECLARING = union_all(
    select(FIND_ALL.subquery(), literal(0).label("rank")),
    select(DECLARED.c.article_id, DECLARED.c.id, literal(1)).where(DECLARED.c.id.in_(IDS)),
)
"""Articles known by an identity, followed by those that declare it."""


def find(connection: Connection, identity: str) -> str | None:
    """Return the id of the article known by ``identity``, directly or as an alias."""
    found: str | None = connection.scalar(FIND, {"wanted": content_id(identity)})
    return found


def find_stored(connection: Connection, identities: Collection[str]) -> dict[str, str]:
    """Map identities to the ids of the articles known by them, directly or as an alias, of those stored."""
    by_id = {name_id(identity): identity for identity in identities}
    rows = (row for chunk in chunks(by_id) for row in connection.execute(FIND_ALL, {"ids": chunk}))
    return {by_id[id]: article_id for article_id, id in rows}


EXCERPT_CHARS: Final = 300  # characters of a text shown in lists (``results.Story``)

LISTED: Final = (
    *(column for column in ARTICLES.c if column.name not in ("text", "html")),
    func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text"),
)
"""Columns of an article for lists."""


def articles(connection: Connection, ids: Sequence[str], columns: Sequence[ColumnElement[Any]] = tuple(ARTICLES.c)) -> list[StoredArticle]:
    """Return the existing articles of these ids, in this order."""
    pages = (_articles(connection, select(*columns).where(ARTICLES.c.id.in_(chunk))) for chunk in chunks(dict.fromkeys(ids)))
    found = {article.id: article for page in pages for article in page}
    return [found[id] for id in ids if id in found]


def _articles(connection: Connection, query: Select[Any]) -> list[StoredArticle]:
    return [article for _, article in with_articles(connection, query)]


def with_articles(connection: Connection, query: Select[Any]) -> list[tuple[RowMapping, StoredArticle]]:
    """Return rows that have the columns of an article, each with its article."""
    rows = connection.execute(query).mappings().all()
    topics = topics_of(connection, [row["id"] for row in rows])
    return [(row, article_from(row, topics.get(row["id"], ()))) for row in rows]


def topics_of(connection: Connection, ids: Sequence[str]) -> Mapping[str, list[TopicMark]]:
    found: dict[str, list[TopicMark]] = {}
    for row in select_in(connection, select(TOPICS), TOPICS.c.article_id, ids):
        found.setdefault(row["article_id"], []).append(TopicMark(row["topic"], row["by"] or "source", row["score"]))
    return found


def story(connection: Connection, id: str, hidden: bool) -> Story | None:
    """Implement ``Store.story``. The id of a story that was folded away finds its founder's current story."""
    row = connection.execute(select(STORIES).where(STORIES.c.id == id)).mappings().first()
    if row is None:
        moved = connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id))
        return story(connection, moved, hidden) if moved else None
    if not hidden and not row["count"]:
        return None
    conditions = [ARTICLES.c.story_id == id, *([] if hidden else [ARTICLES.c.hidden.is_(None)])]
    versions = _articles(connection, select(ARTICLES).where(*conditions).order_by(*EARLIEST_FIRST))
    head = next(version for version in versions if version.id == row["head_id"])
    return story_from(dict(row), head, (head, *(version for version in versions if version is not head)))


def read_names(connection: Connection, after: str) -> Sequence[Any]:
    """Return a page of identities and aliases, by id."""
    names = union_all(*(select(table.c.id, table.c.identity).where(table.c.id > after) for table in (ARTICLES, ALIASES))).subquery()
    return connection.execute(select(names).order_by(names.c.id).limit(PAGE)).all()


def read_changed_names(connection: Connection, after: int) -> Sequence[Any]:
    changed = select(CHANGES.c.seq, ARTICLES.c.identity).join(ARTICLES, ARTICLES.c.id == CHANGES.c.id)
    query = changed.where(CHANGES.c.seq > after, CHANGES.c.kind == "article")
    return connection.execute(query.order_by(CHANGES.c.seq).limit(PAGE)).all()


def read_new_aliases(connection: Connection, after: tuple[int, str]) -> Sequence[Any]:
    query = select(ALIASES.c.seq, ALIASES.c.id, ALIASES.c.identity).where(tuple_(ALIASES.c.seq, ALIASES.c.id) > after)
    return connection.execute(query.order_by(ALIASES.c.seq, ALIASES.c.id).limit(PAGE)).all()


NAMES: Final = select(LINKS.c.id).where(LINKS.c.link == 1, LINKS.c.state == PRUNED)  # identities of articles deleted by retention


class Articles(Part):
    def find_stored(self, identities: Collection[str]) -> set[str]:
        """Return the identities of articles that are stored, or were deleted by retention."""
        with self._read() as connection:
            stored = set(find_stored(connection, identities))
            missing = {name_id(identity): identity for identity in identities if identity not in stored}
            return stored | {missing[row["id"]] for row in select_in(connection, NAMES, LINKS.c.id, missing)}

    def identities(self, *, after: int = 0) -> Iterator[str]:
        """Yield all stored identities and aliases, to fill a Bloom filter; with ``after``, those added since that change.

        Some older ones may be included. Call ``last_seq`` before this method to miss none the next time.
        """
        if after > 0:
            changed = self._pages(read_changed_names, lambda row: row.seq, after)
            found = chain(changed, self._pages(read_new_aliases, lambda row: (row.seq, row.id), (after, "")))
        else:
            found = chain(self._pages(read_names, lambda row: row.id, ""))
        return (row.identity for row in found)

    def declared_by(self, *names: str) -> list[StoredArticle]:
        """Return, for each of ``names``, the article known by it and those that declare it, with their texts."""
        order = {name_id(name): place for place, name in enumerate(names)}
        with self._read() as connection:
            rows = connection.execute(DECLARING, {"ids": list(order)}).all()
            found = sorted(rows, key=lambda row: (order[row.id], row.rank, row.article_id))
            return articles(connection, list(dict.fromkeys(row.article_id for row in found)))

    def article(self, id: str) -> StoredArticle | None:
        return next(iter(self.articles([id])), None)

    def revisions(self, id: str) -> tuple[StoredArticle, ...]:
        """Return the earlier versions of an article, oldest first (without the current one)."""
        with self._read() as connection:
            present = articles(connection, [id])
            if not present:
                return ()
            rows = connection.execute(select(REVISIONS).where(REVISIONS.c.article_id == id).order_by(REVISIONS.c.revision)).mappings()
            current = connection.execute(select(ARTICLES).where(ARTICLES.c.id == id)).mappings().one()
            earlier = ({**current, **{name: row[name] for name in CONTENT}} for row in rows)
            return tuple(article_from(row, present[0].topic_marks) for row in earlier)

    def articles(self, ids: Sequence[str]) -> list[StoredArticle]:
        with self._read() as connection:
            return articles(connection, ids)

    def all_articles(self, *, after: str | None = None) -> Iterator[StoredArticle]:
        """Yield all articles by id, streamed; ``after`` resumes after an id."""
        in_order = select(ARTICLES).order_by(ARTICLES.c.id).limit(PAGE // 10)
        return self._pages(
            lambda connection, last: _articles(connection, in_order.where(ARTICLES.c.id > last)), lambda article: article.id, after or ""
        )

    def story(self, id: str, *, hidden: bool = False) -> Story | None:
        """Return a story without hidden versions; ``None`` if none are left. ``hidden``: include them."""
        with self._read() as connection:
            return story(connection, id, hidden)

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        query = select(CHANGES).where(CHANGES.c.seq > after).order_by(CHANGES.c.seq).limit(limit)
        return [Change(**row) for row in self._mappings(query)]

    def last_seq(self) -> int:
        return self._scalar(select(func.max(CHANGES.c.seq))) or 0

    def last_hidden(self) -> tuple[Any, ...]:
        """Return the number of hidden articles and when the last one was hidden: while both stay, cached texts may be shown."""
        return tuple(self._rows(select(func.count(), func.max(ARTICLES.c.hidden)).where(ARTICLES.c.hidden > EPOCH))[0])

    def tally(self) -> Tally:
        with self._read() as connection:

            def count(column: ColumnElement[Any], *conditions: ColumnElement[bool]) -> dict[str, int]:
                query = select(column, func.count()).where(*conditions).group_by(column).order_by(func.count().desc(), column)
                return {str(value): int(number) for value, number in connection.execute(query)}

            # SQLite has no index for IS NOT NULL, and would read every article
            hidden = select(func.count(), func.count(STORIES.c.id.distinct())).select_from(ARTICLES).where(ARTICLES.c.hidden > EPOCH)
            articles, stories = connection.execute(
                hidden.outerjoin(STORIES, (STORIES.c.id == ARTICLES.c.story_id) & (STORIES.c.count == 0))
            ).one()
            return Tally(
                articles=(connection.scalar(select(func.count()).select_from(ARTICLES)) or 0) - articles,
                stories=(connection.scalar(select(func.count()).select_from(STORIES)) or 0) - stories,
                by_topic=count(LABELS.c.value, LABELS.c.kind == "topic"), by_category=count(LABELS.c.value, LABELS.c.kind == "category"),
                by_source=count(ARTICLES.c.source), newest=connection.scalar(select(func.max(ARTICLES.c.moment))),
            )  # fmt: skip

    def stories_since(self, topic: str, since: datetime) -> int:
        """Return how many stories of a topic are not older than ``since``. Reads an index, in time proportional to their number."""
        conditions = (LABELS.c.kind == "topic", LABELS.c.value == name(topic), LABELS.c.moment >= since)
        return self._scalar(select(func.count()).select_from(LABELS).where(*conditions)) or 0
