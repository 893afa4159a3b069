"""What is to be published elsewhere, and what became of it.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "outbox",
        sa.Column("target", sa.String(length=255), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("wanted", sa.String(length=8), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(length=255)),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer()),
        sa.Column("digest", sa.String(length=64)),
        sa.Column("place", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("target", "article_id", name="pk_outbox"),
    )
    create_index("ix_outbox_target_state_due", "outbox", ["target", "state", "due"])
    create_index("ix_outbox_state_changed", "outbox", ["state", "changed"])
    create_index("ix_outbox_article_id", "outbox", ["article_id"])
    create_table(
        "outbox_positions",
        sa.Column("target", sa.String(length=255), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("target", name="pk_outbox_positions"),
    )


def downgrade() -> None:
    op.drop_table("outbox_positions")
    op.drop_table("outbox")
