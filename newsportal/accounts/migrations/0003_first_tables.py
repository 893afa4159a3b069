"""The first tables of accounts. Types are written out, so that this step stays what it was when the tables of today change."""

from typing import Any

import sqlalchemy as sa

from newsportal.store.migration_steps import create_index, create_table

revision = "0003"
down_revision = None
branch_labels = None
depends_on = None

ID, NAME = sa.String(20), sa.String(255)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def columns(kind: Any, *names: str, nullable: bool = True) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names]


def upgrade() -> None:
    _create_people()
    _create_marks_and_alerts()


def _create_people() -> None:
    create_table(
        "people",
        sa.Column("id", ID, primary_key=True),
        sa.Column("named", NAME, nullable=False, unique=True),
        *columns(NAME, "name", "password", nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
    )
    create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("person_id", ID, nullable=False),
        *columns(sa.BigInteger, "begun", "seen", nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("agent", sa.String(200), nullable=False),
    )
    create_index("ix_sessions_person_id", "sessions", ["person_id"])
    create_table(
        "tokens",
        sa.Column("id", ID, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("person_id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("rights", sa.JSON, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        *columns(sa.BigInteger, "expires", "used"),
    )
    create_index("ix_tokens_person_id", "tokens", ["person_id"])
    create_table(
        "trail",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("person_id", ID),
        sa.Column("person", NAME, nullable=False),
        sa.Column("way", sa.String(16), nullable=False),
        *columns(sa.String(64), "action", "address", nullable=False),
        sa.Column("thing", sa.Text, nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
    )
    create_index("ix_trail_at", "trail", ["at"])
    create_index("ix_trail_person_seq", "trail", ["person", "seq"])
    create_table(
        "attempts",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("failed", sa.Integer, nullable=False),
        *columns(sa.BigInteger, "last", "until", nullable=False),
        sa.Column("trusted", sa.BigInteger),
    )
    create_index("ix_attempts_until", "attempts", ["until"])


def _create_marks_and_alerts() -> None:
    create_table(
        "alert_marks",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("owner", NAME),
        sa.Column("until", sa.BigInteger),
    )
    create_table(
        "alert_messages",
        sa.Column("alert_id", ID, primary_key=True),
        sa.Column("thing", NAME, primary_key=True),
        sa.Column("article_id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        *columns(sa.BigInteger, "found", "due", "changed", nullable=False),
        sa.Column("claim", sa.String(32)),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
    )
    create_index("ix_alert_messages_article_id", "alert_messages", ["alert_id", "article_id"])
    create_index("ix_alert_messages_changed", "alert_messages", ["alert_id", "changed"])
    create_index("ix_alert_messages_state", "alert_messages", ["state", "due"])
    create_table(
        "alerts",
        sa.Column("id", ID, primary_key=True),
        sa.Column("person_id", ID, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        *columns(sa.BigInteger, "created", "after", nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    create_index("ix_alerts_person_id", "alerts", ["person_id"])
    create_table(
        "caught_up",
        sa.Column("person_id", ID, primary_key=True),
        sa.Column("topic", NAME, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("before", sa.BigInteger),
    )
    create_table(
        "feed_keys",
        sa.Column("person_id", ID, primary_key=True),
        sa.Column("secret", sa.String(64), nullable=False, unique=True),
    )
    create_table(
        "followed",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
    )
    create_table(
        "marks",
        sa.Column("person_id", ID, primary_key=True),
        sa.Column("story_id", ID, primary_key=True),
        sa.Column("read", sa.Boolean),
        sa.Column("starred", sa.BigInteger),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    create_index("ix_marks_person_id_at", "marks", ["person_id", "at"])
    create_index("ix_marks_person_id_starred", "marks", ["person_id", "starred"])
    create_index("ix_marks_story_id", "marks", ["story_id"])
    create_table(
        "searches",
        sa.Column("id", ID, primary_key=True),
        sa.Column("person_id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
    )
    create_index("ix_searches_person_id", "searches", ["person_id"])
