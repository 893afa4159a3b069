"""A table of another database as a target (paper B, section 1.6: the database of the news site itself).

Every statement is built by SQLAlchemy from reflected columns with bound values: no data of an article becomes SQL. The row and its mark
(:class:`Mark`) are written in one transaction, and writers are serialised (``store.dialects.writing``), so that a check and the following
write are atomic. Without marks the key column shows whether the row exists.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import ReflectedIndex

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.messages import did_you_mean
from newsportal.services.publishing import columns
from newsportal.services.publishing.base import AlreadyPublished, BadTarget, Published, Refused, Step, TargetDown, digest_of
from newsportal.services.publishing.columns import convert, key_of, row_of
from newsportal.sources.publishing import Target
from newsportal.store.columns import build
from newsportal.store.dialect import place_of
from newsportal.store.dialects import open_engine, reading, writing
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

NAME: Final = "newsportal_published"


@dataclass(frozen=True, slots=True)
class Mark:
    """Record of a written row. ``place``: its key as JSON; empty if it was deleted. ``digest``: empty if it was withdrawn."""

    place: str
    revision: int
    digest: str
    fence: int


def marks_table(schema: str | None) -> sa.Table:
    return sa.Table(
        NAME,
        sa.MetaData(),
        sa.Column("target", sa.String(100), primary_key=True),
        sa.Column("article", sa.String(20), primary_key=True),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        schema=schema,
        mysql_charset="utf8mb4",
        mariadb_charset="utf8mb4",
        mysql_engine="InnoDB",
        mariadb_engine="InnoDB",
    )


GONE_THERE: Final = "its row was deleted there; to write it again: newsportal unpublish, then newsportal publish again"
REFUSED_STATES: Final = ("P0001", "44000")  # PostgreSQL: RAISE in a trigger; a row outside the view through which it is written
REFUSED_NUMBERS: Final = (1644, 1369, 3819)
"""MariaDB and MySQL: ``SIGNAL`` in a trigger; a row outside its view; a CHECK. Their driver reports all as operational errors."""


class TableTarget:
    """See :class:`~newsportal.services.publishing.base.Target`."""

    def __init__(self, target: Target, zone: tzinfo) -> None:
        self._target = target
        self._zone = zone
        self._engine: sa.Engine | None = None
        self._table: sa.Table | None = None
        self._marked = False
        self._marks = marks_table(_split(target.table or "")[0]) if target.marks == "table" else None

    def check(self) -> Sequence[str]:
        return tuple(columns.find_remarks(self._reflected(), self._target))

    def digest(self, article: StoredArticle) -> str:
        return digest_of(row_of(article, self._target.columns, self._zone))

    def put(self, article: StoredArticle, entry: OutboxEntry) -> Published:
        table, digest = self._reflected(), self.digest(article)
        row = self._row(article, table)
        with self._writing() as connection:
            mark = self._current(connection, entry)
            if mark is not None and mark.digest == digest:
                return Published(mark.place)
            row_key = self._row_key(connection, table, article, entry, mark)
            if row_key is None and (entry.published or (mark is not None and mark.digest)):
                return Published(entry.location or "", GONE_THERE)
            if row_key is not None:
                connection.execute(sa.update(table).where(self._key_clause(table, row_key)).values(row))
                row_key |= {name: row[name] for name in row_key if name in row and not isinstance(row[name], sa.ColumnElement)}
            else:
                inserted = connection.execute(sa.insert(table).values(row)).inserted_primary_key or ()
                key = self._target.key
                row_key = dict(zip(table.primary_key.columns.keys(), inserted, strict=True)) if key is None else {key: row[key]}
            new_mark = Mark(_place_json(row_key), article.revision, digest, entry.fence)
            self._save_mark(connection, entry, new_mark, new=mark is None)
            return Published(new_mark.place)

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        table = self._reflected()
        with self._writing() as connection:
            mark = self._current(connection, entry)
            row_key = self._row_key(connection, table, article, entry, mark)
            if row_key is not None:
                connection.execute(self._removing(table, row_key))
            remains = row_key is not None and self._target.unpublish != "delete"
            new_mark = Mark(_place_json(row_key) if remains else "", mark.revision if mark else 0, "", entry.fence)
            # kept, else a process with an expired lease would write the row again
            self._save_mark(connection, entry, new_mark, new=mark is None)

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        table = self._reflected()
        with self._translated_errors(), reading(self._opened()) as connection:
            exists = self._marks is None or sa.inspect(connection).has_table(NAME, schema=self._marks.schema)
            mark = self._mark(connection, entry) if exists else None
            row_key = self._row_key(connection, table, article, entry, mark)
        if entry.action == "withdraw" or article is None:
            return () if row_key is None else (self._step(self._removing(table, row_key)),)
        row = self._row(article, table)
        query = sa.insert(table).values(row) if row_key is None else sa.update(table).where(self._key_clause(table, row_key)).values(row)
        return (self._step(query),)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()

    def _opened(self) -> sa.Engine:
        if self._engine is None:
            file = make_url(self._target.to).database if self._target.to.startswith("sqlite") else None
            if file is not None and not Path(file).exists():
                raise TargetDown(f"{file}: there is no such database; create it, or correct publish.to")
            with self._translated_errors():
                self._engine = open_engine(self._target.to, create=False)
        return self._engine

    def _reflected(self) -> sa.Table:
        """Return the reflected table, checked once. Raises ``BadTarget`` with all mistakes."""
        if self._table is not None:
            return self._table
        schema, name = _split(self._target.table or "")
        with self._translated_errors(), reading(self._opened()) as connection:
            try:
                found = sa.Table(name, sa.MetaData(), autoload_with=connection, schema=schema, resolve_fks=False)
                _with_inline_keys(found, connection)
            except sa.exc.NoSuchTableError as error:
                names = sa.inspect(connection).get_table_names(schema=schema)
                hint = did_you_mean(name, names)
                text = ", ".join(names) or "none"
                raise BadTarget(f"{self._place}: there is no table {name}; there is: {text}" + (f" ({hint})" if hint else "")) from error
        if mistakes := list(columns.find_mistakes(found, self._target)):
            raise BadTarget("\n".join(f"{self._place}: table {self._target.table}: {mistake}" for mistake in mistakes))
        self._table = found
        return found

    @property
    def _place(self) -> str:
        return place_of(self._engine.url) if self._engine is not None else self._target.name

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._translated_errors(), writing(self._opened()) as connection:
            self._make_marks(connection)
            yield connection

    def _make_marks(self, connection: sa.Connection) -> None:
        """Create the table of marks, once. The check runs while no other process writes, so that only one creates it."""
        if self._marks is None or self._marked:
            return
        if not sa.inspect(connection).has_table(NAME, schema=self._marks.schema):
            try:
                self._marks.create(connection)
            except sa.exc.DBAPIError as error:
                if error.connection_invalidated:
                    raise
                remedy = f"let an administrator create it (docs/publishing.md), or set marks: key for {self._target.name}"
                raise BadTarget(f"{self._place}: the table {NAME} cannot be created there: {error.orig}; {remedy}") from error
        self._marked = True

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            if is_refusal(error):
                raise Refused(f"the table rejects it: {_reworded(error)}") from error
            if isinstance(error, StoreUnavailable):
                raise TargetDown(_reworded(error)) from error
            raise BadTarget(_reworded(error)) from error
        except sa.exc.StatementError as error:
            raise Refused(f"the table rejects it: {error.orig or error}") from error

    def _mark(self, connection: sa.Connection, entry: OutboxEntry) -> Mark | None:
        marks = self._marks
        if marks is None:
            return None
        condition = self._key_clause(marks, {"target": entry.target, "article": entry.article_id})
        found = connection.execute(sa.select(marks).where(condition)).mappings().one_or_none()
        return None if found is None else build(Mark, found)

    def _current(self, connection: sa.Connection, entry: OutboxEntry) -> Mark | None:
        """Return the mark. Raises ``AlreadyPublished`` before anything is changed."""
        mark = self._mark(connection, entry)
        if mark is not None and mark.fence > entry.fence:
            raise AlreadyPublished()
        return mark

    def _save_mark(self, connection: sa.Connection, entry: OutboxEntry, mark: Mark, *, new: bool) -> None:
        if self._marks is None:
            return
        key = {"target": entry.target, "article": entry.article_id}
        values = asdict(mark) | {"changed": datetime.now(UTC).replace(tzinfo=None, microsecond=0)}
        connection.execute(
            sa.insert(self._marks).values(key | values)
            if new
            else sa.update(self._marks).where(self._key_clause(self._marks, key)).values(values)
        )

    def _row_key(
        self, connection: sa.Connection, table: sa.Table, article: StoredArticle | None, entry: OutboxEntry, mark: Mark | None
    ) -> dict[str, Any] | None:
        """Return the key of the article's row if it exists, trying the mark, the outbox entry and the key column."""
        keys = [json.loads(text) for text in (mark.place if mark else None, entry.location) if text]
        if article is not None and self._target.key is not None:
            keys.append({self._target.key: self._row(article, table)[self._target.key]})
        for key in keys:
            if (
                key.keys() <= set(table.columns.keys())
                and connection.execute(sa.select(sa.literal(1)).where(self._key_clause(table, key)).limit(1)).first()
            ):
                return dict(key)
        return None

    def _key_clause(self, table: sa.Table, row_key: Mapping[str, Any]) -> sa.ColumnElement[bool]:
        return sa.and_(*(table.c[name] == key_of(value, table.c[name]) for name, value in row_key.items()))

    def _removing(self, table: sa.Table, row_key: Mapping[str, Any]) -> sa.Update | sa.Delete:
        if isinstance(self._target.unpublish, dict):
            return sa.update(table).where(self._key_clause(table, row_key)).values(self._target.unpublish)
        return sa.delete(table).where(self._key_clause(table, row_key))

    def _row(self, article: StoredArticle, table: sa.Table) -> dict[str, Any]:
        row = row_of(article, self._target.columns, self._zone)
        sqlite = self._opened().dialect.name == "sqlite"
        return {name: convert(value, table.c[name], sqlite=sqlite) for name, value in row.items()}

    def _step(self, statement: sa.Insert | sa.Update | sa.Delete) -> Step:
        compiled = statement.compile(dialect=self._opened().dialect)
        return Step(str(compiled), dict(compiled.params))


