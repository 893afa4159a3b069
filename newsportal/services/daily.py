"""Daily numbers of articles by source, site, category and topic, updated from the store's change log, in a small SQLite file next to the
search index. Derived data: it may be deleted, and is rebuilt.

The file stores the day and labels under which each article was counted, so that a changed or deleted one is subtracted exactly. A page
reads some hundred sums, regardless of the number of articles.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from newsportal.errors import StoreError
from newsportal.store.dialect_sqlite import sqlite_file, sqlite_uri
from newsportal.store.dialects import Part, chunks, open_engine, write_ahead
from newsportal.store.results import StoredArticle
from newsportal.store.store import Store

Kind = Literal["all", "source", "site", "category", "topic"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
FORM: Final = 2  # of the file; files of another form are rebuilt
CHANGES: Final = 500  # rows of the change log processed in one transaction
AT_ONCE: Final = 20  # transactions per call, so that callers can stop in between
METADATA = sa.MetaData()
STATE = sa.Table("state", METADATA, sa.Column("form", sa.Integer), sa.Column("zone", sa.String), sa.Column("seq", sa.Integer))
NAMES = sa.Table(
    "names", METADATA, sa.Column("id", sa.Integer, primary_key=True), sa.Column("kind", sa.String), sa.Column("name", sa.String)
)
COUNTED = sa.Table(
    "counted",
    METADATA,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("day", sa.Integer),
    sa.Column("labels", sa.String),
    sqlite_with_rowid=False,
)


def _sums(name: str, place: str) -> sa.Table:
    key = (sa.Column(column, sa.Integer, primary_key=True, autoincrement=False) for column in ("label", place))
    return sa.Table(name, METADATA, *key, sa.Column("number", sa.Integer), sqlite_with_rowid=False)


SUMS, SPANS = _sums("sums", "day"), _sums("spans", "span")
"""``SPANS`` has the sums over :data:`SPAN` days, so that a year is a dozen rows per label instead of 365."""

SPAN: Final = 32
FIRST: Final = date(1970, 1, 1)


def daily_uri(index_uri: str) -> str:
    """Return the URI of the file: next to the index's SQLite file, else in memory."""
    file = sqlite_file(index_uri)
    return "sqlite://" if file is None else sqlite_uri(file.with_name(f"{file.name}.daily"))


@dataclass(frozen=True, slots=True)
class Sum:
    name: str
    number: int


