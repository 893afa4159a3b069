"""The tables of the outbox."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from newsportal.storage.sql.dialects import LONG_TEXT
from newsportal.storage.sql.tables import ID_CHARS, METADATA, NAME_CHARS, Moment

OUTBOX = Table(
    "outbox",
    METADATA,
    Column("target", String(NAME_CHARS), primary_key=True),
    Column("article_id", String(ID_CHARS), primary_key=True),  # no foreign key: what was published may have to go after its article
    Column("state", String(16), nullable=False),
    Column("wanted", String(8), nullable=False),
    Column("due", Moment, nullable=False),
    Column("changed", Moment, nullable=False),
    Column("owner", String(NAME_CHARS)),
    Column("fence", BigInteger, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("revision", Integer),
    Column("digest", String(64)),
    Column("place", LONG_TEXT),
    Column("reason", LONG_TEXT),
    Index(None, "target", "state", "due"),
    Index(None, "state", "changed"),
    Index(None, "article_id"),
)
"""An article at a target (``storage.outbox``)."""

POSITIONS = Table(
    "outbox_positions",
    METADATA,
    Column("target", String(NAME_CHARS), primary_key=True),
    Column("seq", BigInteger, nullable=False),
)
"""Up to which change each target was looked after."""
