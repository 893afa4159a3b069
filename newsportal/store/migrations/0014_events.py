"""Tables of events over stories, filled by the next follower of the change log; of the assistant's answers; of hot lists."""

from collections.abc import Callable, Sequence
from typing import Any

from alembic import op
from sqlalchemy import JSON, BigInteger, Column, Float, ForeignKeyConstraint, Integer, LargeBinary, PrimaryKeyConstraint, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.inspection import inspect

from newsportal.store.dialect_mysql import COLLATIONS
from newsportal.store.schema import MYSQL_TABLES, exact

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    database = op.get_bind().dialect.name
    id, name, title = (exact(type_, database) for type_ in (String(20), String(255), Text()))
    vector = mysql.LONGBLOB() if database in COLLATIONS else LargeBinary()
    number = Integer() if database == "sqlite" else BigInteger()
    options: dict[str, Any] = {}
    if database in COLLATIONS:
        options = {f"{database}_{key}": value for key, value in {**MYSQL_TABLES, "collate": COLLATIONS[database]}.items()}

    def make(table: str, *columns: Any, key: str | Sequence[str], **more: Any) -> None:
        primary = PrimaryKeyConstraint(*((key,) if isinstance(key, str) else key), name=f"pk_{table}")
        op.create_table(table, *columns, primary, if_not_exists=True, **options, **more)  # MySQL commits after each

    make(
        "events",
        Column("id", id, nullable=False), Column("head_id", id), Column("title", title), Column("pinned", BigInteger),
        Column("stories", Integer, nullable=False), Column("sites", Integer, nullable=False), Column("first", BigInteger, nullable=False),
        Column("last", BigInteger, nullable=False), Column("heat", Float(53), nullable=False),
        Column("changed", BigInteger, nullable=False), Column("vector", vector, nullable=False), key="id",
    )  # fmt: skip
    make(
        "event_stories",
        Column("story_id", id, nullable=False), Column("event_id", id, nullable=False), Column("score", Float(53), nullable=False),
        Column("words", JSON, nullable=False), Column("by", name),
        ForeignKeyConstraint(["story_id"], ["stories.id"], name="fk_event_stories_story_id"),
        ForeignKeyConstraint(["event_id"], ["events.id"], name="fk_event_stories_event_id"), key="story_id",
    )  # fmt: skip
    make(
        "event_edits",
        Column("number", number, nullable=False, autoincrement=True), Column("kind", exact(String(16), database), nullable=False),
        Column("event_id", id, nullable=False), Column("at", BigInteger, nullable=False), Column("by", name, nullable=False),
        Column("moves", JSON, nullable=False), Column("undone", BigInteger), key="number", sqlite_autoincrement=True,
    )  # fmt: skip
    make("event_redirects", Column("id", id, nullable=False), Column("event_id", id, nullable=False), key="id")
    make(
        "event_position", Column("name", exact(String(8), database), nullable=False), Column("seq", BigInteger, nullable=False), key="name"
    )
    _make_others(make, database)
    for table, columns in (
        ("events", ("heat", "id")), ("events", ("last", "id")), ("events", ("changed", "id")), ("events", ("pinned", "id")),
        ("event_stories", ("event_id",)), ("event_edits", ("event_id", "number")), ("assistant_calls", ("key",)),
        ("assistant_calls", ("at",)), ("board_ranks", ("source", "at")), ("board_ranks", ("at",)),
    ):  # fmt: skip
        if not inspect(op.get_bind()).has_index(table, index := f"ix_{table}_{'_'.join(columns)}"):
            op.create_index(index, table, columns)


def _make_others(make: Callable[..., None], database: str) -> None:
    id, name, text = (exact(type_, database) for type_ in (String(20), String(255), Text()))
    number = Integer() if database == "sqlite" else BigInteger()
    make(
        "assistant_calls",
        Column("number", number, nullable=False, autoincrement=True), Column("key", exact(String(40), database), nullable=False),
        Column("purpose", exact(String(16), database), nullable=False), Column("model", name, nullable=False),
        Column("at", BigInteger, nullable=False), Column("tokens", BigInteger, nullable=False), Column("answer", text),
        key="number", sqlite_autoincrement=True,
    )  # fmt: skip
    make(
        "board_ranks",
        Column("source", name, nullable=False), Column("item", id, nullable=False), Column("at", BigInteger, nullable=False),
        Column("place", Integer, nullable=False), Column("heat", Float(53)), Column("title", text, nullable=False),
        Column("url", text, nullable=False), key=("source", "item", "at"),
    )  # fmt: skip
