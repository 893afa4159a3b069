"""Photo stories and their pages. Types are written out, so that this step stays what it was when the tables of today change."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

from newsportal.storage.sql.steps import create_index, create_table

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    create_table(
        "galleries",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("pictures", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("total", NUMBER, nullable=True),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("visited", sa.BigInteger(), nullable=False),
        sa.Column("vain", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.Column("addresses", sa.JSON(), nullable=False),
        sa.Column("text", LONG_TEXT, nullable=False),
        sa.ForeignKeyConstraint(["id"], ["articles.id"], name="fk_galleries_id"),
        sa.PrimaryKeyConstraint("id", name="pk_galleries"),
    )
    create_index("ix_galleries_score_id", "galleries", ["score", "id"])
    create_index("ix_galleries_moment_id", "galleries", ["moment", "id"])
    create_index("ix_galleries_complete_visited", "galleries", ["complete", "visited"])
    create_table(
        "gallery_pages",
        sa.Column("gallery", sa.String(length=20), nullable=False),
        sa.Column("page", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("said", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("gallery", "page", name="pk_gallery_pages"),
    )
    create_index("ix_gallery_pages_seen", "gallery_pages", ["seen"])
    create_table(
        "gallery_refused",
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_gallery_refused"),
    )
    create_index("ix_gallery_refused_seen", "gallery_refused", ["seen"])
    create_table(
        "gallery_pictures",
        sa.Column("gallery_id", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("caption", sa.Text(), nullable=True),
        sa.Column("width", NUMBER, nullable=True),
        sa.Column("height", NUMBER, nullable=True),
        sa.Column("format", sa.Text(), nullable=True),
        sa.Column("page", sa.Text(), nullable=True),
        sa.Column("print", sa.String(length=16), nullable=True),
        sa.Column("dropped", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["gallery_id"], ["galleries.id"], name="fk_gallery_pictures_gallery_id"),
        sa.PrimaryKeyConstraint("gallery_id", "number", name="pk_gallery_pictures"),
    )
    create_index("ix_gallery_pictures_name", "gallery_pictures", ["name"])
    create_index("ix_gallery_pictures_print", "gallery_pictures", ["print"])
    create_table(
        "gallery_labels",
        sa.Column("gallery_id", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["gallery_id"], ["galleries.id"], name="fk_gallery_labels_gallery_id"),
        sa.PrimaryKeyConstraint("gallery_id", "kind", "value", name="pk_gallery_labels"),
    )
    create_index("ix_gallery_labels_kind_value_score_gallery_id", "gallery_labels", ["kind", "value", "score", "gallery_id"])
    create_index("ix_gallery_labels_kind_value_moment_gallery_id", "gallery_labels", ["kind", "value", "moment", "gallery_id"])
    create_table(
        "gallery_words",
        sa.Column("gallery_id", sa.String(length=20), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["gallery_id"], ["galleries.id"], name="fk_gallery_words_gallery_id"),
        sa.PrimaryKeyConstraint("gallery_id", name="pk_gallery_words"),
    )
    create_table(
        "gallery_keys",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("gallery_id", sa.String(length=20), nullable=False),
        sa.Column("moment", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["gallery_id"], ["galleries.id"], name="fk_gallery_keys_gallery_id"),
        sa.PrimaryKeyConstraint("key", "gallery_id", name="pk_gallery_keys"),
    )
    create_index("ix_gallery_keys_key_moment", "gallery_keys", ["key", "moment"])
    create_index("ix_gallery_keys_gallery_id", "gallery_keys", ["gallery_id"])


def downgrade() -> None:
    op.drop_table("gallery_keys")
    op.drop_table("gallery_words")
    op.drop_table("gallery_labels")
    op.drop_table("gallery_pictures")
    op.drop_table("gallery_refused")
    op.drop_table("gallery_pages")
    op.drop_table("galleries")
