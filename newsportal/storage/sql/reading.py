"""What is read of articles and stories. Every function takes a connection and answers with values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, union_all

from newsportal.items import TopicMark, content_id
from newsportal.storage.base import Change, StoredArticle, Story, Tally
from newsportal.storage.columns import CONTENT, EPOCH
from newsportal.storage.paging import CHUNK as CHUNK
from newsportal.storage.paging import PAGE as PAGE
from newsportal.storage.paging import chunks as chunks
from newsportal.storage.rows import article_from, name, storable, story_from
from newsportal.storage.sql.tables import ALIASES, ARTICLES, CHANGES, EARLIEST_FIRST, LABELS, REVISIONS, STORIES, TOPICS


def known(connection: Connection, identities: Collection[str]) -> set[str]:
    """See ``Store.known``."""
    by_id = {content_id(storable(identity)): identity for identity in identities}
    found: set[str] = set()
    for chunk in chunks(by_id):
        here = union_all(select(ARTICLES.c.id).where(ARTICLES.c.id.in_(chunk)), select(ALIASES.c.id).where(ALIASES.c.id.in_(chunk)))
        found.update(by_id[id] for id in connection.scalars(here))
    return found


def identity_page(connection: Connection, after: str) -> list[tuple[str, str]]:
    """The next (id, identity) pairs by id, of articles and aliases together."""
    both = union_all(
        select(ARTICLES.c.id, ARTICLES.c.identity).where(ARTICLES.c.id > after),
        select(ALIASES.c.id, ALIASES.c.identity).where(ALIASES.c.id > after),
    ).subquery()
    return [(id, identity) for id, identity in connection.execute(select(both).order_by(both.c.id).limit(PAGE))]


def articles(connection: Connection, ids: Sequence[str]) -> list[StoredArticle]:
    """See ``Store.articles``."""
    found: dict[str, StoredArticle] = {}
    for chunk in chunks(dict.fromkeys(ids)):
        for article in _articles(connection, select(ARTICLES).where(ARTICLES.c.id.in_(chunk))):
            found[article.id] = article
    return [found[id] for id in ids if id in found]


def article_page(connection: Connection, after: str) -> list[StoredArticle]:
    """The next articles by id."""
    return _articles(connection, select(ARTICLES).where(ARTICLES.c.id > after).order_by(ARTICLES.c.id).limit(PAGE // 10))


def _articles(connection: Connection, statement: Select[Any]) -> list[StoredArticle]:
    rows = connection.execute(statement).mappings().all()
    topics = topics_of(connection, [row["id"] for row in rows])
    return [article_from(dict(row), topics.get(row["id"], ())) for row in rows]


def topics_of(connection: Connection, ids: Sequence[str]) -> Mapping[str, list[TopicMark]]:
    """The topics of articles, by article."""
    found: dict[str, list[TopicMark]] = {}
    for chunk in chunks(ids):
        for row in connection.execute(select(TOPICS).where(TOPICS.c.article_id.in_(chunk))).mappings():
            found.setdefault(row["article_id"], []).append(TopicMark(row["topic"], row["by"] or "source", row["score"]))
    return found


def revisions(connection: Connection, id: str) -> tuple[StoredArticle, ...]:
    """See ``Store.revisions``."""
    present = articles(connection, [id])
    if not present:
        return ()
    rows = connection.execute(select(REVISIONS).where(REVISIONS.c.article_id == id).order_by(REVISIONS.c.revision)).mappings()
    row_now = connection.execute(select(ARTICLES).where(ARTICLES.c.id == id)).mappings().one()
    earlier = ({**row_now, **{name: row[name] for name in CONTENT}} for row in rows)
    return tuple(article_from(row, present[0].topic_marks) for row in earlier)


def story(connection: Connection, id: str, hidden: bool) -> Story | None:
    """See ``Store.story``. The id of a story that was folded away leads to where its founder is now."""
    row = connection.execute(select(STORIES).where(STORIES.c.id == id)).mappings().first()
    if row is None:
        moved = connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id))
        return story(connection, moved, hidden) if moved else None
    if not hidden and not row["count"]:
        return None
    which = [ARTICLES.c.story_id == id, *([] if hidden else [ARTICLES.c.hidden.is_(None)])]
    versions = _articles(connection, select(ARTICLES).where(*which).order_by(*EARLIEST_FIRST))
    head = next(version for version in versions if version.id == row["head_id"])
    return story_from(dict(row), head, (head, *(version for version in versions if version is not head)))


def changes(connection: Connection, after: int, limit: int) -> list[Change]:
    """See ``Store.changes``."""
    rows = connection.execute(select(CHANGES).where(CHANGES.c.seq > after).order_by(CHANGES.c.seq).limit(limit)).mappings()
    return [Change(**row) for row in rows]


def last_seq(connection: Connection) -> int:
    """See ``Store.last_seq``."""
    return connection.scalar(select(func.max(CHANGES.c.seq))) or 0


def tally(connection: Connection) -> Tally:
    """See ``Store.tally``."""

    def count(column: ColumnElement[Any], *where: ColumnElement[bool]) -> dict[str, int]:
        statement = select(column, func.count()).where(*where).group_by(column).order_by(func.count().desc(), column)
        return {str(value): int(number) for value, number in connection.execute(statement)}

    # the condition: any; "is not null" reads every article in SQLite, which has no index for that
    hidden = select(func.count(), func.count(STORIES.c.id.distinct())).select_from(ARTICLES).where(ARTICLES.c.hidden > EPOCH)
    articles, stories = connection.execute(hidden.outerjoin(STORIES, (STORIES.c.id == ARTICLES.c.story_id) & (STORIES.c.count == 0))).one()
    return Tally(
        articles=(connection.scalar(select(func.count()).select_from(ARTICLES)) or 0) - articles,
        stories=(connection.scalar(select(func.count()).select_from(STORIES)) or 0) - stories,
        by_topic=count(LABELS.c.value, LABELS.c.kind == "topic"),
        by_category=count(LABELS.c.value, LABELS.c.kind == "category"),
        by_source=count(ARTICLES.c.source),
        newest=connection.scalar(select(func.max(ARTICLES.c.moment))),
    )


def stories_since(connection: Connection, topic: str, since: datetime) -> int:
    """See ``Store.stories_since``."""
    named = (LABELS.c.kind == "topic", LABELS.c.value == name(topic), LABELS.c.moment >= since)
    return connection.scalar(select(func.count()).select_from(LABELS).where(*named)) or 0
