"""Forum threads and their posts.

A thread is also an article whose text consists of the posts, so lists, topics, search and export need no special case; it is never folded.
This module has only what is specific to threads.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import JSON, Boolean, Column, Connection, ForeignKey, Index, Integer, String, Table, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import Article, Image, Post, Thread, content_id
from newsportal.store.article_rows import optional, topics_of
from newsportal.store.columns import ID_CHARS, LONG_TEXT, METADATA, NAME_CHARS, NUMBER, Moment, build, name_id, storable, to_json
from newsportal.store.columns import name as stored_name
from newsportal.store.dialects import Part
from newsportal.store.folding import refresh
from newsportal.store.tables import ARTICLES
from newsportal.store.writing import add_topics, insert_separately, log_changes


@dataclass(frozen=True, slots=True)
class SavedThread:
    """Result of ``save``. ``posts``: number of new ones, ``edited``: number of those with a changed text."""

    outcome: Literal["stored", "grown", "same"]
    id: str
    story_id: str
    posts: int
    edited: int


@dataclass(frozen=True, slots=True)
class StoredThread:
    """A stored thread; its title, author and topics are those of its article (``id``).

    ``last_post``: its time. ``last_page``: where the next visit begins; ``complete``: whether that was the last page.
    ``replies`` and ``last_reply``: from the board's list before the last visit.
    """

    id: str
    identity: str
    board: str | None
    posts: int
    last_post: datetime | None
    visited: datetime
    last_page: str
    complete: bool
    replies: int | None
    last_reply: datetime | None


@dataclass(frozen=True, slots=True)
class StoredPost:
    """A stored post. ``name`` is unique in the thread; ``position`` counts from 0 in reading order. ``former_texts``: before its last
    edits, oldest first; ``edited``: when the last edit was noticed."""

    name: str
    position: int
    text: str
    first_seen: datetime
    author: str | None = None
    published: datetime | None = None
    date_text: str | None = None
    floor: int | None = None
    quoted: str | None = None
    images: tuple[Image, ...] = ()
    edited: datetime | None = None
    former_texts: tuple[str, ...] = field(default=(), repr=False)


POST_NAME_CHARS: Final = 40  # names of posts are the forums' own numbers, or hashes
EARLIER: Final = 5  # former texts kept of an edited post
MAX_TEXT: Final = 200_000
"""Maximum characters of a thread's posts in the article's text, for search and lists. All posts are kept."""

SHARED: Final = ("url", "link", "fetched", "identity", "title", "language", "category", "topics", "topic_marks")
"""Fields that ``Thread`` shares with its ``Article``."""


def article_of(thread: Thread) -> Article:
    """Return the thread as an article for lists and search, with author and time of its first post."""
    first = thread.posts[0] if thread.posts else None
    return Article(
        **{name: getattr(thread, name) for name in SHARED}, text="",
        published=(first.published if first else None) or thread.link.published,
        author=(first.author if first else None) or thread.link.author, site=thread.link.site, images=first.images if first else (),
        category_by="source" if thread.category else None, algorithm="forum",
    )  # fmt: skip


def visit_columns(thread: Thread, now: datetime) -> dict[str, Any]:
    """Return the columns of ``threads`` that a visit fills."""
    return {
        "board": stored_name(thread.board) if thread.board else None, "visited": now, "last_page": storable(thread.last_page or thread.url),
        "complete": thread.whole, "replies": thread.replies, "last_reply": thread.listed,
    }  # fmt: skip


def _changed_columns(row: Mapping[str, Any], stored: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the columns of a post to change: all if its text changed, its author if that was unknown."""
    if row["text"] != stored["text"]:
        former = [*stored["former_texts"], stored["text"]][-EARLIER:]
        return {**row, "published": row["published"] or stored["published"], "edited": now, "former_texts": former}
    return {"author": row["author"]} if row["author"] and stored["author"] is None else {}


def _former_name(stored: Mapping[str, Mapping[str, Any]], names: Collection[str], name: str, post: Post) -> str | None:
    """Return the former name of the post, of another kind, if it is stored; the post takes the new name. One page may show the site's
    numbers, the next one only floors, and a single post no author. Posts with numbers of their own are never matched."""
    if post.published is None:
        return None
    for old, row in stored.items():
        same = row["published"] == post.published and row["author"] in (None, optional(post.author))
        if same and old not in names and _kind(old) != _kind(name):
            return old
    return None


def _kind(name: str) -> str:
    """Return the kind of a post's name: ``floor``, ``said``, or ``own`` for the site's number."""
    kind, dash, _ = name.partition("-")
    return kind if dash and kind in ("floor", "said") else "own"


def post_name(post: Post) -> str:
    """Return a post's stored name; without a number of the site it is a hash of the content."""
    name = storable(post.id or "said-" + content_id(f"{post.author}\n{post.date_text}\n{post.text}"))
    return name if len(name) <= POST_NAME_CHARS else content_id(name)


def text_of(texts: Iterable[str]) -> str:
    """Join the posts' texts in order as the article's text, one paragraph per line."""
    parts: list[str] = []
    length = 0
    for text in texts:
        parts.append(text[: MAX_TEXT - length])
        length += len(text) + 1
        if length >= MAX_TEXT:
            break
    return "\n".join(parts)


def post_of(row: Mapping[Any, Any]) -> StoredPost:
    return build(StoredPost, row, images=lambda images: tuple(Image(**image) for image in images), former_texts=tuple)


