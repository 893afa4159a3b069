"""Labelled documents in a database of documents. What changes something runs inside the caller's transaction; ``corpus`` is an id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from newsportal.items import content_id
from newsportal.storage import labelled_rows
from newsportal.storage.corpora import Brought, Corpus, Counted, Document, Label, LabelSource, NewDocument
from newsportal.storage.documents import models
from newsportal.storage.documents.base import Condition, Is, Not, Row, Rows, Transaction
from newsportal.storage.documents.plain import aware, in_pages, plain
from newsportal.storage.documents.room_tables import CORPORA, FORMER_LABELS, LABELLED, row_id
from newsportal.storage.documents.tables import ARTICLES
from newsportal.storage.labelled_rows import (
    LABEL,
    checked_label,
    corpus_row,
    document_of,
    document_row,
    given,
    label_of,
    neither,
    no_corpus,
)
from newsportal.storage.paging import CHUNK
from newsportal.storage.rows import name as looked_up

HAS_LABEL: Final = Not(Is("label", None))

TEXTS: Final = ("name", "title", "text")


def corpus_id(rows: Rows, name: str) -> str:
    """The id of a corpus. Raises ``StoreError`` that lists those there are."""
    id = content_id(looked_up(name))
    if rows.get(CORPORA, [id]):
        return id
    raise no_corpus(name, [row["name"] for row in rows.find(CORPORA, order=("name",))])


def create(transaction: Transaction, name: str, now: datetime, note: str) -> bool:
    """See ``Corpora.create``."""
    row = corpus_row(name, now, note)
    if transaction.get(CORPORA, [row["id"]]):
        return False
    transaction.put(CORPORA, plain({**row, "active": None}))
    return True


def everything(rows: Rows) -> list[Corpus]:
    """See ``Corpora.all``."""
    documents, versions = rows.count_by(LABELLED, "corpus_id", HAS_LABEL), models.counted(rows)
    labels = {id: len(rows.count_by(LABELLED, "label", Is("corpus_id", id))) for id in documents}
    found = []
    for row in rows.find(CORPORA, order=("name",)):
        one = Corpus(row["name"], aware(row, "created")["created"], row["note"], active=row["active"])
        id = row["id"]
        found.append(replace(one, documents=documents.get(id, 0), labels=labels.get(id, 0), versions=versions.get(id, 0)))
    return found


def remove(transaction: Transaction, name: str) -> None:
    """See ``Corpora.delete``."""
    id = corpus_id(transaction, name)
    models.remove(transaction, id)
    for table in (FORMER_LABELS, LABELLED):
        transaction.delete(table, [row["id"] for row in transaction.find(table, Is("corpus_id", id), only=("id",))])
    transaction.delete(CORPORA, [id])


def add(
    transaction: Transaction, corpus: str, documents: Iterable[NewDocument], source: LabelSource, by: str | None, now: datetime
) -> Brought:  # fmt: skip
    """See ``Corpora.add``."""
    return labelled_rows.add(documents, lambda fresh: _bring(transaction, corpus, fresh, given(source, by, now)))


def _bring(transaction: Transaction, corpus: str, fresh: Mapping[str, NewDocument], by: Mapping[str, Any]) -> Counter[str]:
    made = labelled_rows.plan(corpus, fresh, _there(transaction, corpus, fresh), by)
    for row, label in made.relabelled:
        _relabel(transaction, row, label, by)
    for row in made.rows:
        _put(transaction, row)
    return made.told


def _there(rows: Rows, corpus: str, ids: Collection[str]) -> dict[str, Row]:
    """What is known of documents, without their texts, by their ids."""
    found = rows.get(LABELLED, [row_id(corpus, id) for id in ids], without=TEXTS)
    return {row["document"]: _named(row) for row in found.values()}


def _named(row: Row) -> Row:
    """A row with the columns of SQL."""
    return {**aware(row, "label_at"), "id": row["document"]}


def _put(transaction: Transaction, row: Mapping[str, Any]) -> None:
    transaction.put(LABELLED, {**plain(row), "document": row["id"], "id": row_id(row["corpus_id"], row["id"])})


def _relabel(transaction: Transaction, row: Mapping[str, Any], label: str | None, by: Mapping[str, Any]) -> None:
    """Set a label and keep the former one."""
    corpus, id, number = row["corpus_id"], row["id"], row["number"]
    former = {"corpus_id": corpus, "document": id, "number": number, **{name: row[name] for name in LABEL}}
    transaction.put(FORMER_LABELS, {"id": row_id(corpus, id, number), **plain(former)})
    transaction.change(LABELLED, row_id(corpus, id), label=label, number=number + 1, **plain(by))


def label(transaction: Transaction, corpus: str, id: str, label: str | None, by: str | None, now: datetime) -> None:
    """See ``Corpora.label``."""
    label = checked_label(label)
    by_editor = given("editor", by, now)
    row = _there(transaction, corpus, [id]).get(id)
    if row is not None:
        if (row["label"], row["label_source"]) != (label, "editor"):
            _relabel(transaction, row, label, by_editor)
        return
    if not transaction.get(ARTICLES, [id], without=("text", "html")):
        raise neither(id)
    _put(transaction, document_row(corpus, id, NewDocument("", article_id=id)) | {"label": label} | by_editor)


def document_pages(rows: Rows, corpus: str, label: str | None) -> Iterator[list[Document]]:
    """The documents by id that have a label, with their texts. Articles that are gone are left out by the caller's ``present``."""
    labelled: Condition = HAS_LABEL if label is None else Is("label", looked_up(label))
    for page in in_pages(rows, LABELLED, Is("corpus_id", corpus), labelled, order=("document",), size=CHUNK):
        yield _documents(rows, page)


