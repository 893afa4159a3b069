"""What editors say of articles, and which of them they hide.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import add_column, create_index

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

WHOSE = (("corrected", sa.BigInteger), ("corrected_by", lambda: sa.String(length=255)), ("corrected_fields", lambda: sa.String(length=255)))
HIDDEN = (("hidden", sa.BigInteger), ("hidden_by", lambda: sa.String(length=255)), ("hidden_reason", sa.Text))


def upgrade() -> None:
    for table, columns in (("revisions", WHOSE), ("articles", (*WHOSE, *HIDDEN))):
        for name, kind in columns:
            add_column(table, sa.Column(name, kind()))
    for name in ("corrected", "hidden"):
        create_index(f"ix_articles_{name}", "articles", [name])


def downgrade() -> None:
    for name in ("corrected", "hidden"):
        op.drop_index(f"ix_articles_{name}", table_name="articles")
    for table, columns in (("revisions", WHOSE), ("articles", (*WHOSE, *HIDDEN))):
        with op.batch_alter_table(table) as changed:
            for name, _ in columns:
                changed.drop_column(name)
