"""The tables of readers: what they looked at, what they were offered, and what was learnt from it."""

from __future__ import annotations

from sqlalchemy import JSON, Column, ForeignKey, Index, Integer, LargeBinary, String, Table

from newsportal.storage.readers_rows import READER_CHARS
from newsportal.storage.sql.dialects import LONG_BINARY, SEQUENCE
from newsportal.storage.sql.tables import ID_CHARS, METADATA, Moment

SWITCHED_OFF = Table(
    "readers_off",
    METADATA,
    Column("reader", String(READER_CHARS), primary_key=True),
    Column("since", Moment, nullable=False),
)
"""Readers who want no profile: nothing else is known of them."""

VIEWS = Table(
    "views",
    METADATA,
    Column("reader", String(READER_CHARS), primary_key=True),
    Column("article_id", String(ID_CHARS), ForeignKey("articles.id"), primary_key=True),
    Column("seen", Integer, nullable=False),
    Column("pictures", Integer, nullable=False),
    Column("places", LargeBinary, nullable=False),
    Column("first", Moment, nullable=False),
    Column("at", Moment, nullable=False),
    Index(None, "first", "reader", "seen"),  # all that a month is counted from
    Index(None, "at"),
)
"""``places`` has a bit for each picture (the lowest of the first byte is the first picture's), ``seen`` of them are set; ``first`` and
``at``: when the reader looked at the story first and last."""

OFFERS = Table(
    "offers",
    METADATA,
    Column("reader", String(READER_CHARS), primary_key=True),
    Column("story_id", String(ID_CHARS), primary_key=True),
    Column("day", Moment, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("by", String(16), nullable=False),
    Column("opened", String(ID_CHARS)),
    Index(None, "day"),
)
"""What was recommended, a row a day; ``at``: when first. ``opened``: the article by which the reader opened the story. No foreign keys:
a story goes when it is folded into another."""

MONTHS = Table(
    "reading_months",
    METADATA,
    Column("start", Moment, primary_key=True),
    *(Column(name, Integer, nullable=False) for name in ("views", "pictures", "readers", "offered", "opened", "liked")),
)
"""Figures of months whose views and offers were let go."""

FITS = Table(
    "fits",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("made", Moment, nullable=False, index=True),
    Column("facts", JSON, nullable=False),
    Column("packed", LONG_BINARY),
    sqlite_autoincrement=True,
)
"""``packed`` is kept of the latest fit alone."""
