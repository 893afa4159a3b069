"""Records of the stores over documents: the rows of the SQL tables, wherever they lie in the database (:mod:`mapped`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from newsportal.storage.documents import room_tables as rooms
from newsportal.storage.documents import tables as core
from newsportal.storage.documents.base import Documents, Rows, Table, Transaction
from newsportal.storage.documents.mapped import Listed, Mapped, Own
from newsportal.storage.documents.opening import mark, restoring
from newsportal.storage.documents.outbox import OUTBOX, POSITIONS
from newsportal.storage.documents.readers import FIT_NUMBERS
from newsportal.storage.documents.records_rows import Articles, Fits, Packed, PictureStories, Prints, Stories, Topics
from newsportal.storage.forms import BY_NAME, FORMS
from newsportal.storage.records import Form, Key, Record

LISTS: Final = ("topics", "fold_keys", "apart")
"""Fields of an article's row that hold the rows of other tables."""

WRITTEN: Final = 100
"""Rows that one transaction writes: some megabytes of articles in the journal."""

COUNTERS: Final = {"changes": core.CHANGE_NUMBERS, "prints": core.PRINT_NUMBERS, "fits": FIT_NUMBERS}
"""Table with numbers that the database gives → the counter that gives them."""


def _own(table: Table, *texts: str, **renamed: str) -> Own:
    return Own(BY_NAME[table.name], table, renamed, frozenset(texts))


def _label(record: Record) -> str:
    return core.label(record["kind"], record["value"])


def _labelled(name: str, table: Table, of: str, *order: str) -> Listed:
    """Labels in the row of what has them, with what lists are ordered by."""

    def record(row: Mapping[str, Any], item: str) -> dict[str, Any]:
        kind, _, value = item.partition(":")
        return {of: row["id"], "kind": kind, "value": value, **{column: row[column] for column in order}}

    return Listed(BY_NAME[name], table, "labels", of, _label, record, order)


MAPPED: Final[Mapping[str, Mapped]] = {
    **{table.name: _own(table) for table in (*core.CORE_TABLES, *rooms.ROOM_TABLES, OUTBOX, POSITIONS) if table.name in BY_NAME},
    "stories": Stories(BY_NAME["stories"], core.STORIES, lists=("labels",)),
    "articles": Articles(BY_NAME["articles"], core.ARTICLES, lists=LISTS),
    "article_topics": Topics(
        BY_NAME["article_topics"],
        core.ARTICLES,
        "topics",
        "article_id",
        lambda record: {name: record[name] for name in ("topic", "by", "score")},
        lambda row, item: {"article_id": row["id"], "topic": item["topic"], "by": item.get("by"), "score": item.get("score")},
    ),
    "fold_keys": Listed(
        BY_NAME["fold_keys"],
        core.ARTICLES,
        "fold_keys",
        "article_id",
        lambda record: record["key"],
        lambda row, item: {"key": item, "article_id": row["id"], "moment": row["moment"]},
        ("moment",),
    ),
    "unfolded": Listed(
        BY_NAME["unfolded"],
        core.ARTICLES,
        "apart",
        "article_id",
        lambda record: record["story_id"],
        lambda row, item: {"article_id": row["id"], "story_id": item},
    ),
    "declared_names": Listed(
        BY_NAME["declared_names"],
        core.DECLARED,
        "article_ids",
        "id",
        lambda record: record["article_id"],
        lambda row, item: {"id": row["id"], "article_id": item},
        makes=True,
    ),
    "story_labels": _labelled("story_labels", core.STORIES, "story_id", "moment", "heat"),
    "prints": Prints(BY_NAME["prints"], core.PRINTS, by="article_id"),
    "changes": Own(BY_NAME["changes"], core.CHANGES, {"id": "of"}, name=lambda record: core.change_id(record["seq"])),
    "runs": _own(core.RUNS, "report"),
    "source_states": _own(core.SOURCES, "state"),
    "visits": _own(rooms.VISITS, "told"),
    "gallery_pages": _own(rooms.GALLERY_PAGES, "said"),
    "gallery_words": _own(rooms.GALLERY_WORDS, "words"),
    "labelled": _own(rooms.LABELLED, id="document"),
    "former_labels": _own(rooms.FORMER_LABELS, id="document"),
    "models": Packed(BY_NAME["models"], rooms.MODELS, texts=frozenset({"facts"}), column="model", flag="kept"),
    "fits": Fits(BY_NAME["fits"], rooms.FITS, texts=frozenset({"facts"})),
    "picture_stories": PictureStories(BY_NAME["picture_stories"], rooms.PICTURE_STORIES),
    "galleries": Own(BY_NAME["galleries"], rooms.GALLERIES, lists=("labels",)),
    "gallery_labels": _labelled("gallery_labels", rooms.GALLERIES, "gallery_id", "score", "moment"),
}
"""Name of the SQL table → where its rows are."""


class DocumentReading:
    """See :class:`~newsportal.storage.records.Reading`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def rows(self, form: Form) -> Iterator[dict[str, Any]]:
        yield from MAPPED[form.name].rows(self._rows)

    def get(self, form: Form, keys: Collection[Key]) -> dict[Key, dict[str, Any]]:
        return {form.key_of(row): row for row in MAPPED[form.name].get(self._rows, keys)} if keys else {}

    def count(self, form: Form) -> int:
        return MAPPED[form.name].count(self._rows)


class DocumentRecords:
    """See :class:`~newsportal.storage.records.Records`."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    @contextmanager
    def reading(self) -> Iterator[DocumentReading]:
        yield DocumentReading(self._documents)

    def write(self, form: Form, rows: Sequence[Record]) -> int:
        written = 0
        for start in range(0, len(rows), WRITTEN):
            with self._documents.writing() as transaction:
                there = _with_parents(transaction, form, rows[start : start + WRITTEN])
                MAPPED[form.name].put(transaction, there)
                written += len(there)
        return written

    def delete(self, form: Form, keys: Collection[Key]) -> int:
        if not keys:
            return 0
        with self._documents.writing() as transaction:
            return MAPPED[form.name].delete(transaction, keys)

    def restoring(self) -> str | None:
        return restoring(self._documents)

    def mark(self, backup: str | None) -> None:
        with self._documents.writing() as transaction:
            mark(transaction, backup)

    def finish(self) -> None:
        with self._documents.writing() as transaction:
            for form in FORMS:
                if form.counted:
                    table = MAPPED[form.name]
                    assert isinstance(table, Own)
                    last = transaction.find(table.table, order=(f"-{form.counted}",), limit=1, only=(form.counted,))
                    transaction.taken(COUNTERS[form.name], last[0][form.counted] if last else 0)


def _with_parents(transaction: Transaction, form: Form, rows: Sequence[Record]) -> list[Record]:
    """Those of ``rows`` whose parents are there."""
    kept = list(rows)
    for column, parent in form.parents.items():
        table = MAPPED[parent]
        assert isinstance(table, Own)
        there = transaction.get(table.table, {row[column] for row in kept}, only=("id",))
        kept = [row for row in kept if row[column] in there]
    return kept