class DailySums(Part):
    """Daily sums. Thread-safe. Days begin in ``zone``. Raises the errors of stores."""

    def __init__(self, uri: str, zone: tzinfo = UTC) -> None:
        super().__init__(open_engine(uri))
        self._zone = zone
        write_ahead(self._engine)
        with self._write() as connection:
            state = connection.execute(sa.select(STATE)).first() if sa.inspect(connection).has_table("state") else None
            if state is None or (state.form, state.zone) != (FORM, str(zone)):
                METADATA.drop_all(connection)
                METADATA.create_all(connection)
                connection.execute(sa.insert(STATE).values(form=FORM, zone=str(zone), seq=0))
            self._names: dict[tuple[str, str], int] = {(row.kind, row.name): row.id for row in connection.execute(sa.select(NAMES))}

    def close(self) -> None:
        self._engine.dispose()

    def position(self) -> int:
        return self._scalar(sa.select(STATE.c.seq)) or 0

    def follow(self, store: Store, stopped: Callable[[], bool] = lambda: False) -> int:
        """Process changes since the last call, up to a limit; return the number of change log rows read. If the log is shorter than the
        position (an older backup was restored), everything is counted again."""
        done = 0
        if self.position() > store.last_seq():
            with self._write() as connection:
                for table in (COUNTED, SUMS, SPANS):
                    connection.execute(sa.delete(table))
                connection.execute(sa.update(STATE).values(seq=0))
        for _ in range(AT_ONCE):
            after = self.position()
            changes = [] if stopped() else store.changes(after, CHANGES)
            if not changes:
                break
            ids = list(dict.fromkeys(change.id for change in changes))
            try:
                self._count(ids, store.articles(ids), after, changes[-1].seq)
            except StoreError:
                self._names.clear()  # names inserted in the failed transaction do not exist
                raise
            done += len(changes)
        return done

    def _count(self, ids: Sequence[str], articles: Iterable[StoredArticle], after: int, upto: int) -> None:
        with self._write() as connection:
            if connection.scalar(sa.select(STATE.c.seq)) != after:  # another process was faster
                return
            counted = {article.id: self._counted(connection, article) for article in articles}
            deltas = Counter((label, day) for day, labels in counted.values() for label in labels)
            for chunk in chunks(ids):
                for row in connection.execute(sa.select(COUNTED).where(COUNTED.c.id.in_(chunk))):
                    deltas.subtract((int(label), row.day) for label in row.labels.split())
                connection.execute(sa.delete(COUNTED).where(COUNTED.c.id.in_(chunk)))
            if counted:
                rows = [{"id": id, "day": day, "labels": " ".join(map(str, labels))} for id, (day, labels) in counted.items()]
                connection.execute(sa.insert(COUNTED), rows)
            spans: Counter[tuple[int, int]] = Counter()
            for (label, day), number in deltas.items():
                spans[label, day // SPAN] += number
            for table, name, numbers in ((SUMS, "day", deltas), (SPANS, "span", spans)):
                rows = [{"label": label, name: place, "number": number} for (label, place), number in numbers.items() if number]
                if rows:
                    query = sqlite.insert(table)
                    connection.execute(query.on_conflict_do_update(set_={"number": table.c.number + query.excluded.number}), rows)
            connection.execute(sa.update(STATE).values(seq=upto))

    def _counted(self, connection: sa.Connection, article: StoredArticle) -> tuple[int, tuple[int, ...]]:
        day = (article.first_seen.astimezone(self._zone).date() - FIRST).days
        names = [("all", ""), ("source", article.source), ("site", article.publisher), ("category", article.category or "")]
        names += [("topic", topic) for topic in article.topics]
        return day, tuple(dict.fromkeys(self._label(connection, kind, name) for kind, name in names))

    def _label(self, connection: sa.Connection, kind: str, name: str) -> int:
        if (kind, name) not in self._names:
            stored = connection.scalar(sa.select(NAMES.c.id).where(NAMES.c.kind == kind, NAMES.c.name == name))  # added by another process
            self._names[kind, name] = stored or connection.execute(sa.insert(NAMES).values(kind=kind, name=name)).lastrowid
        return self._names[kind, name]

    def top(self, kind: Kind, since: date, until: date, limit: int = 10) -> list[Sum]:
        """Return the names of a kind with most articles from ``since`` to ``until`` (inclusive)."""
        parts = _parts(kind, *_days(since, until)).subquery()
        number = sa.func.sum(parts.c.number).label("number")
        summed = sa.select(parts.c.id, number).group_by(parts.c.id).subquery()
        query = sa.select(NAMES.c.name, summed.c.number).join(summed, summed.c.id == NAMES.c.id).where(summed.c.number > 0)
        return [Sum(row.name, row.number) for row in self._rows(query.order_by(summed.c.number.desc(), NAMES.c.name).limit(limit))]

    def series(self, kind: Kind, name: str, since: date, until: date) -> list[tuple[date, int]]:
        """Return the number of articles of each day from ``since`` to ``until``, including days without any."""
        first, last = _days(since, until)
        query = (
            sa.select(SUMS.c.day, SUMS.c.number).join(NAMES, SUMS.c.label == NAMES.c.id).where(NAMES.c.kind == kind, NAMES.c.name == name)
        )
        found = {row.day: row.number for row in self._rows(query.where(SUMS.c.day.between(first, last)))}
        return [(FIRST + timedelta(days=day), found.get(day, 0)) for day in range(first, last + 1)]

    def total(self, since: date, until: date) -> int:
        return sum(number for _, number in self.series("all", "", since, until))

    def before(self, day: date) -> int:
        """Return the number of articles before ``day``, where a growth curve begins."""
        query = sa.select(sa.func.sum(SUMS.c.number)).join(NAMES, SUMS.c.label == NAMES.c.id).where(NAMES.c.kind == "all")
        return self._scalar(query.where(SUMS.c.day < (day - FIRST).days)) or 0


def _days(since: date, until: date) -> tuple[int, int]:
    return (since - FIRST).days, (until - FIRST).days


def _parts(kind: Kind, first: int, last: int) -> sa.CompoundSelect[tuple[int, int]]:
    """Select labels and sums: complete spans from ``first`` to ``last``, and single days at both ends."""
    begin, end = -(-first // SPAN), (last + 1) // SPAN  # range of spans, end exclusive
    if begin >= end:
        return sa.union_all(_part(kind, SUMS, SUMS.c.day, first, last))
    return sa.union_all(
        _part(kind, SUMS, SUMS.c.day, first, begin * SPAN - 1),
        _part(kind, SPANS, SPANS.c.span, begin, end - 1),
        _part(kind, SUMS, SUMS.c.day, end * SPAN, last),
    )


def _part(kind: Kind, table: sa.Table, place: sa.Column[int], first: int, last: int) -> sa.Select[tuple[int, int]]:
    """Select sums in the order of the labels, as stored, to avoid a sort."""
    query = sa.select(NAMES.c.id, sa.func.sum(table.c.number).label("number")).join(table, table.c.label == NAMES.c.id)
    return query.where(NAMES.c.kind == kind, NAMES.c.name != "", place.between(first, last)).group_by(NAMES.c.id)


def day_of(moment: datetime, zone: tzinfo) -> date:
    return moment.astimezone(zone).date()
