"""The schema that the steps after this one lead on from: new databases are made from the tables themselves."""

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Nothing: no database is older."""
