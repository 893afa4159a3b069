"""The base schema of later migrations: new databases are created from the table definitions."""

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Do nothing: there are no older databases."""
