"""What readers looked at, what was recommended, and what was learnt from it.

Types are written out, so that this step stays what it was when the tables of today change.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from newsportal.storage.sql.steps import create_index, create_table

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

LONG_BINARY = sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    create_table(
        "readers_off",
        sa.Column("reader", sa.String(length=64), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("reader", name="pk_readers_off"),
    )
    create_table(
        "views",
        sa.Column("reader", sa.String(length=64), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("seen", sa.Integer(), nullable=False),
        sa.Column("pictures", sa.Integer(), nullable=False),
        sa.Column("places", sa.LargeBinary(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_views_article_id"),
        sa.PrimaryKeyConstraint("reader", "article_id", name="pk_views"),
    )
    create_index("ix_views_first_reader_seen", "views", ["first", "reader", "seen"])
    create_index("ix_views_at", "views", ["at"])
    create_table(
        "offers",
        sa.Column("reader", sa.String(length=64), nullable=False),
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.Column("day", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.String(length=16), nullable=False),
        sa.Column("opened", sa.String(length=20), nullable=True),
        sa.PrimaryKeyConstraint("reader", "story_id", "day", name="pk_offers"),
    )
    create_index("ix_offers_day", "offers", ["day"])
    create_table(
        "reading_months",
        sa.Column("start", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("views", "pictures", "readers", "offered", "opened", "liked")),
        sa.PrimaryKeyConstraint("start", name="pk_reading_months"),
    )
    create_table(
        "fits",
        sa.Column("number", SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("made", sa.BigInteger(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("packed", LONG_BINARY, nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_fits"),
        sqlite_autoincrement=True,
    )
    create_index("ix_fits_made", "fits", ["made"])


def downgrade() -> None:
    for table in ("fits", "reading_months", "offers", "views", "readers_off"):
        op.drop_table(table)
