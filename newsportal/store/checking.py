"""Whether a store's rows fit together: what SQL databases promise by foreign keys, and what no database does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from newsportal.store.copying import Tell, nothing
from newsportal.store.records import BY_NAME, FORMS, PAGE, Form, Reading, Record, Records, pages

STORIES, ARTICLES = BY_NAME["stories"], BY_NAME["articles"]

PARENTS: Final = frozenset(parent for form in FORMS for parent in form.parents.values())
"""Tables whose ids are remembered while a store is checked: about 115 MB a million ids."""

Orphan = tuple[str, str, Any]
"""The row that belongs to another, by which column, and what stands there."""

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
        total = sum(look.count(form) for form in FORMS)
        done, ids = 0, dict[str, set[Any]]()
        for form in FORMS:  # parents before their children
            lost: list[Orphan] = []
            for page in pages(look.rows(form)):
                lost += _without_parents(form, page, ids)
                if form.name in PARENTS:
                    ids.setdefault(form.name, set()).update(row["id"] for row in page)
                done += len(page)
                tell(f"checking {form.name}", done, max(total, done))
            found += _orphans(look, form, lost)
        found += _stories(look)
    return found


def _without_parents(form: Form, page: Sequence[Record], ids: Mapping[str, Collection[Any]]) -> list[Orphan]:
    """Rows that belong to a row which was not seen."""
    return [
        (_named(form, row), column, row[column])
        for row in page
        for column, parent in form.parents.items()
        if row[column] not in ids.get(parent, ())
    ]


def _orphans(look: Reading, form: Form, lost: Sequence[Orphan]) -> Iterator[Fault]:
    """Those whose parents are not there now either: stores of documents show no one state of themselves. Asked once all rows are read."""
    for start in range(0, len(lost), PAGE):
        some = lost[start : start + PAGE]
        there = {
            parent: look.get(BY_NAME[parent], {(id,) for _, column, id in some if form.parents[column] == parent})
            for parent in set(form.parents.values())
        }
        for row, column, id in some:
            parent = form.parents[column]
            if (id,) not in there[parent]:
                yield Fault(form.name, row, f"{column} {id!r} is not in {parent}")


def _named(form: Form, row: Record) -> str:
    return ", ".join(str(value) for value in form.key_of(row))


def _stories(look: Reading) -> Iterator[Fault]:
    """Stories whose original is not one of their versions, or whose count is not that of their versions."""
    versions: Counter[str] = Counter()
    belongs: dict[str, str] = {}
    for row in look.rows(ARTICLES):
        versions[row["story_id"]] += row["hidden"] is None
        belongs[row["id"]] = row["story_id"]
    for row in look.rows(STORIES):
        if belongs.get(row["head_id"]) != row["id"]:
            yield Fault("stories", row["id"], f"its original {row['head_id']!r} is none of its versions")
        if versions[row["id"]] != row["count"]:
            yield Fault("stories", row["id"], f"it counts {row['count']} versions and has {versions[row['id']]}")
