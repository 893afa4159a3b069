"""What each visit of a source brought, and the feeds that tell us what is new.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "visits",
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("brought", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("source", "at", name="pk_visits"),
    )
    create_index("ix_visits_at", "visits", ["at"])
    create_index("ix_visits_source_brought_at", "visits", ["source", "brought", "at"])
    create_table(
        "subscriptions",
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_subscriptions"),
    )
    create_index("ix_subscriptions_token", "subscriptions", ["token"])


def downgrade() -> None:
    op.drop_table("subscriptions")
    op.drop_table("visits")
