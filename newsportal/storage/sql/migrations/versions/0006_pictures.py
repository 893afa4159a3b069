"""How often pictures were seen. Types are written out, so that this step stays what it was when the tables of today change."""

import sqlalchemy as sa
from alembic import op

from newsportal.storage.sql.steps import create_index, create_table

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    create_table(
        "pictures",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("width", NUMBER, nullable=True),
        sa.Column("height", NUMBER, nullable=True),
        sa.Column("format", sa.String(length=64), nullable=True),
        sa.Column("print", sa.String(length=16), nullable=True),
        sa.Column("refused", sa.String(length=64), nullable=True),
        sa.Column("looked", sa.BigInteger(), nullable=True),
        sa.Column("frequent", sa.String(length=64), nullable=True),
        sa.Column("since", sa.BigInteger(), nullable=True),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_pictures"),
    )
    create_index("ix_pictures_print", "pictures", ["print"])
    create_index("ix_pictures_since", "pictures", ["since"])
    create_table(
        "picture_stories",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("site", sa.String(length=255), nullable=False),
        sa.Column("title", sa.String(length=20), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_picture_stories"),
    )
    create_index("ix_picture_stories_site", "picture_stories", ["site"])
    create_table(
        "picture_sightings",
        sa.Column("picture_id", sa.String(length=20), nullable=False),
        sa.Column("story_id", sa.String(length=20), nullable=False),
        sa.PrimaryKeyConstraint("picture_id", "story_id", name="pk_picture_sightings"),
    )
    create_index("ix_picture_sightings_story_id", "picture_sightings", ["story_id"])


def downgrade() -> None:
    op.drop_table("picture_sightings")
    op.drop_table("picture_stories")
    op.drop_table("pictures")
