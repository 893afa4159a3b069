"""Reader apps: the Fever key of a token (None for older tokens) and the numbers of stories; preferences of a person: language, theme,
topics, and the name of the reading history. It continues an interrupted migration: MySQL commits after every statement."""

from alembic import op
from sqlalchemy import Column, String, inspect

from newsportal.services.accounts.tables import ITEM_NUMBERS, PREFERENCES
from newsportal.store.schema import exact

revision = "0004"
down_revision = None  # migrates accounts of schema 0003


def upgrade() -> None:
    database, found = op.get_bind().dialect.name, inspect(op.get_bind())
    if "fever_digest" not in {column["name"] for column in found.get_columns("tokens")}:
        op.add_column("tokens", Column("fever_digest", exact(String(64), database), nullable=True))
    if not found.has_index("tokens", "ix_tokens_fever_digest"):
        op.create_index("ix_tokens_fever_digest", "tokens", ["fever_digest"])
    columns = [Column(column.name, exact(column.type, database), primary_key=column.primary_key, nullable=column.nullable,
                      autoincrement=column.autoincrement, unique=column.unique) for column in ITEM_NUMBERS.columns]  # fmt: skip
    op.create_table("item_numbers", *columns, if_not_exists=True, sqlite_autoincrement=True)
    person, chosen = PREFERENCES.columns
    person_id = Column(person.name, exact(person.type, database), primary_key=True)
    op.create_table("preferences", person_id, Column(chosen.name, chosen.type, nullable=False), if_not_exists=True)
