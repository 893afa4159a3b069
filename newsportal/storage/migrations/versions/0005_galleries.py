"""Photo stories and their pages. Types are written out, so that this step stays what it was when the tables of today change."""

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing yet."""


def downgrade() -> None:
    """Nothing yet."""
