"""The table of visits."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Index, String, Table

from newsportal.storage.tables import METADATA, NAME_CHARS, Moment

VISITS = Table(
    "visits",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, primary_key=True, autoincrement=False),
    Column("told", JSON, nullable=False),
    Index(None, "at"),
)
"""``told``: what the visit brought (``newsportal.visits``), without source and moment."""
