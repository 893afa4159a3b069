"""Copying of one store to another on any database, verification of the copy, and a consistency check of a store.

Each table is read once in key order; rows that are missing or differ in the target are written, extra rows are deleted. So an interrupted
copy can be resumed, and an old copy brought up to date. The change log is compared first: it shows whether the target is a copy of the
source. At the end the target is read again and its digests are compared with those of the rows read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, and_, func, select

from newsportal.errors import StoreError
from newsportal.store.dialects import chunks
from newsportal.store.records import BY_NAME, FORMS, PAGE, Digest, Form, Key, Records, TableReader, canonical, digest
from newsportal.store.schema import COPY
from newsportal.store.store import Store
from newsportal.store.tables import ARTICLES, STORIES

LOG: Final = BY_NAME["changes"]
"""The append-only change log: a store is a copy of another if its log is a prefix of the other's."""

PASSES: Final = 5  # maximum passes over a source that is written to meanwhile; each has less to copy. Chosen, not measured.
OnProgress = Callable[[str, int, int], None]  # progress callback: current step (``copying articles``), rows done, total rows


@dataclass(frozen=True, slots=True)
class TableComparison:
    """Row count and digest of a table in the source and in the target (``_there``)."""

    table: str
    rows: int
    digest: str
    rows_there: int
    digest_there: str

    @property
    def equal(self) -> bool:
        return (self.rows, self.digest) == (self.rows_there, self.digest_there)


@dataclass(frozen=True, slots=True)
class CopyResult:
    """Result of a copy. ``until``: last change of the source that it includes; ``behind``: number of later changes."""

    tables: tuple[TableComparison, ...]
    written: int
    deleted: int
    until: int
    behind: int

    @property
    def equal(self) -> bool:
        return all(table.equal for table in self.tables)


def ignore_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


def is_empty(records: Records) -> bool:
    with records.reading() as reader:
        return not any(reader.count(form) for form in FORMS)


def copy(source: Store, target: Store, *, again: bool = False, progress: OnProgress = ignore_progress) -> CopyResult:
    """Make ``target`` equal to ``source``; until then no other process can open it. Raises ``StoreError`` if the target is not empty, but
    for an interrupted copy of ``source``, or a complete one if ``again`` is set."""
    if (begun := target.records.restoring()) not in (None, COPY):
        raise StoreError("the target store has an interrupted restore; finish that, or name another store (nothing was written)")
    if is_empty(target.records):
        target.records.mark(COPY)
    else:
        with source.records.reading() as reader, target.records.reading() as target_reader:
            extra = _find_own(reader, target_reader)
        if extra:
            raise StoreError(f"the target store has {extra} that the source store does not have; name an empty one (nothing was written)")
        if not again and begun is None:
            raise StoreError("the target store is not empty: it has a copy of this one; to update it, use --again")
    written = deleted = 0
    for _ in range(PASSES):
        until = source.last_seq()
        with source.records.reading() as reader:
            digests, wrote, removed = _copy_once(reader, target.records, progress)
        target.records.finish()
        written, deleted = written + wrote, deleted + removed
        compared: list[TableComparison] = []
        with target.records.reading() as target_reader:
            for number, form in enumerate(FORMS, 1):
                progress(f"comparing {form.name}", number, len(FORMS))
                copied, original = digest(target_reader, form), digests[form.name]
                compared.append(TableComparison(form.name, original.count, original.hexdigest(), copied.count, copied.hexdigest()))
        result = CopyResult(tuple(compared), written, deleted, until, source.last_seq() - until)
        if not result.behind and result.equal:
            break
    if result.equal:
        target.records.mark(None)
    return result


def _find_own(reader: TableReader, target_reader: TableReader) -> str | None:
    """Return what only the target has, or ``None`` if it is a copy of the source. Without a change log all tables are compared."""
    for page in chunks(target_reader.rows(LOG), PAGE):
        found = reader.get(LOG, [LOG.key_of(row) for row in page])
        if any(found.get(LOG.key_of(row)) != row for row in page):
            return "articles"
    for form in FORMS if not target_reader.count(LOG) else ():
        for page in chunks(target_reader.rows(form), PAGE):
            keys = [form.key_of(row) for row in page]
            if len(reader.get(form, keys)) < len(keys):
                return form.name
    return None


