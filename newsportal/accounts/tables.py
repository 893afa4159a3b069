"""The tables of accounts. ``migrations/`` makes them (a test compares the two). Moments are as in the store: microseconds, UTC."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, MetaData, String, Table

from newsportal.storage.sql.tables import ID_CHARS, NAME_CHARS, Moment

METADATA = MetaData()

HASH_CHARS = 255
"""Argon2's encoded form has about 100."""

DIGEST_CHARS = 64  # SHA-256 in hexadecimal

ROLE_CHARS = 16

PEOPLE = Table(
    "people",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False, unique=True),
    Column("role", String(ROLE_CHARS), nullable=False),
    Column("password", String(HASH_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("disabled", Boolean, nullable=False),
)

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", String(DIGEST_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False, index=True),
    Column("begun", Moment, nullable=False),
    Column("seen", Moment, nullable=False),
)
"""``digest`` is of the secret in the cookie: who reads the database cannot sign in with it."""
