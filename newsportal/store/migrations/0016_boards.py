"""The table of hot lists."""

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Float, Integer, PrimaryKeyConstraint, String, Text

from newsportal.store.dialect_mysql import COLLATIONS
from newsportal.store.schema import MYSQL_TABLES, exact

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    database = op.get_bind().dialect.name
    id, name, title = (exact(type_, database) for type_ in (String(20), String(255), Text()))
    options: dict[str, Any] = {}
    if database in COLLATIONS:
        options = {f"{database}_{key}": value for key, value in {**MYSQL_TABLES, "collate": COLLATIONS[database]}.items()}
    op.create_table(
        "board_ranks",
        Column("source", name, nullable=False), Column("item", id, nullable=False), Column("at", BigInteger, nullable=False),
        Column("place", Integer, nullable=False), Column("heat", Float(53)), Column("title", title, nullable=False),
        Column("url", title, nullable=False),
        PrimaryKeyConstraint("source", "item", "at", name="pk_board_ranks"),
        **options,
    )  # fmt: skip
    op.create_index("ix_board_ranks_source_at", "board_ranks", ("source", "at"))
    op.create_index("ix_board_ranks_at", "board_ranks", ("at",))