def document(rows: Rows, corpus: str, id: str) -> Document | None:
    """See ``Corpora.document``."""
    return next(iter(_documents(rows, list(rows.get(LABELLED, [row_id(corpus, id)]).values()))), None)


def _documents(rows: Rows, page: Sequence[Row]) -> list[Document]:
    theirs = [row["article_id"] for row in page if row["article_id"]]
    articles = rows.get(ARTICLES, theirs, without=("html", "images")) if theirs else {}
    return [document_of(_named(row), articles.get(row["article_id"] or "")) for row in page]


def history(rows: Rows, corpus: str, id: str) -> tuple[Label, ...]:
    """See ``Corpora.history``."""
    former = rows.find(FORMER_LABELS, Is("corpus_id", corpus), Is("document", id), order=("number",))
    now = _there(rows, corpus, [id]).values()
    return tuple(label_of(row) for row in (*map(_named, former), *now))


def count(rows: Rows, corpus: str) -> list[Counted]:
    """See ``Corpora.count``."""
    here = Is("corpus_id", corpus)
    given_by = rows.count_by(LABELLED, "label_source", here, HAS_LABEL)
    by_source = {source: rows.count_by(LABELLED, "label", here, Is("label_source", source)) for source in sorted(given_by)}
    names = {label for labels in by_source.values() for label in labels}
    found = []
    for one in names:
        sources = {source: labels[one] for source, labels in by_source.items() if one in labels}
        oldest, newest = (_moment(rows, corpus, one, order) for order in ("label_at", "-label_at"))
        found.append(Counted(one, sum(sources.values()), sources, oldest, newest))
    return sorted(found, key=lambda one: (-one.documents, one.label))


def _moment(rows: Rows, corpus: str, label: str, order: str) -> datetime:
    """When the first (or last) label of this name was given."""
    row = rows.find(LABELLED, Is("corpus_id", corpus), Is("label", label), order=(order,), limit=1, only=("label_at",))[0]
    moment: datetime = aware(row, "label_at")["label_at"]
    return moment


def articles(rows: Rows, corpus: str) -> dict[str, str | None]:
    """See ``Corpora.articles``."""
    stored = Not(Is("article_id", None))
    pages = in_pages(rows, LABELLED, Is("corpus_id", corpus), stored, order=("document",), only=("article_id", "label"))
    return {row["article_id"]: row.get("label") for page in pages for row in page}
