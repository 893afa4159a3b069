"""The tables of accounts. ``migrations/`` makes them (a test compares the two). Moments are as in the store: microseconds, UTC."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Index, Integer, MetaData, String, Table

from newsportal.store.columns import ID_CHARS, LONG_TEXT, NAME_CHARS, SEQUENCE, Moment

METADATA = MetaData()

HASH_CHARS = 255
"""Argon2's encoded form has about 100."""

DIGEST_CHARS = 64  # SHA-256 in hexadecimal

ROLE_CHARS = 16

ADDRESS_CHARS = 64
"""An address of IPv6 with its zone has less."""

AGENT_CHARS = 200
"""What a browser calls itself, cut."""

ACTION_CHARS = 64

PEOPLE = Table(
    "people",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("named", String(NAME_CHARS), nullable=False, unique=True),
    Column("role", String(ROLE_CHARS), nullable=False),
    Column("password", String(HASH_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("disabled", Boolean, nullable=False),
)
"""``named`` is ``name`` as it is compared: without case and width, so that nobody can be called as somebody else is."""

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", String(DIGEST_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False, index=True),
    Column("begun", Moment, nullable=False),
    Column("seen", Moment, nullable=False),
    Column("address", String(ADDRESS_CHARS), nullable=False),
    Column("agent", String(AGENT_CHARS), nullable=False),
)
"""``digest`` is of the secret in the cookie: who reads the database cannot sign in with it."""

TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("digest", String(DIGEST_CHARS), nullable=False, unique=True),
    Column("person_id", String(ID_CHARS), nullable=False, index=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("rights", JSON, nullable=False),
    Column("created", Moment, nullable=False),
    Column("expires", Moment, nullable=True),
    Column("used", Moment, nullable=True),
)

TRAIL = Table(
    "trail",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("at", Moment, nullable=False, index=True),
    Column("person_id", String(ID_CHARS), nullable=True),
    Column("person", String(NAME_CHARS), nullable=False),
    Column("way", String(ROLE_CHARS), nullable=False),
    Column("action", String(ACTION_CHARS), nullable=False),
    Column("thing", LONG_TEXT, nullable=False),
    Column("details", JSON, nullable=False),
    Column("address", String(ADDRESS_CHARS), nullable=False),
    Index("ix_trail_person_seq", "person", "seq"),
)
"""Who changed what. Rows are added, never changed; ``person`` is the name as it was, for people may be removed."""

ATTEMPTS = Table(
    "attempts",
    METADATA,
    Column("key", String(DIGEST_CHARS), primary_key=True),
    Column("failed", Integer, nullable=False),
    Column("last", Moment, nullable=False),
    Column("trusted", Moment, nullable=True),
    Column("until", Moment, nullable=False, index=True),
)
"""Failed ways in, by name, by address and by both (``key`` is a digest of them: a wrong name is often a password). ``trusted``: when it
last went well. Rows go away at ``until``."""
