"""The tables of what people mark and keep."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, String, Table

from newsportal.accounts.tables import METADATA
from newsportal.store.columns import ID_CHARS, LONG_TEXT, NAME_CHARS, Moment

KEY_CHARS = 64

MARKS = Table(
    "marks",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("story_id", String(ID_CHARS), primary_key=True),
    Column("read", Boolean),
    Column("starred", Moment),
    Column("at", Moment, nullable=False),
    Index("ix_marks_person_id_starred", "person_id", "starred"),
    Index("ix_marks_person_id_at", "person_id", "at"),
    Index("ix_marks_story_id", "story_id"),
)
"""``read`` None: never said. ``starred``: since when, None: not. ``at``: when it was said last."""

CAUGHT_UP = Table(
    "caught_up",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("topic", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("before", Moment),
)
"""«Mark all as read» is a moment, not a mark a story: what the portal had until ``at`` is read. ``topic`` ``""``: everything.
``before``: the moment that it replaced, for undo."""

SEARCHES = Table(
    "searches",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("asked", LONG_TEXT, nullable=False),
    Column("created", Moment, nullable=False),
    Index("ix_searches_person_id", "person_id"),
)
"""``asked``: the query of the search page's address (``q=…&topic=…``)."""

FEED_KEYS = Table(
    "feed_keys",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("secret", String(KEY_CHARS), nullable=False, unique=True),
)
"""The secret in the address of a person's own feeds. It opens these feeds alone, and he must see it again, so it is kept as it is."""

FOLLOWED = Table(
    "followed",
    METADATA,
    Column("name", String(NAME_CHARS), primary_key=True),
    Column("position", BigInteger, nullable=False),
)
"""Up to where in a store's change log something was followed."""
