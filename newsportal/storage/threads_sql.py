"""Threads in a SQL database: each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import Article, Image, Post, Thread, content_id
from newsportal.storage.dialects import reading as read
from newsportal.storage.dialects import upsert
from newsportal.storage.dialects import writing as write
from newsportal.storage.folding import new_story, refresh
from newsportal.storage.reading import chunks
from newsportal.storage.rows import name as looked_up
from newsportal.storage.rows import row_of, storable, topics_of
from newsportal.storage.tables import ARTICLES, TOPICS
from newsportal.storage.thread_tables import POST_NAME_CHARS, POSTS, THREADS
from newsportal.storage.threads import Saved, StoredPost, StoredThread
from newsportal.storage.writing import log

EARLIER: Final = 5
"""Former texts that are kept of an edited post."""

MAX_TEXT: Final = 200_000
"""Characters of a thread's posts that are its article's text: what the search finds and lists show. All posts are kept."""

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
            return [_post(dict(row)) for row in connection.execute(wanted).mappings()]


def save(connection: Connection, thread: Thread, now: datetime) -> Saved:
    """See ``Threads.save``."""
    if thread.identity is None:
        raise StoreError(f"{thread.url}: a thread without an identity cannot be stored")
    id = content_id(storable(thread.identity))
    there = connection.execute(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)).scalar()
    story_id = there or _insert(connection, thread, now)
    fresh = not connection.execute(select(THREADS.c.id).where(THREADS.c.id == id)).first()
    if fresh:
        connection.execute(insert(THREADS), {"id": id, **_state(thread, now), "posts": 0, "newest": None})
    new, edited = _write_posts(connection, id, thread.posts, now)
    grown = bool(new or edited)
    met = _add_topics(connection, id, thread)
    connection.execute(update(THREADS).where(THREADS.c.id == id).values(**_state(thread, now), **_figures(connection, id)))
    if grown:
        text = _text(connection, id)
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(text=text, length=len(text), fetched=thread.fetched))
    if grown or met or there is None:
        refresh(connection, story_id)
        log(connection, "article", id, now)
    return Saved("stored" if there is None else "grown" if grown else "same", id, story_id, new, edited)


def _insert(connection: Connection, thread: Thread, now: datetime) -> str:
    article = _article(thread)
    row = row_of(article, now=now)
    story_id = new_story(connection, row, topics_of(article))
    connection.execute(insert(ARTICLES), {"story_id": story_id, **row})
    return story_id


def _article(thread: Thread) -> Article:
    """The thread as lists and the search see it: by who opened it, and when."""
    first = thread.posts[0] if thread.posts else None
    return Article(
        url=thread.url,
        link=thread.link,
        fetched=thread.fetched,
        identity=thread.identity,
        title=thread.title,
        text="",
        published=(first.published if first else None) or thread.link.published,
        author=(first.author if first else None) or thread.link.author,
        site=thread.link.site,
        images=first.images if first else (),
        language=thread.language,
        category=thread.category,
        category_by="source" if thread.category else None,
        topics=thread.topics,
        topic_marks=thread.topic_marks,
        algorithm="forum",
    )


def _state(thread: Thread, now: datetime) -> dict[str, Any]:
    return {
        "board": looked_up(thread.board) if thread.board else None,
        "visited": now,
        "last_page": storable(thread.last_page or thread.url),
        "whole": thread.whole,
        "replies": thread.replies,
        "listed": thread.listed,
    }


def _add_topics(connection: Connection, id: str, thread: Thread) -> bool:
    there = set(connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == id)))
    marks = {topic: mark for topic, mark in topics_of(_article(thread)).items() if topic not in there}
    upsert(
        connection,
        TOPICS,
        [{"article_id": id, "topic": topic, "by": mark.by, "score": mark.score} for topic, mark in sorted(marks.items())],
    )
    return bool(marks)


def _write_posts(connection: Connection, id: str, posts: Iterable[Post], now: datetime) -> tuple[int, int]:
    """Append those that are not there, change those that say something else; how many of either."""
    there = {row["name"]: dict(row) for row in connection.execute(select(POSTS).where(POSTS.c.thread_id == id)).mappings()}
    named = {post_name(post): post for post in reversed(tuple(posts))}
    place = max((row["place"] for row in there.values()), default=-1)
    fresh: list[dict[str, Any]] = []
    edited = 0
    for name, post in reversed(named.items()):
        row = _row(post)
        known = there.get(name) or _renamed(connection, there, named, name, post)
        if known is None:
            place += 1
            fresh.append({"thread_id": id, "name": name, "place": place, **row, "first_seen": now, "changed": None, "earlier": []})
            continue
        values = _values(row, known, now)
        edited += "changed" in values
        if values:
            connection.execute(update(POSTS).where(POSTS.c.thread_id == id, POSTS.c.name == name).values(**values))
    if fresh:
        connection.execute(insert(POSTS), fresh)
    return len(fresh), edited


def _values(row: Mapping[str, Any], known: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The columns of a post to change: all if it says something else, its author if nobody knew him."""
    if row["text"] != known["text"]:
        former = [*known["earlier"], known["text"]][-EARLIER:]
        return {**row, "published": row["published"] or known["published"], "changed": now, "earlier": former}
    return {"author": row["author"]} if row["author"] and known["author"] is None else {}


