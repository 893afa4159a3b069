"""What readers looked at, what was recommended, and what was learnt from it.

Types are written out, so that this step stays what it was when the tables of today change.
"""

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing yet."""


def downgrade() -> None:
    """Nothing yet."""