THREADS = Table(
    "threads",
    METADATA,
    Column("id", String(ID_CHARS), ForeignKey("articles.id"), primary_key=True),
    Column("board", String(NAME_CHARS)),
    Column("posts", Integer, nullable=False),
    Column("last_post", Moment),
    Column("visited", Moment, nullable=False),
    Column("last_page", LONG_TEXT, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("replies", NUMBER),
    Column("last_reply", Moment),
)

POSTS = Table(
    "posts",
    METADATA,
    Column("thread_id", String(ID_CHARS), ForeignKey("threads.id"), primary_key=True),
    Column("name", String(POST_NAME_CHARS), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("floor", NUMBER),
    Column("author", LONG_TEXT),
    Column("published", Moment),
    Column("date_text", LONG_TEXT),
    Column("text", LONG_TEXT, nullable=False),
    Column("quoted", LONG_TEXT),
    Column("images", JSON, nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("edited", Moment),
    Column("former_texts", JSON, nullable=False),
    Index(None, "thread_id", "position"),
)

STORED: Final = select(*THREADS.c, ARTICLES.c.identity).join(ARTICLES, ARTICLES.c.id == THREADS.c.id)


class Threads(Part):
    def save(self, thread: Thread, *, now: datetime) -> SavedThread:
        """Write a thread with the posts read, in one transaction with its row of the change log.

        Posts are identified by ``id`` (or by content): an existing one is not written again, but updated if its text changed (the former
        text is kept). Stored posts that are not given stay: they were deleted, or are on other pages.
        """
        with self._write() as connection:
            if thread.identity is None:
                raise StoreError(f"{thread.url}: a thread without an identity cannot be stored")
            id = name_id(thread.identity)
            existing = connection.execute(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)).scalar()
            story_id = existing or insert_separately(connection, article_of(thread), now)[1]
            fresh = not connection.execute(select(THREADS.c.id).where(THREADS.c.id == id)).first()
            if fresh:
                connection.execute(insert(THREADS), {"id": id, **visit_columns(thread, now), "posts": 0, "last_post": None})
            new, edited = _write_posts(connection, id, thread.posts, now)
            grown = bool(new or edited)
            topics_added = add_topics(connection, id, topics_of(article_of(thread)))
            count, newest = connection.execute(select(func.count(), func.max(POSTS.c.published)).where(POSTS.c.thread_id == id)).one()
            values = {**visit_columns(thread, now), "posts": count, "last_post": newest}
            connection.execute(update(THREADS).where(THREADS.c.id == id).values(**values))
            if grown:
                text = text_of(connection.scalars(select(POSTS.c.text).where(POSTS.c.thread_id == id).order_by(POSTS.c.position)))
                connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(text=text, length=len(text), fetched=thread.fetched))
            if grown or topics_added or existing is None:
                refresh(connection, story_id)
                log_changes(connection, "article", id, now)
            return SavedThread("stored" if existing is None else "grown" if grown else "same", id, story_id, new, edited)

    def find_stored(self, identities: Collection[str]) -> Mapping[str, StoredThread]:
        """Map identities to threads, of those that are stored."""
        by_id = {name_id(identity): identity for identity in identities}
        return {by_id[row["id"]]: StoredThread(**row) for row in self._select_in(STORED, THREADS.c.id, by_id)}

    def thread(self, id: str) -> StoredThread | None:
        return next((StoredThread(**row) for row in self._mappings(STORED.where(THREADS.c.id == id))), None)

    def posts(self, id: str, *, offset: int = 0, limit: int | None = None) -> list[StoredPost]:
        query = select(POSTS).where(POSTS.c.thread_id == id).order_by(POSTS.c.position, POSTS.c.name).offset(offset).limit(limit)
        return list(map(post_of, self._mappings(query)))


def _write_posts(connection: Connection, id: str, posts: Sequence[Post], now: datetime) -> tuple[int, int]:
    """Insert new posts and update changed ones; return the number of each."""
    of_thread = POSTS.c.thread_id == id
    stored = {row["name"]: dict(row) for row in connection.execute(select(POSTS).where(of_thread)).mappings()}
    by_name = {post_name(post): post for post in reversed(posts)}
    position = max((row["position"] for row in stored.values()), default=-1)
    fresh: list[dict[str, Any]] = []
    edited = 0
    for name, post in reversed(by_name.items()):
        row = {
            "floor": post.floor, "author": optional(post.author), "published": post.published, "date_text": optional(post.date_text),
            "text": storable(post.text), "quoted": optional(post.quoted), "images": to_json(post.images),
        }  # fmt: skip
        old = name if name in stored else _former_name(stored, by_name, name, post)
        if old is None:
            position += 1
            key = {"thread_id": id, "name": name, "position": position}
            fresh.append({**key, **row, "first_seen": now, "edited": None, "former_texts": []})
            continue
        if old != name:
            connection.execute(update(POSTS).where(of_thread, POSTS.c.name == old).values(name=name))
            stored[name] = stored.pop(old)  # another post of the same author and minute must not match it again
        if values := _changed_columns(row, stored[name], now):
            connection.execute(update(POSTS).where(of_thread, POSTS.c.name == name).values(**values))
            edited += "edited" in values
    if fresh:
        connection.execute(insert(POSTS), fresh)
    return len(fresh), edited
