"""What is known of sites between crawls. Types are written out, so that this step stays what it was when the tables of today change."""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_table(
        "site_lines",
        sa.Column("site", sa.String(length=255), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("site", name="pk_site_lines"),
    )
    create_index("ix_site_lines_seen", "site_lines", ["seen"])


def downgrade() -> None:
    op.drop_table("site_lines")
