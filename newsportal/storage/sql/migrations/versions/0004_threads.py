"""Forum threads and their posts. Types are written out, so that this step stays what it was when the tables of today change."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from newsportal.storage.sql.steps import create_index, create_table

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    create_table(
        "threads",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("board", sa.String(length=255), nullable=True),
        sa.Column("posts", sa.Integer(), nullable=False),
        sa.Column("newest", sa.BigInteger(), nullable=True),
        sa.Column("visited", sa.BigInteger(), nullable=False),
        sa.Column("last_page", sa.Text(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.Column("replies", NUMBER, nullable=True),
        sa.Column("listed", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["id"], ["articles.id"], name="fk_threads_id"),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
    )
    create_table(
        "posts",
        sa.Column("thread_id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("floor", NUMBER, nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("published", sa.BigInteger(), nullable=True),
        sa.Column("date_text", sa.Text(), nullable=True),
        sa.Column("text", LONG_TEXT, nullable=False),
        sa.Column("quoted", LONG_TEXT, nullable=True),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=True),
        sa.Column("earlier", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_posts_thread_id"),
        sa.PrimaryKeyConstraint("thread_id", "name", name="pk_posts"),
    )
    create_index("ix_posts_thread_id_place", "posts", ["thread_id", "place"])


def downgrade() -> None:
    op.drop_table("posts")
    op.drop_table("threads")
