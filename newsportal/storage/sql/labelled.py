"""Labelled documents in SQL. Every function runs inside the caller's transaction (:mod:`corpora`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select, update

from newsportal.items import content_id
from newsportal.storage import labelled_rows
from newsportal.storage.corpora import Brought, Corpus, Counted, Document, Label, LabelSource, NewDocument
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
from newsportal.storage.models_rows import DELETED
from newsportal.storage.paging import CHUNK
from newsportal.storage.rows import name as looked_up
from newsportal.storage.sql.dialects import insert_new
from newsportal.storage.sql.tables import ARTICLES, CORPORA, FORMER_LABELS, LABELLED, MODELS


def corpus_id(connection: Connection, name: str) -> str:
    """The id of a corpus. Raises ``StoreError`` that lists those there are."""
    id = content_id(looked_up(name))
    if connection.scalar(select(CORPORA.c.id).where(CORPORA.c.id == id)):
        return id
    there = connection.scalars(select(CORPORA.c.name).order_by(CORPORA.c.name)).all()
    raise no_corpus(name, there)


def create(connection: Connection, name: str, now: datetime, note: str) -> bool:
    """See ``Corpora.create``."""
    return insert_new(connection, CORPORA, corpus_row(name, now, note))


def everything(connection: Connection) -> list[Corpus]:
    """See ``Corpora.all``."""
    counted = select(LABELLED.c.corpus_id, func.count(), func.count(LABELLED.c.label.distinct()))
    counted = counted.where(LABELLED.c.label.is_not(None)).group_by(LABELLED.c.corpus_id)
    documents = {row[0]: (row[1], row[2]) for row in connection.execute(counted)}
    trained = select(MODELS.c.corpus_id, func.count()).where(MODELS.c.algorithm != DELETED).group_by(MODELS.c.corpus_id)
    versions = {row[0]: row[1] for row in connection.execute(trained)}
    return [
        Corpus(row.name, row.created, row.note, *documents.get(row.id, (0, 0)), versions.get(row.id, 0), row.active)
        for row in connection.execute(select(CORPORA).order_by(CORPORA.c.name))
    ]


def remove(connection: Connection, name: str) -> None:
    """See ``Corpora.delete``."""
    id = corpus_id(connection, name)
    for table in (MODELS, FORMER_LABELS, LABELLED):
        connection.execute(delete(table).where(table.c.corpus_id == id))
    connection.execute(delete(CORPORA).where(CORPORA.c.id == id))


def add(
    connection: Connection, corpus: str, documents: Iterable[NewDocument], source: LabelSource, by: str | None, now: datetime
) -> Brought:  # fmt: skip
    """See ``Corpora.add``; ``corpus`` is an id."""
    return labelled_rows.add(documents, lambda fresh: _bring(connection, corpus, fresh, given(source, by, now)))


def _bring(connection: Connection, corpus: str, fresh: Mapping[str, NewDocument], by: Mapping[str, Any]) -> Counter[str]:
    """Write documents that are in the corpus not yet; change the labels of those that are, where that is allowed."""
    made = labelled_rows.plan(corpus, fresh, _rows(connection, corpus, list(fresh)), by)
    for row, label in made.relabelled:
        _relabel(connection, row, label, by)
    if made.rows:
        connection.execute(insert(LABELLED), made.rows)
    return made.told


def _rows(connection: Connection, corpus: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What is known of documents, without their texts; ``ids`` are at most ``CHUNK``."""
    columns = [LABELLED.c[name] for name in ("corpus_id", "id", "number", *LABEL)]
    found = connection.execute(select(*columns).where(LABELLED.c.corpus_id == corpus, LABELLED.c.id.in_(ids))).mappings()
    return {row["id"]: dict(row) for row in found}


def _relabel(connection: Connection, row: Mapping[str, Any], label: str | None, by: Mapping[str, Any]) -> None:
    """Set a label and keep the former one."""
    connection.execute(insert(FORMER_LABELS), [dict(row)])
    this = (LABELLED.c.corpus_id == row["corpus_id"], LABELLED.c.id == row["id"])
    connection.execute(update(LABELLED).where(*this).values(label=label, number=row["number"] + 1, **by))


