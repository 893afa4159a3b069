"""One store into another, whatever databases they are, and the proof that both hold the same; and whether a store's rows fit together.

Every table is read through once by its key; what the target lacks or has otherwise is written, what it has too much is deleted. So a copy
that was broken off goes on where it was, and one of yesterday is brought up to date. The change log comes first: it tells whose copy a
store is. At the end the target is read again and its digests are set against those of what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, and_, func, select

from newsportal.errors import StoreError
from newsportal.store.dialects import chunks
from newsportal.store.records import BY_NAME, FORMS, PAGE, Digest, Form, Key, Records, TableReader, canonical, digest
from newsportal.store.store import Store
from newsportal.store.tables import ARTICLES, STORIES

LOG: Final = BY_NAME["changes"]
"""Only ever appended to: of two stores one is a copy of the other if its log is the beginning of the other's."""

PASSES: Final = 5  # times that a source is read through which is written to meanwhile; each time less is left. Chosen.
Tell = Callable[[str, int, int], None]  # called with what is done (``copying articles``), how far, and of how much


@dataclass(frozen=True, slots=True)
class Compared:
    """A table of both stores: rows and digest here and there."""

    table: str
    rows: int
    digest: str
    rows_there: int
    digest_there: str

    @property
    def equal(self) -> bool:
        return (self.rows, self.digest) == (self.rows_there, self.digest_there)


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did. ``until``: the source's last change that is in it; ``behind``: changes that came since."""

    tables: tuple[Compared, ...]
    written: int
    deleted: int
    until: int
    behind: int

    @property
    def equal(self) -> bool:
        return all(table.equal for table in self.tables)


def nothing(what: str, done: int, total: int) -> None:
    """Tells nobody."""


def is_empty(records: Records) -> bool:
    with records.reading() as look:
        return not any(look.count(form) for form in FORMS)


def copy(source: Store, target: Store, *, again: bool = False, tell: Tell = nothing) -> Copied:
    """Make ``target`` hold what ``source`` holds. Raises ``StoreError`` if it holds something, unless it is a copy of ``source`` from
    before and ``again`` says so."""
    if not is_empty(target.records):
        with source.records.reading() as look, target.records.reading() as there:
            own = _own(look, there)
        if own:
            raise StoreError(
                f"the store to copy to holds {own} of its own, which the other one does not have; name an empty one (nothing was written)"
            )
        if not again:
            raise StoreError(
                "the store to copy to is not empty: it holds a copy of this one, whole or in part; to go on with it, or bring it up to "
                "date, say: --again"
            )
    written = deleted = 0
    for _ in range(PASSES):
        until = source.last_seq()
        with source.records.reading() as look:
            read, wrote, gone = _pass(look, target.records, tell)
        target.records.finish()
        written, deleted = written + wrote, deleted + gone
        compared: list[Compared] = []
        with target.records.reading() as there:
            for number, form in enumerate(FORMS, 1):
                tell(f"comparing {form.name}", number, len(FORMS))
                found, here = digest(there, form), read[form.name]
                compared.append(Compared(form.name, here.count, here.hexdigest(), found.count, found.hexdigest()))
        made = Copied(tuple(compared), written, deleted, until, source.last_seq() - until)
        if not made.behind and made.equal:
            break
    return made


def _own(look: TableReader, there: TableReader) -> str | None:
    """What the target has and the source has not, if it is no copy. One without a log, of a source that had none, has nothing else."""
    for page in chunks(there.rows(LOG), PAGE):
        found = look.get(LOG, [LOG.key_of(row) for row in page])
        if any(found.get(LOG.key_of(row)) != row for row in page):
            return "articles"
    for form in FORMS if not there.count(LOG) else ():
        for page in chunks(there.rows(form), PAGE):
            keys = [form.key_of(row) for row in page]
            if len(look.get(form, keys)) < len(keys):
                return form.name
    return None


def _pass(look: TableReader, target: Records, tell: Tell) -> tuple[dict[str, Digest], int, int]:
    """Read every table once; answers what was read, and how many rows were written and deleted."""
    totals = {form.name: look.count(form) for form in FORMS}
    total, done, written = sum(totals.values()), 0, 0
    read: dict[str, Digest] = {}
    for form in FORMS:
        made = read[form.name] = Digest()
        fresh = _count(target, form) == 0
        for page in chunks(look.rows(form), PAGE):
            for row in page:
                made.add(form, row)
            lacking = page if fresh else _others(target, form, page)
            written += target.write(form, lacking) if lacking else 0
            done += len(page)
            tell(f"copying {form.name}", done, max(total, done))
    deleted = sum(_drop(look, target, form, read[form.name].count) for form in reversed(FORMS))
    return read, written, deleted


def _count(records: Records, form: Form) -> int:
    with records.reading() as look:
        return look.count(form)


def _others(target: Records, form: Form, page: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those rows that the target lacks, or has otherwise."""
    with target.reading() as there:
        found = there.get(form, [form.key_of(row) for row in page])
    known = {key: canonical(form, row) for key, row in found.items()}
    return [row for row in page if known.get(form.key_of(row)) != canonical(form, row)]


def _drop(look: TableReader, target: Records, form: Form, rows: int) -> int:
    """Delete what the source does not have (any more)."""
    if _count(target, form) <= rows:
        return 0
    gone: list[Key] = []
    with target.reading() as there:
        for page in chunks(there.rows(form), PAGE):
            keys = [form.key_of(row) for row in page]
            found = look.get(form, keys)
            gone += [key for key in keys if key not in found]
    return sum(target.delete(form, chunk) for chunk in chunks(gone))


MOST_TOLD: Final = 20  # faults of one kind that are told one by one


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit: in which table, which row (its key), and why."""

    table: str
    row: str
    why: str


def faults(records: Records, tell: Tell = nothing) -> list[Fault]:
    """All that does not fit together; empty: the store is sound."""
    found: list[Fault] = []
    with records.reading() as look:
        for number, form in enumerate(FORMS, 1):
            tell(f"checking {form.name}", number, len(FORMS))
            for column, parent in form.parents.items():
                found += [
                    Fault(form.name, ", ".join(map(str, form.key_of(row))), f"{column} {row[column]!r} is not in {parent}")
                    for row in look.orphans(form, column)
                ]
        found += _stories(look.connection)
    return found


def _stories(connection: Connection) -> Iterator[Fault]:
    """Stories whose original is not one of their versions, or whose count is not that of their versions."""
    head = and_(ARTICLES.c.id == STORIES.c.head_id, ARTICLES.c.story_id == STORIES.c.id)
    headless = select(STORIES.c.id, STORIES.c.head_id).outerjoin(ARTICLES, head).where(ARTICLES.c.id.is_(None)).order_by(STORIES.c.id)
    for row in connection.execute(headless).all():
        yield Fault("stories", row.id, f"its original {row.head_id!r} is none of its versions")
    visible = select(ARTICLES.c.story_id, func.count().label("number")).where(ARTICLES.c.hidden.is_(None))
    counted = visible.group_by(ARTICLES.c.story_id).subquery()
    number = func.coalesce(counted.c.number, 0)
    wrong = select(STORIES.c.id, STORIES.c.count, number).outerjoin(counted, counted.c.story_id == STORIES.c.id)
    for id, count, versions in connection.execute(wrong.where(STORIES.c.count != number).order_by(STORIES.c.id)).all():
        yield Fault("stories", id, f"it counts {count} versions and has {versions}")
