"""The tables of forum threads. A thread is an article as well (lists, topics and the search need know nothing else); here are its posts."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, String, Table

from newsportal.storage.sql.dialects import LONG_TEXT, NUMBER
from newsportal.storage.sql.tables import ID_CHARS, METADATA, NAME_CHARS, Moment
from newsportal.storage.threads_rows import POST_NAME_CHARS

THREADS = Table(
    "threads",
    METADATA,
    Column("id", String(ID_CHARS), ForeignKey("articles.id"), primary_key=True),
    Column("board", String(NAME_CHARS)),
    Column("posts", Integer, nullable=False),
    Column("newest", Moment),
    Column("visited", Moment, nullable=False),
    Column("last_page", LONG_TEXT, nullable=False),
    Column("whole", Boolean, nullable=False),
    Column("replies", NUMBER),
    Column("listed", Moment),
)
"""``id`` is the article's. ``newest``: the time of its last post; ``last_page``: where the next visit begins; ``whole``: that page was the
thread's last; ``replies`` and ``listed``: what its board's list said of it before the last visit, by which growth is noticed."""

POSTS = Table(
    "posts",
    METADATA,
    Column("thread_id", String(ID_CHARS), ForeignKey("threads.id"), primary_key=True),
    Column("name", String(POST_NAME_CHARS), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("floor", NUMBER),
    Column("author", LONG_TEXT),
    Column("published", Moment),
    Column("date_text", LONG_TEXT),
    Column("text", LONG_TEXT, nullable=False),
    Column("quoted", LONG_TEXT),
    Column("images", JSON, nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("changed", Moment),
    Column("earlier", JSON, nullable=False),
    Index(None, "thread_id", "place"),
)
"""``name`` is the post's own in its thread, ``place`` its number in the order of reading. ``earlier``: the last texts that it
had before it was edited, the oldest first; ``changed``: when that was noticed last."""