def label(connection: Connection, corpus: str, id: str, label: str | None, by: str | None, now: datetime) -> None:
    """See ``Corpora.label``; ``corpus`` is an id."""
    label = checked_label(label)
    by_editor = given("editor", by, now)
    row = _rows(connection, corpus, [id]).get(id)
    if row is not None:
        if (row["label"], row["label_source"]) != (label, "editor"):
            _relabel(connection, row, label, by_editor)
        return
    if connection.scalar(select(ARTICLES.c.id).where(ARTICLES.c.id == id)) is None:
        raise neither(id)
    connection.execute(insert(LABELLED), [document_row(corpus, id, NewDocument("", article_id=id)) | {"label": label} | by_editor])


def document_page(connection: Connection, corpus: str, after: str, label: str | None) -> list[Document]:
    """The next documents by id that have a label, with their texts. Articles that are gone are left out by the caller's ``present``."""
    conditions = [LABELLED.c.corpus_id == corpus, LABELLED.c.id > after]
    conditions.append(LABELLED.c.label.is_not(None) if label is None else LABELLED.c.label == looked_up(label))
    return list(_documents(connection, _select(*conditions).order_by(LABELLED.c.id).limit(CHUNK)))


def document(connection: Connection, corpus: str, id: str) -> Document | None:
    """See ``Corpora.document``."""
    return next(_documents(connection, _select(LABELLED.c.corpus_id == corpus, LABELLED.c.id == id)), None)


def _select(*conditions: ColumnElement[bool]) -> Select[Any]:
    theirs = [ARTICLES.c.title.label("their_title"), ARTICLES.c.text.label("their_text"), ARTICLES.c.story_id, ARTICLES.c.publisher]
    return select(LABELLED, *theirs).outerjoin(ARTICLES, ARTICLES.c.id == LABELLED.c.article_id).where(*conditions)


def _documents(connection: Connection, statement: Select[Any]) -> Iterator[Document]:
    for row in connection.execute(statement).mappings():
        theirs = {name.removeprefix("their_"): row[name] for name in ("their_title", "their_text", "story_id", "publisher")}
        yield document_of(dict(row), theirs)


def history(connection: Connection, corpus: str, id: str) -> tuple[Label, ...]:
    """See ``Corpora.history``."""
    former = select(FORMER_LABELS).where(FORMER_LABELS.c.corpus_id == corpus, FORMER_LABELS.c.id == id).order_by(FORMER_LABELS.c.number)
    now = _rows(connection, corpus, [id]).values()
    return tuple(label_of(row) for row in (*connection.execute(former).mappings(), *now))


def count(connection: Connection, corpus: str) -> list[Counted]:
    """See ``Corpora.count``."""
    figures = (func.count(), func.min(LABELLED.c.label_at), func.max(LABELLED.c.label_at))
    here = (LABELLED.c.corpus_id == corpus, LABELLED.c.label.is_not(None))
    found: dict[str, list[Any]] = {}
    for row in connection.execute(
        select(LABELLED.c.label, LABELLED.c.label_source, *figures).where(*here).group_by(LABELLED.c.label, LABELLED.c.label_source)
    ):
        found.setdefault(row[0], []).append(row)
    return sorted((_counted(label, rows) for label, rows in found.items()), key=lambda one: (-one.documents, one.label))


def _counted(label: str, rows: Sequence[Any]) -> Counted:
    sources = {row[1]: row[2] for row in rows}
    return Counted(label, sum(sources.values()), sources, min(row[3] for row in rows), max(row[4] for row in rows))


def articles(connection: Connection, corpus: str) -> dict[str, str | None]:
    """See ``Corpora.articles``."""
    here = select(LABELLED.c.article_id, LABELLED.c.label).where(LABELLED.c.corpus_id == corpus, LABELLED.c.article_id.is_not(None))
    return {row[0]: row[1] for row in connection.execute(here)}
