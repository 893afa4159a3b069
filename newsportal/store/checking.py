"""Whether a store's rows fit together: what databases promise by foreign keys, and what no database does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, and_, func, select

from newsportal.store.copying import Tell, nothing
from newsportal.store.records import FORMS, Records
from newsportal.store.tables import ARTICLES, STORIES

MOST_TOLD: Final = 20
"""Faults of one kind that are told one by one."""


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
    for id, told, versions in connection.execute(wrong.where(STORIES.c.count != number).order_by(STORIES.c.id)).all():
        yield Fault("stories", id, f"it counts {told} versions and has {versions}")
