"""Threads in a SQL database: each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, insert, select, update

from newsportal.items import Post, Thread, content_id
from newsportal.storage.paging import chunks
from newsportal.storage.rows import row_of, storable, topics_of
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.folding import new_story, refresh
from newsportal.storage.sql.tables import ARTICLES, TOPICS
from newsportal.storage.sql.thread_tables import POSTS, THREADS
from newsportal.storage.sql.writing import log
from newsportal.storage.threads import Saved, StoredPost, StoredThread
from newsportal.storage.threads_rows import article_of, identity_of, plan, post_of, state, text_of

COLUMNS: Final = (*THREADS.c, ARTICLES.c.identity)


class SqlThreads:
    """The :class:`~newsportal.storage.threads.Threads` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, thread: Thread, *, now: datetime) -> Saved:
        with write(self._engine) as connection:
            return save(connection, thread, now)

    def known(self, identities: Collection[str]) -> Mapping[str, StoredThread]:
        by_id = {content_id(storable(identity)): identity for identity in identities}
        found: dict[str, StoredThread] = {}
        with read(self._engine) as connection:
            for chunk in chunks(by_id):
                rows = select(*COLUMNS).join(ARTICLES, ARTICLES.c.id == THREADS.c.id).where(THREADS.c.id.in_(chunk))
                found |= {by_id[row["id"]]: StoredThread(**row) for row in connection.execute(rows).mappings()}
        return found

    def thread(self, id: str) -> StoredThread | None:
        with read(self._engine) as connection:
            wanted = select(*COLUMNS).join(ARTICLES, ARTICLES.c.id == THREADS.c.id).where(THREADS.c.id == id)
            row = connection.execute(wanted).mappings().first()
        return StoredThread(**row) if row else None

    def posts(self, id: str, *, offset: int = 0, limit: int | None = None) -> list[StoredPost]:
        wanted = select(POSTS).where(POSTS.c.thread_id == id).order_by(POSTS.c.place, POSTS.c.name).offset(offset).limit(limit)
        with read(self._engine) as connection:
            return [post_of(dict(row)) for row in connection.execute(wanted).mappings()]


def save(connection: Connection, thread: Thread, now: datetime) -> Saved:
    """See ``Threads.save``."""
    id = content_id(identity_of(thread))
    there = connection.execute(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)).scalar()
    story_id = there or _insert(connection, thread, now)
    fresh = not connection.execute(select(THREADS.c.id).where(THREADS.c.id == id)).first()
    if fresh:
        connection.execute(insert(THREADS), {"id": id, **state(thread, now), "posts": 0, "newest": None})
    new, edited = _write_posts(connection, id, thread.posts, now)
    grown = bool(new or edited)
    met = _add_topics(connection, id, thread)
    connection.execute(update(THREADS).where(THREADS.c.id == id).values(**state(thread, now), **_figures(connection, id)))
    if grown:
        text = _text(connection, id)
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(text=text, length=len(text), fetched=thread.fetched))
    if grown or met or there is None:
        refresh(connection, story_id)
        log(connection, "article", id, now)
    return Saved("stored" if there is None else "grown" if grown else "same", id, story_id, new, edited)


def _insert(connection: Connection, thread: Thread, now: datetime) -> str:
    article = article_of(thread)
    row = row_of(article, now=now)
    story_id = new_story(connection, row, topics_of(article))
    connection.execute(insert(ARTICLES), {"story_id": story_id, **row})
    return story_id


def _add_topics(connection: Connection, id: str, thread: Thread) -> bool:
    there = set(connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == id)))
    marks = {topic: mark for topic, mark in topics_of(article_of(thread)).items() if topic not in there}
    upsert(
        connection,
        TOPICS,
        [{"article_id": id, "topic": topic, "by": mark.by, "score": mark.score} for topic, mark in sorted(marks.items())],
    )
    return bool(marks)


def _write_posts(connection: Connection, id: str, posts: Iterable[Post], now: datetime) -> tuple[int, int]:
    """Append those that are not there, change those that say something else; how many of either."""
    there = {row["name"]: dict(row) for row in connection.execute(select(POSTS).where(POSTS.c.thread_id == id)).mappings()}
    made = plan(id, there, posts, now)
    at = POSTS.c.thread_id == id
    for old, name in made.renamed:
        connection.execute(update(POSTS).where(at, POSTS.c.name == old).values(name=name))
    for name, values in made.changed.items():
        connection.execute(update(POSTS).where(at, POSTS.c.name == name).values(**values))
    if made.fresh:
        connection.execute(insert(POSTS), made.fresh)
    return len(made.fresh), made.edited


def _figures(connection: Connection, id: str) -> dict[str, Any]:
    count, newest = connection.execute(select(func.count(), func.max(POSTS.c.published)).where(POSTS.c.thread_id == id)).one()
    return {"posts": count, "newest": newest}


def _text(connection: Connection, id: str) -> str:
    """The posts' texts, a paragraph a line."""
    return text_of(connection.scalars(select(POSTS.c.text).where(POSTS.c.thread_id == id).order_by(POSTS.c.place)))
