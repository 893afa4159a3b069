"""The tables of events: what they are, which stories are in them, what was changed, where they went, how far the change log was read."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Float, ForeignKey, Index, Integer, String, Table

from newsportal.store.columns import LONG_BINARY, LONG_TEXT, METADATA, NAME_CHARS, SEQUENCE, Moment, id_column

EVENTS = Table(
    "events",
    METADATA,
    id_column("id", primary_key=True),
    id_column("head_id"),
    Column("title", LONG_TEXT),
    Column("pinned", Moment),
    Column("stories", Integer, nullable=False),
    Column("sites", Integer, nullable=False),
    Column("first", Moment, nullable=False),
    Column("last", Moment, nullable=False),
    Column("heat", Float(53), nullable=False),
    Column("changed", BigInteger, nullable=False),
    Column("vector", LONG_BINARY, nullable=False),
    *(Index(None, column, "id") for column in ("heat", "last", "changed", "pinned")),
)
"""``head_id``: the story that most sites told; ``title``: an editor's, in place of that story's; ``heat``: the sum of its stories' heats;
``vector``: what the algorithm remembers of it."""

EVENT_STORIES = Table(
    "event_stories",
    METADATA,
    id_column("story_id", ForeignKey("stories.id"), primary_key=True),
    id_column("event_id", ForeignKey("events.id"), nullable=False),
    Column("score", Float(53), nullable=False),
    Column("words", JSON, nullable=False),
    Column("by", String(NAME_CHARS)),
    Index(None, "event_id"),
)
"""``words`` decided that the story belongs there; ``by``: the editor who put it there."""

EVENT_EDITS = Table(
    "event_edits",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    id_column("event_id", nullable=False),
    Column("at", Moment, nullable=False),
    Column("by", String(NAME_CHARS), nullable=False),
    Column("moves", JSON, nullable=False),
    Column("undone", BigInteger),
    Index(None, "event_id", "number"),
    sqlite_autoincrement=True,
)
"""``moves``: story -> the events it was taken from and put into; ``title`` and ``pinned`` -> what stood there and stands there.
``undone``: the edit that undid it."""

EVENT_REDIRECTS = Table("event_redirects", METADATA, id_column("id", primary_key=True), id_column("event_id", nullable=False))
"""An event whose last story was moved, and the event that it was moved to."""

EVENT_POSITION = Table("event_position", METADATA, Column("name", String(8), primary_key=True), Column("seq", BigInteger, nullable=False))
"""Up to which change of the log stories are in events (``log``), the number of the last change of an event (``changed``), and up to which
of these events were looked at again (``revised``)."""
