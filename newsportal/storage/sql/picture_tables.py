"""The tables of the dictionary of pictures. They stand apart from those of photo stories: a picture is counted before its story is stored,
and stays counted when the story goes."""

from __future__ import annotations

from sqlalchemy import Column, Index, String, Table

from newsportal.storage.sql.dialects import LONG_TEXT, NUMBER
from newsportal.storage.sql.tables import ID_CHARS, METADATA, NAME_CHARS, Moment

PRINT_CHARS = 16
SLUG_CHARS = 64

PICTURES = Table(
    "pictures",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("key", LONG_TEXT, nullable=False),
    Column("url", LONG_TEXT, nullable=False),
    Column("width", NUMBER),
    Column("height", NUMBER),
    Column("format", String(SLUG_CHARS)),
    Column("print", String(PRINT_CHARS), index=True),
    Column("refused", String(SLUG_CHARS)),
    Column("looked", Moment),
    Column("frequent", String(SLUG_CHARS)),
    Column("since", Moment, index=True),
    Column("seen", Moment, nullable=False),
)
"""``id`` is the hash of ``key``; ``seen``: when a story with it was saved last."""

PICTURE_STORIES = Table(
    "picture_stories",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("site", String(NAME_CHARS), nullable=False, index=True),
    Column("title", String(ID_CHARS), nullable=False),
    Column("seen", Moment, nullable=False),
)
"""Stories that were counted. ``id`` is the article's, ``title`` the hash of what its title says."""

SIGHTINGS = Table(
    "picture_sightings",
    METADATA,
    Column("picture_id", String(ID_CHARS), primary_key=True),
    Column("story_id", String(ID_CHARS), primary_key=True),
    Index(None, "story_id"),
)
"""Which story showed which picture."""
