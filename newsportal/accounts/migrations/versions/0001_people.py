"""People, their sessions and tokens, who changed what, and failed ways in.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "people",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("named", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("password", sa.String(length=255), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("named", name="uq_people_named"),
    )
    create_table(
        "sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("begun", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_sessions"),
    )
    create_index("ix_sessions_person_id", "sessions", ["person_id"])
    create_table(
        "tokens",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("rights", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("used", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
    )
    create_index("ix_tokens_person_id", "tokens", ["person_id"])
    create_table(
        "trail",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("person_id", sa.String(length=20), nullable=True),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("way", sa.String(length=16), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("thing", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_trail"),
    )
    create_index("ix_trail_at", "trail", ["at"])
    create_index("ix_trail_person_seq", "trail", ["person", "seq"])
    create_table(
        "attempts",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("trusted", sa.BigInteger(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_attempts"),
    )
    create_index("ix_attempts_until", "attempts", ["until"])


def downgrade() -> None:
    for table in ("attempts", "trail", "tokens", "sessions", "people"):
        op.drop_table(table)
