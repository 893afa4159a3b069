"""The table of visits."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Index, Integer, String, Table

from newsportal.storage.sql.tables import METADATA, NAME_CHARS, Moment

VISITS = Table(
    "visits",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, primary_key=True, autoincrement=False),
    Column("brought", Integer, nullable=False, server_default="0"),
    Column("told", JSON, nullable=False),
    Index(None, "at"),
    Index(None, "source", "brought", "at"),
)
"""``told``: what the visit brought (``newsportal.visits``), without source and moment. ``brought``: 1 if it brought something new, else
0, and -1 while nothing is told: of a source that is silent for weeks the visits before are asked for."""