def _copy_once(reader: TableReader, target: Records, progress: OnProgress) -> tuple[dict[str, Digest], int, int]:
    """Read every table once. Return the digests of the rows read, and the numbers of rows written and deleted."""
    totals = {form.name: reader.count(form) for form in FORMS}
    total, done, written = sum(totals.values()), 0, 0
    digests: dict[str, Digest] = {}
    for form in FORMS:
        digest = digests[form.name] = Digest()
        fresh = _count(target, form) == 0
        for page in chunks(reader.rows(form), PAGE):
            for row in page:
                digest.add(form, row)
            different = page if fresh else _find_different(target, form, page)
            written += target.write(form, different) if different else 0
            done += len(page)
            progress(f"copying {form.name}", done, max(total, done))
    deleted = sum(_delete_extra(reader, target, form, digests[form.name].count) for form in reversed(FORMS))
    return digests, written, deleted


def _count(records: Records, form: Form) -> int:
    with records.reading() as reader:
        return reader.count(form)


def _find_different(target: Records, form: Form, page: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that are missing or different in the target."""
    with target.reading() as target_reader:
        found = target_reader.get(form, [form.key_of(row) for row in page])
    present = {key: canonical(form, row) for key, row in found.items()}
    return [row for row in page if present.get(form.key_of(row)) != canonical(form, row)]


def _delete_extra(reader: TableReader, target: Records, form: Form, rows: int) -> int:
    """Delete the rows that the source does not (or no longer) have, and return their number."""
    if _count(target, form) <= rows:
        return 0
    extra: list[Key] = []
    with target.reading() as target_reader:
        for page in chunks(target_reader.rows(form), PAGE):
            keys = [form.key_of(row) for row in page]
            found = reader.get(form, keys)
            extra += [key for key in keys if key not in found]
    return sum(target.delete(form, chunk) for chunk in chunks(extra))


MAX_LISTED: Final = 20  # maximum number of faults of one kind that are listed


@dataclass(frozen=True, slots=True)
class Fault:
    """An inconsistent row: its table, its key, and the reason."""

    table: str
    row: str
    reason: str


def find_faults(records: Records, progress: OnProgress = ignore_progress) -> list[Fault]:
    """Return all inconsistencies of a store; an empty list means that it is sound."""
    found: list[Fault] = []
    with records.reading() as reader:
        for number, form in enumerate(FORMS, 1):
            progress(f"checking {form.name}", number, len(FORMS))
            for column, parent in form.parents.items():
                found += [
                    Fault(form.name, ", ".join(map(str, form.key_of(row))), f"{column} {row[column]!r} is not in {parent}")
                    for row in reader.orphans(form, column)
                ]
        found += _stories(reader.connection)
    return found


def _stories(connection: Connection) -> Iterator[Fault]:
    """Yield stories whose head is not one of their versions, or whose count differs from the number of their visible versions."""
    head = and_(ARTICLES.c.id == STORIES.c.head_id, ARTICLES.c.story_id == STORIES.c.id)
    headless = select(STORIES.c.id, STORIES.c.head_id).outerjoin(ARTICLES, head).where(ARTICLES.c.id.is_(None)).order_by(STORIES.c.id)
    for row in connection.execute(headless).all():
        yield Fault("stories", row.id, f"its original {row.head_id!r} is not one of its versions")
    visible = select(ARTICLES.c.story_id, func.count().label("number")).where(ARTICLES.c.hidden.is_(None))
    counts = visible.group_by(ARTICLES.c.story_id).subquery()
    number = func.coalesce(counts.c.number, 0)
    wrong = select(STORIES.c.id, STORIES.c.count, number).outerjoin(counts, counts.c.story_id == STORIES.c.id)
    for id, count, versions in connection.execute(wrong.where(STORIES.c.count != number).order_by(STORIES.c.id)).all():
        yield Fault("stories", id, f"its count is {count} versions, but it has {versions}")
