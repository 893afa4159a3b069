"""The table of what the assistant was asked and answered."""

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, String, Text

from newsportal.store.dialect_mysql import COLLATIONS
from newsportal.store.schema import MYSQL_TABLES, exact

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    database = op.get_bind().dialect.name
    options: dict[str, Any] = {}
    if database in COLLATIONS:
        options = {f"{database}_{key}": value for key, value in {**MYSQL_TABLES, "collate": COLLATIONS[database]}.items()}
    number = Integer() if database == "sqlite" else BigInteger()
    op.create_table(
        "assistant_calls",
        Column("number", number, nullable=False, autoincrement=True),
        *(Column(name, exact(String(size), database), nullable=False) for name, size in (("key", 40), ("purpose", 16), ("model", 255))),
        Column("at", BigInteger, nullable=False),
        Column("tokens", BigInteger, nullable=False),
        Column("answer", exact(Text(), database)),
        PrimaryKeyConstraint("number", name="pk_assistant_calls"),
        sqlite_autoincrement=True,
        **options,
    )
    for column in ("key", "at"):
        op.create_index(f"ix_assistant_calls_{column}", "assistant_calls", [column])
