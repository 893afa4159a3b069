"""The schema from which later migrations start: new databases are created from the tables themselves."""

revision = "0013"
down_revision = None


def upgrade() -> None:
    """Do nothing: no database is older."""