def _renamed(
    connection: Connection, there: dict[str, dict[str, Any]], named: Collection[str], name: str, post: Post
) -> dict[str, Any] | None:
    """The post under a name of another kind, if it is there: one page shows the site's numbers, the next one floors alone; a post by
    itself may have shown no author. It takes the new name. Posts with numbers of their own are never taken for one another."""
    if post.published is None:
        return None
    for old, row in there.items():
        same = row["published"] == post.published and row["author"] in (None, _maybe(post.author))
        if same and old not in named and _kind(old) != _kind(name):
            at = POSTS.c.thread_id == row["thread_id"]
            connection.execute(update(POSTS).where(at, POSTS.c.name == old).values(name=name))
            there[name] = there.pop(old)  # another post of the same author and minute is not this one
            return row
    return None


def _kind(name: str) -> str:
    """How a post came by its name: ``floor``, ``said``, or the site's own number."""
    kind, dash, _ = name.partition("-")
    return kind if dash and kind in ("floor", "said") else "own"


def post_name(post: Post) -> str:
    """A post's name as it is kept; of one that the site has no number for, what it says."""
    name = storable(post.id or "said-" + content_id(f"{post.author}\n{post.date_text}\n{post.text}"))
    return name if len(name) <= POST_NAME_CHARS else content_id(name)


def _row(post: Post) -> dict[str, Any]:
    return {
        "floor": post.floor,
        "author": _maybe(post.author),
        "published": post.published,
        "date_text": _maybe(post.date_text),
        "text": storable(post.text),
        "quoted": _maybe(post.quoted),
        "images": [{key: value for key, value in asdict(image).items() if value is not None} for image in post.images],
    }


def _maybe(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _figures(connection: Connection, id: str) -> dict[str, Any]:
    count, newest = connection.execute(select(func.count(), func.max(POSTS.c.published)).where(POSTS.c.thread_id == id)).one()
    return {"posts": count, "newest": newest}


def _text(connection: Connection, id: str) -> str:
    """The posts' texts, a paragraph a line."""
    said: list[str] = []
    length = 0
    for text in connection.scalars(select(POSTS.c.text).where(POSTS.c.thread_id == id).order_by(POSTS.c.place)):
        said.append(text[: MAX_TEXT - length])
        length += len(text) + 1
        if length >= MAX_TEXT:
            break
    return "\n".join(said)


def _post(row: Mapping[str, Any]) -> StoredPost:
    values = {key: value for key, value in row.items() if key not in ("thread_id", "images", "earlier")}
    return StoredPost(**values, images=tuple(Image(**image) for image in row["images"]), earlier=tuple(row["earlier"]))
