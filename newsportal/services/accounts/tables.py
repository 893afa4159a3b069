"""Tables of the accounts database. Each change needs a migration in ``migrations/`` (checked by a test). Times: microseconds, UTC."""

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table

from newsportal.store.columns import ID_CHARS, LONG_TEXT, NAME_CHARS, SEQUENCE, Moment

METADATA = MetaData()
HASH_CHARS = 255  # Argon2's encoded form has about 100
DIGEST_CHARS = 64  # SHA-256 in hexadecimal
ROLE_CHARS = 16
ADDRESS_CHARS = 64  # an IPv6 address with its zone has less
AGENT_CHARS = 200  # user agent, truncated
ACTION_CHARS = 64

PEOPLE = Table(
    "people",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("normalised_name", String(NAME_CHARS), nullable=False, unique=True),
    Column("role", String(ROLE_CHARS), nullable=False),
    Column("password", String(HASH_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("disabled", Boolean, nullable=False),
)
"""``normalised_name``: ``name`` in one case and width, so that names cannot be confused."""

SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", String(DIGEST_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False, index=True),
    Column("created", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("address", String(ADDRESS_CHARS), nullable=False),
    Column("user_agent", String(AGENT_CHARS), nullable=False),
)
"""``digest`` of the secret in the cookie: nobody can sign in with what is in the database."""

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
    Column("last_used", Moment, nullable=True),
    Column("fever_digest", String(DIGEST_CHARS), nullable=True, index=True),
)
"""``digest`` of the secret; ``fever_digest`` of the key that apps compute from name and secret for the Fever API."""

AUDIT = Table(
    "audit_log",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("at", Moment, nullable=False, index=True),
    Column("person_id", String(ID_CHARS), nullable=True),
    Column("person", String(NAME_CHARS), nullable=False),
    Column("method", String(ROLE_CHARS), nullable=False),
    Column("action", String(ACTION_CHARS), nullable=False),
    Column("subject", LONG_TEXT, nullable=False),
    Column("details", JSON, nullable=False),
    Column("address", String(ADDRESS_CHARS), nullable=False),
    Index("ix_audit_log_person_seq", "person", "seq"),
)
"""The audit log. Append-only; ``person`` is the name at that time, since people may be removed."""

ATTEMPTS = Table(
    "sign_in_attempts",
    METADATA,
    Column("key", String(DIGEST_CHARS), primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("last_attempt", Moment, nullable=False),
    Column("last_success", Moment, nullable=True),
    Column("expires", Moment, nullable=False, index=True),
)
"""Failed sign-ins by name, by address and by both (``key`` is a digest: a wrong name is often a password).
``last_success``: the address is trusted after it. Rows are deleted after ``expires``."""

STATE_CHARS = 16
CLAIM_CHARS = 32

ALERTS = Table(
    "alerts",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("after_seq", BigInteger, nullable=False),
    Column("settings", JSON, nullable=False),
    Index("ix_alerts_person_id", "person_id"),
)
"""``after_seq``: the store's change from which stories count. ``settings``: all other fields of an ``Alert``."""

MESSAGES = Table(
    "alert_messages",
    METADATA,
    Column("alert_id", String(ID_CHARS), primary_key=True),
    Column("subject", String(NAME_CHARS), primary_key=True),
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
"""Messages of an alert about a story or a condition of the portal. The key ensures that nothing is sent twice while it is kept."""

ALERT_STATE = Table(
    "alert_state",
    METADATA,
    Column("name", String(NAME_CHARS), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("owner", String(NAME_CHARS)),
    Column("leased_until", Moment),
)
"""The position in the store's change log (``changes``), and the process that sends (``sender``)."""

KEY_CHARS = 64
PORTAL = ""  # the person_id of data that belongs to the portal itself

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

READ_UNTIL = Table(
    "read_until",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("topic", String(NAME_CHARS), primary_key=True),
    Column("until", Moment, nullable=False),
    Column("previous", Moment),
)
"""«Mark all as read» is a time, not a mark per story: everything in the portal until then is read. ``topic`` ``""``: everything.
``previous``: the replaced time, for undo."""

SEARCHES = Table(
    "saved_searches",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("person_id", String(ID_CHARS), nullable=False),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("query", LONG_TEXT, nullable=False),
    Column("created", Moment, nullable=False),
    Index("ix_saved_searches_person_id", "person_id"),
)

FEED_KEYS = Table(
    "feed_keys",
    METADATA,
    Column("person_id", String(ID_CHARS), primary_key=True),
    Column("secret", String(KEY_CHARS), nullable=False, unique=True),
)
"""The secret in the URL of a person's feeds. It opens only these feeds, and the person must be able to see it again, so it is not hashed.
For :data:`PORTAL`: the key that signs Web Push messages."""

PREFERENCES = Table(
    "preferences", METADATA, Column("person_id", String(ID_CHARS), primary_key=True), Column("settings", JSON, nullable=False)
)
"""Preferences of a person: name → value, as in the cookies."""

LOG_POSITIONS = Table(
    "log_positions", METADATA, Column("name", String(NAME_CHARS), primary_key=True), Column("seq", BigInteger, nullable=False)
)
"""Positions of followers in the store's change log."""

ITEM_NUMBERS = Table(
    "item_numbers",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("story_id", String(ID_CHARS), nullable=False, unique=True),
    sqlite_autoincrement=True,  # numbers are never reused: apps store them
)
"""Numbers by which reader apps identify stories: their APIs use integers, and Fever apps ask for those above the last one seen."""
