"""Alerts, what they told of, and how far they came.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "alerts",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("after", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
    )
    create_index("ix_alerts_person_id", "alerts", ["person_id"])
    create_table(
        "alert_messages",
        sa.Column("alert_id", sa.String(length=20), nullable=False),
        sa.Column("thing", sa.String(length=255), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("found", sa.BigInteger(), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("claim", sa.String(length=32), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("alert_id", "thing", name="pk_alert_messages"),
    )
    create_index("ix_alert_messages_article_id", "alert_messages", ["alert_id", "article_id"])
    create_index("ix_alert_messages_state", "alert_messages", ["state", "due"])
    create_index("ix_alert_messages_changed", "alert_messages", ["alert_id", "changed"])
    create_table(
        "alert_marks",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(length=255), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_alert_marks"),
    )


def downgrade() -> None:
    for name in ("alert_marks", "alert_messages", "alerts"):
        op.drop_table(name)
