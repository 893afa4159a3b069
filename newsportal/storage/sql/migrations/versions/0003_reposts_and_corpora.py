"""Reposts, labelled texts and models. Types are written out, so that this step stays what it was when the tables of today change."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from newsportal.storage.sql.steps import add_column, create_index, create_table

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
LONG_BINARY = sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")


def upgrade() -> None:
    _add_prints()
    _add_names()
    _add_corpora()
    _say_who_classified()


def downgrade() -> None:
    _forget_who_classified()
    op.drop_table("declared_names")
    op.drop_index("ix_aliases_seq_id", "aliases")
    op.drop_column("aliases", "seq")
    for table in ("prints", "models", "former_labels", "labelled", "corpora"):
        op.drop_table(table)


def _add_names() -> None:
    add_column("aliases", sa.Column("seq", sa.BigInteger(), nullable=True))
    create_index("ix_aliases_seq_id", "aliases", ["seq", "id"])
    create_table(
        "declared_names",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_declared_names_article_id"),
        sa.PrimaryKeyConstraint("id", "article_id", name="pk_declared_names"),
    )


CLASSIFIED = {
    "articles": (
        ("category_by", sa.String(length=255)),
        ("category_score", sa.Float(precision=53)),
        ("category_reason", sa.Text()),
        ("keywords", sa.JSON()),
    ),
    "article_topics": (("by", sa.String(length=255)), ("score", sa.Float(precision=53))),
}


def _say_who_classified() -> None:
    """Until now every category was its source's word."""
    for table, columns in CLASSIFIED.items():
        for name, kind in columns:
            add_column(table, sa.Column(name, kind, nullable=True))
    op.execute(sa.text("UPDATE articles SET category_by = 'source' WHERE category IS NOT NULL"))


def _forget_who_classified() -> None:
    for table, columns in CLASSIFIED.items():
        with op.batch_alter_table(table) as batch:
            for name, _ in columns:
                batch.drop_column(name)


def _label() -> list[sa.Column[Any]]:
    return [
        sa.Column("label", sa.String(length=255), nullable=True),
        sa.Column("label_source", sa.String(length=16), nullable=False),
        sa.Column("label_by", sa.String(length=255), nullable=True),
        sa.Column("label_at", sa.BigInteger(), nullable=False),
    ]


def _add_corpora() -> None:
    create_table(
        "corpora",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("active", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_corpora"),
    )
    create_table(
        "labelled",
        sa.Column("corpus_id", sa.String(length=20), nullable=False),
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("text", LONG_TEXT, nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        *_label(),
        sa.ForeignKeyConstraint(["corpus_id"], ["corpora.id"], name="fk_labelled_corpus_id"),
        sa.PrimaryKeyConstraint("corpus_id", "id", name="pk_labelled"),
    )
    create_index("ix_labelled_article_id", "labelled", ["article_id"])
    create_index("ix_labelled_corpus_id_label", "labelled", ["corpus_id", "label"])
    create_table(
        "former_labels",
        sa.Column("corpus_id", sa.String(length=20), nullable=False),
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        *_label(),
        sa.ForeignKeyConstraint(["corpus_id"], ["corpora.id"], name="fk_former_labels_corpus_id"),
        sa.PrimaryKeyConstraint("corpus_id", "id", "number", name="pk_former_labels"),
    )
    create_table(
        "models",
        sa.Column("corpus_id", sa.String(length=20), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("algorithm", sa.String(length=64), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("activated", sa.BigInteger(), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("held_out", LONG_BINARY, nullable=False),
        sa.Column("model", LONG_BINARY, nullable=True),
        sa.ForeignKeyConstraint(["corpus_id"], ["corpora.id"], name="fk_models_corpus_id"),
        sa.PrimaryKeyConstraint("corpus_id", "version", name="pk_models"),
    )


def _add_prints() -> None:
    create_table(
        "prints",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("article_id", sa.String(length=20), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("runs", LONG_BINARY, nullable=False),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_prints_article_id"),
        sa.PrimaryKeyConstraint("number", name="pk_prints"),
        sa.UniqueConstraint("article_id"),
        sqlite_autoincrement=True,
    )
