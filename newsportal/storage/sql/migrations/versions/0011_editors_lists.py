"""Indexes for the lists of articles that editors look through: each narrowed by one thing, the newest first.

Types are written out, so that this step stays what it was when the tables of today change.
"""

from alembic import op

from newsportal.storage.sql.steps import create_index, drop_index

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

INDEXES = (
    ("source", "moment"),
    ("category", "moment"),
    ("category_by", "moment"),
    ("published", "moment"),
    ("length", "moment", "id", "hidden"),
    ("category_score", "moment", "id", "hidden", "category_by"),
)


def upgrade() -> None:
    for columns in INDEXES:
        create_index(f"ix_articles_{'_'.join(columns)}", "articles", list(columns))
    drop_index("ix_articles_source", "articles")  # the first of them does its work


def downgrade() -> None:
    create_index("ix_articles_source", "articles", ["source"])
    for columns in INDEXES:
        op.drop_index(f"ix_articles_{'_'.join(columns)}", table_name="articles")
