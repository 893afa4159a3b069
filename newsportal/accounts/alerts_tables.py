"""The tables of alerts."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, String, Table

from newsportal.accounts.tables import METADATA
from newsportal.store.columns import ID_CHARS, LONG_TEXT, NAME_CHARS, Moment

STATE_CHARS = 16
CLAIM_CHARS = 32

ALERTS = Table(
    "alerts",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("after", BigInteger, nullable=False),
    Column("settings", JSON, nullable=False),
    Index("ix_alerts_person_id", "person_id"),
)
"""``after``: the change of the store since which it tells. ``settings``: all else of an ``Alert``."""

MESSAGES = Table(
    "alert_messages",
    METADATA,
    Column("alert_id", String(ID_CHARS), primary_key=True),
    Column("thing", String(NAME_CHARS), primary_key=True),
    Column("article_id", String(ID_CHARS), nullable=False),
    Column("title", LONG_TEXT, nullable=False),
    Column("state", String(STATE_CHARS), nullable=False),
    Column("found", Moment, nullable=False),
    Column("due", Moment, nullable=False),
    Column("claim", String(CLAIM_CHARS)),
    Column("tries", Integer, nullable=False),
    Column("reason", LONG_TEXT),
    Column("changed", Moment, nullable=False),
    Index("ix_alert_messages_article_id", "alert_id", "article_id"),
    Index("ix_alert_messages_state", "state", "due"),
    Index("ix_alert_messages_changed", "alert_id", "changed"),
)
"""What an alert tells of: a story, or a condition of the portal. One row for ever: so nothing is told of twice."""

MARKS = Table(
    "alert_marks",
    METADATA,
    Column("name", String(NAME_CHARS), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("owner", String(NAME_CHARS)),
    Column("until", Moment),
)
"""How far the store's changes were looked through (``changes``), and which process sends (``sender``)."""
