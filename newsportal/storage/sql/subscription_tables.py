"""The table of subscriptions."""

from __future__ import annotations

from sqlalchemy import JSON, Column, String, Table

from newsportal.storage.sql.tables import METADATA, NAME_CHARS
from newsportal.storage.subscriptions_rows import TOKEN_CHARS

SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("token", String(TOKEN_CHARS), nullable=False, index=True),
    Column("told", JSON, nullable=False),
)
"""``told``: the subscription (``storage.subscriptions``), without source and token."""
