"""Whether a store's rows fit together: what SQL databases promise by foreign keys, and what no database does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from newsportal.storage.copying import Tell, nothing
from newsportal.storage.forms import BY_NAME, FORMS
from newsportal.storage.records import Form, Reading, Records, pages

STORIES, ARTICLES = BY_NAME["stories"], BY_NAME["articles"]

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
        done = 0
        for form in FORMS:
            for fault, rows in _orphans(look, form):
                done += rows
                tell(f"checking {form.name}", done, max(total, done))
                found += fault
        found += _stories(look)
    return found


def _orphans(look: Reading, form: Form) -> Iterator[tuple[list[Fault], int]]:
    """Rows that belong to a row which is not there, page by page; and how many were looked at."""
    for page in pages(look.rows(form)) if form.parents else ():
        found: list[Fault] = []
        for column, parent in form.parents.items():
            there = look.get(BY_NAME[parent], {(row[column],) for row in page})
            lost = [row for row in page if (row[column],) not in there]
            found += [Fault(form.name, _named(form, row), f"{column} {row[column]!r} is not in {parent}") for row in lost]
        yield found, len(page)


def _named(form: Form, row: dict[str, object]) -> str:
    return ", ".join(str(value) for value in form.key_of(row))


def _stories(look: Reading) -> Iterator[Fault]:
    """Stories whose original is not one of their versions, or whose count is not that of their versions."""
    versions: Counter[str] = Counter()
    belongs: dict[str, str] = {}
    for row in look.rows(ARTICLES):
        versions[row["story_id"]] += 1
        belongs[row["id"]] = row["story_id"]
    for row in look.rows(STORIES):
        if belongs.get(row["head_id"]) != row["id"]:
            yield Fault("stories", row["id"], f"its original {row['head_id']!r} is none of its versions")
        if versions[row["id"]] != row["count"]:
            yield Fault("stories", row["id"], f"it counts {row['count']} versions and has {versions[row['id']]}")
