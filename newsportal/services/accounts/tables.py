"""The tables of accounts. A change of them is a step in ``migrations/`` (a test tells). Moments are as in the store: microseconds, UTC."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table

from newsportal.store.columns import ID_CHARS, LONG_TEXT, NAME_CHARS, SEQUENCE, Moment

METADATA = MetaData()
HASH_CHARS = 255  # Argon2's encoded form has about 100
DIGEST_CHARS = 64  # SHA-256 in hexadecimal
ROLE_CHARS = 16
ADDRESS_CHARS = 64  # an address of IPv6 with its zone has less
AGENT_CHARS = 200  # what a browser calls itself, cut
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
    Column("fever_digest", String(DIGEST_CHARS), nullable=True, index=True),
)
"""``digest`` is of the secret; ``fever_digest`` of the key that apps make of the person's name and the secret for the Fever API."""

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
"""What an alert tells of: a story, or a condition of the portal. One row: so nothing is told of twice while it is kept."""

ALERT_MARKS = Table(
    "alert_marks",
    METADATA,
    Column("name", String(NAME_CHARS), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("owner", String(NAME_CHARS)),
    Column("until", Moment),
)
"""How far the store's changes were looked through (``changes``), and which process sends (``sender``)."""

KEY_CHARS = 64
PORTAL = ""  # the person_id of what belongs to the portal and to no person

MARKS = Table(
    "marks",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("story_id", String(ID_CHARS), primary_key=True),
    Column("read", Boolean),
    Column("starred", Moment),
    Column("at", Moment, nullable=False),
    Index("ix_marks_person_id_starred", "person_id", "starred"),
    Index("ix_marks_person_id_at", "person_id", "at"),
    Index("ix_marks_story_id", "story_id"),
)

CAUGHT_UP = Table(
    "caught_up",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("topic", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("before", Moment),
)
"""«Mark all as read» is a moment, not a mark a story: what the portal had until ``at`` is read. ``topic`` ``""``: everything.
``before``: the moment that it replaced, for undo."""

SEARCHES = Table(
    "searches",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("asked", LONG_TEXT, nullable=False),
    Column("created", Moment, nullable=False),
    Index("ix_searches_person_id", "person_id"),
)

FEED_KEYS = Table(
    "feed_keys",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("secret", String(KEY_CHARS), nullable=False, unique=True),
)
"""The secret in the address of a person's own feeds. It opens these feeds alone, and he must see it again, so it is kept as it is.
Of :data:`PORTAL` the key with which the portal signs messages of Web Push."""

PREFERENCES = Table(
    "preferences", METADATA, Column("person_id", String(ID_CHARS), primary_key=True), Column("chosen", JSON, nullable=False)
)
"""What a person chose: name → value, as in the cookies."""

FOLLOWED = Table("followed", METADATA, Column("name", String(NAME_CHARS), primary_key=True), Column("position", BigInteger, nullable=False))
"""Up to where in a store's change log something was followed."""

ITEM_NUMBERS = Table(
    "item_numbers",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("story_id", String(ID_CHARS), nullable=False, unique=True),
    sqlite_autoincrement=True,  # a number is never given twice: apps remember them
)
"""The numbers by which reader apps know stories: their APIs take integers, and apps of Fever ask for those above the last one they have."""