def _place_json(row_key: Mapping[str, Any] | None) -> str:
    return json.dumps(row_key, ensure_ascii=False, default=str)


def _with_inline_keys(table: sa.Table, connection: sa.Connection) -> None:
    """Add SQLite's inline ``UNIQUE`` constraints: SQLAlchemy parses the definition, but misses columns with a length or CHECK."""
    if connection.dialect.name != "sqlite":
        return
    indexes: list[ReflectedIndex] = sa.inspect(connection).get_indexes(table.name, schema=table.schema, include_auto_indexes=True)
    for index in indexes:
        names = [name for name in index["column_names"] if name is not None]
        if index["unique"] and (index["name"] or "").startswith("sqlite_autoindex_"):
            table.append_constraint(sa.UniqueConstraint(*names))


def _split(name: str) -> tuple[str | None, str]:
    schema, dot, table = name.rpartition(".")
    return (schema, table) if dot else (None, name)


def _reworded(error: StoreError) -> str:
    text = str(error).replace("there is no store yet; run `newsportal crawl` first", "there is no such database; create it")
    return text.replace("the store URI in sources.yaml", "publish.to").replace("the store URI", "publish.to")


def is_refusal(error: StoreError) -> bool:
    """Return whether the database rejects this particular row permanently."""
    cause = error.__cause__
    if isinstance(cause, sa.exc.DataError | sa.exc.IntegrityError):
        return True
    original = cause.orig if isinstance(cause, sa.exc.DBAPIError) else None
    return getattr(original, "sqlstate", None) in REFUSED_STATES or next(iter(getattr(original, "args", ())), None) in REFUSED_NUMBERS
