"""The first tables. Types are written out here, so that this step stays what it was when the tables of today change."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from newsportal.storage.sql.steps import create_index, create_table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    create_table(
        "changes",
        sa.Column("seq", SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_changes"),
        sqlite_autoincrement=True,
    )
    create_table(
        "deferred_links",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("link", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deferred_links"),
    )
    create_index("ix_deferred_links_source_since_position", "deferred_links", ["source", "since", "position"])
    create_table(
        "runs",
        sa.Column("id", sa.String(length=255), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    create_index("ix_runs_started", "runs", ["started"])
    create_table(
        "source_states",
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_source_states"),
    )
    create_table(
        "stories",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("head_id", sa.String(length=20), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("sites", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.BigInteger(), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.Column("heat", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stories"),
    )
    create_index("ix_stories_heat_id", "stories", ["heat", "id"])
    create_index("ix_stories_moment_id", "stories", ["moment", "id"])
    create_table(
        "articles",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=255), nullable=False),
        sa.Column("site", sa.String(length=255), nullable=True),
        sa.Column("publisher", sa.String(length=255), nullable=False),
        sa.Column("category", sa.String(length=255), nullable=True),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("fold_of", sa.String(length=20), nullable=True),
        sa.Column("fold_reason", sa.Text(), nullable=True),
        sa.Column("fold_score", sa.Float(precision=53), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("fetched", sa.BigInteger(), nullable=False),
        sa.Column("published", sa.BigInteger(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("algorithm", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.Column("text", LONG_TEXT, nullable=False),
        sa.Column("html", LONG_TEXT, nullable=True),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name="fk_articles_story_id"),
        sa.PrimaryKeyConstraint("id", name="pk_articles"),
    )
    create_index("ix_articles_moment", "articles", ["moment"])
    create_index("ix_articles_source", "articles", ["source"])
    create_index("ix_articles_story_id_moment", "articles", ["story_id", "moment"])
    create_table(
        "story_labels",
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.Column("heat", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["story_id"], ["stories.id"], name="fk_story_labels_story_id"),
        sa.PrimaryKeyConstraint("story_id", "kind", "value", name="pk_story_labels"),
    )
    create_index("ix_story_labels_kind_value_heat_story_id", "story_labels", ["kind", "value", "heat", "story_id"])
    create_index("ix_story_labels_kind_value_moment_story_id", "story_labels", ["kind", "value", "moment", "story_id"])
    create_table(
        "aliases",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_aliases_article_id"),
        sa.PrimaryKeyConstraint("id", name="pk_aliases"),
    )
    create_table(
        "article_topics",
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("topic", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_article_topics_article_id"),
        sa.PrimaryKeyConstraint("article_id", "topic", name="pk_article_topics"),
    )
    create_table(
        "fold_keys",
        sa.Column("key", sa.String(length=20), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_fold_keys_article_id"),
        sa.PrimaryKeyConstraint("key", "article_id", name="pk_fold_keys"),
    )
    create_index("ix_fold_keys_key_moment", "fold_keys", ["key", "moment"])
    create_table(
        "revisions",
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fetched", sa.BigInteger(), nullable=False),
        sa.Column("published", sa.BigInteger(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("algorithm", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.Column("text", LONG_TEXT, nullable=False),
        sa.Column("html", LONG_TEXT, nullable=True),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_revisions_article_id"),
        sa.PrimaryKeyConstraint("article_id", "revision", name="pk_revisions"),
    )
    create_table(
        "unfolded",
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_unfolded_article_id"),
        sa.PrimaryKeyConstraint("article_id", "story_id", name="pk_unfolded"),
    )


def downgrade() -> None:
    for table in (
        "unfolded", "revisions", "fold_keys", "article_topics", "aliases", "story_labels", "articles", "stories",
        "source_states", "runs", "deferred_links", "changes",
    ):  # fmt: skip
        op.drop_table(table)
