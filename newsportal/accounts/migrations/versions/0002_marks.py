"""What people mark and keep: read, starred, searches, the secret of their feeds.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "marks",
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=True),
        sa.Column("starred", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("person_id", "story_id", name="pk_marks"),
    )
    create_index("ix_marks_person_id_starred", "marks", ["person_id", "starred"])
    create_index("ix_marks_person_id_at", "marks", ["person_id", "at"])
    create_index("ix_marks_story_id", "marks", ["story_id"])
    create_table(
        "caught_up",
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("topic", sa.String(length=255), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("before", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("person_id", "topic", name="pk_caught_up"),
    )
    create_table(
        "searches",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_searches"),
    )
    create_index("ix_searches_person_id", "searches", ["person_id"])
    create_table(
        "feed_keys",
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("person_id", name="pk_feed_keys"),
        sa.UniqueConstraint("secret", name="uq_feed_keys_secret"),
    )
    create_table(
        "followed",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_followed"),
    )


def downgrade() -> None:
    for table in ("followed", "feed_keys", "searches", "caught_up", "marks"):
        op.drop_table(table)
