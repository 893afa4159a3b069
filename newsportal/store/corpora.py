"""Labelled texts for training classifiers.

- a document is in a corpus once, even if added repeatedly; a changed label keeps the former one as history;
- labels have ranks (:data:`RANKS`): an editor's label is only changed by editors, an imported label by imports and editors, a label from a
  source's category by anyone;
- ``add`` is one transaction: a file is added completely or not at all;
- version numbers of a corpus' models increase and are never reused; concurrent trainings get different versions;
- ``StoreError`` for an unknown corpus, document or version; the message lists the existing ones.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.store.columns import NAME_CHARS, storable
from newsportal.store.columns import name as stored_name
from newsportal.store.dialects import CHUNK, chunks, insert_new
from newsportal.store.labels import (
    CORPORA,
    FORMER_LABELS,
    LABELLED,
    RANKS,
    Corpus,
    Document,
    ImportResult,
    Label,
    LabelSource,
    LabelStatistics,
    NewDocument,
    corpus_id,
    spool_documents,
)
from newsportal.store.models import DELETED, MODELS, Models
from newsportal.store.tables import ARTICLES

LABEL: Final = ("label", "label_source", "label_by", "label_at")  # columns of a label, in ``labelled`` and ``former_labels``


def label_origin(source: LabelSource, by: str | None, now: datetime) -> dict[str, Any]:
    """Return the columns that record the source, author and time of a label."""
    return {"label_source": source, "label_by": None if by is None else stored_name(by), "label_at": now}


def document_row(corpus: str, id: str, document: NewDocument) -> dict[str, Any]:
    standalone = document.article_id is None
    return {
        "corpus_id": corpus, "id": id, "article_id": document.article_id,
        "name": None if document.name is None else storable(document.name), "title": storable(document.title) if standalone else None,
        "text": storable(document.text) if standalone else None, "number": 1,
    }  # fmt: skip


def label_of(row: Mapping[Any, Any]) -> Label:
    """Build the label from a row of ``labelled`` or ``former_labels``."""
    return Label(row["label"], row["label_source"], row["label_at"], row["label_by"])


def create(connection: Connection, name: str, now: datetime, note: str) -> bool:
    """Create a corpus unless it exists, and return whether it is new. Raises ``StoreError`` for an invalid name."""
    if not name.strip():
        raise StoreError("a corpus needs a name")
    if len(name) > NAME_CHARS:
        raise StoreError(f"a corpus' name of {len(name)} characters; the maximum is {NAME_CHARS}")
    name = stored_name(name)
    return insert_new(connection, CORPORA, {"id": content_id(name), "name": name, "created": now, "note": storable(note)})


def _add_documents(connection: Connection, corpus: str, fresh: Mapping[str, NewDocument], by: Mapping[str, Any]) -> Counter[str]:
    """Add new documents, and change the labels of existing ones where ranks allow it. Return the counts."""
    existing, rows, counts = _rows(connection, corpus, list(fresh)), [], Counter[str]()
    for id, document in fresh.items():
        label, row = stored_name(document.label), existing.get(id)
        if row is None:
            rows.append(document_row(corpus, id, document) | {"label": label} | dict(by))
            counts["added"] += 1
        elif row["label"] == label:
            counts["same"] += 1
        elif RANKS[row["label_source"]] > RANKS[by["label_source"]]:
            counts["outranked"] += 1
        else:
            _relabel(connection, row, label, by)
            counts["relabelled"] += 1
    if rows:
        connection.execute(insert(LABELLED), rows)
    return counts


def _rows(connection: Connection, corpus: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the rows of documents, without their texts; ``ids`` are at most ``CHUNK``."""
    columns = [LABELLED.c[name] for name in ("corpus_id", "id", "number", *LABEL)]
    found = connection.execute(select(*columns).where(LABELLED.c.corpus_id == corpus, LABELLED.c.id.in_(ids))).mappings()
    return {row["id"]: dict(row) for row in found}


def _relabel(connection: Connection, row: Mapping[str, Any], label: str | None, by: Mapping[str, Any]) -> None:
    """Set a label and keep the former one as history."""
    connection.execute(insert(FORMER_LABELS), [dict(row)])
    key = (LABELLED.c.corpus_id == row["corpus_id"], LABELLED.c.id == row["id"])
    connection.execute(update(LABELLED).where(*key).values(label=label, number=row["number"] + 1, **by))


def document(connection: Connection, corpus: str, id: str) -> Document | None:
    return next(_documents(connection, _select(LABELLED.c.corpus_id == corpus, LABELLED.c.id == id)), None)


def _select(*conditions: ColumnElement[bool]) -> Select[Any]:
    columns = [ARTICLES.c.title.label("their_title"), ARTICLES.c.text.label("their_text"), ARTICLES.c.story_id, ARTICLES.c.publisher]
    return select(LABELLED, *columns).outerjoin(ARTICLES, ARTICLES.c.id == LABELLED.c.article_id).where(*conditions)


def _documents(connection: Connection, query: Select[Any]) -> Iterator[Document]:
    for row in connection.execute(query).mappings():
        prefix = "their_" if row["article_id"] else ""  # without a story the article was deleted
        yield Document(
            row["id"], label_of(dict(row)), row["number"], row[f"{prefix}title"] or "", row[f"{prefix}text"] or "",
            row["name"], row["article_id"], row["story_id"], row["publisher"],
        )  # fmt: skip


class Corpora(Models):
    def create(self, name: str, *, now: datetime, note: str = "") -> bool:
        """Create an empty corpus, and return whether the name was new."""
        with self._write() as connection:
            return create(connection, name, now, note)

    def all(self) -> list[Corpus]:
        with self._read() as connection:
            query = select(LABELLED.c.corpus_id, func.count(), func.count(LABELLED.c.label.distinct()))
            query = query.where(LABELLED.c.label.is_not(None)).group_by(LABELLED.c.corpus_id)
            documents = {row[0]: (row[1], row[2]) for row in connection.execute(query)}
            trained = select(MODELS.c.corpus_id, func.count()).where(MODELS.c.algorithm != DELETED).group_by(MODELS.c.corpus_id)
            versions = {row[0]: row[1] for row in connection.execute(trained)}
            return [
                Corpus(row.name, row.created, row.note, *documents.get(row.id, (0, 0)), versions.get(row.id, 0), row.active_version)
                for row in connection.execute(select(CORPORA).order_by(CORPORA.c.name))
            ]

    def find(self, name: str) -> Corpus | None:
        return next((corpus for corpus in self.all() if corpus.name == stored_name(name)), None)

    def delete(self, name: str) -> None:
        """Delete a corpus with its documents and models. The stored articles remain."""
        with self._write() as connection:
            id = corpus_id(connection, name)
            for table in (MODELS, FORMER_LABELS, LABELLED):
                connection.execute(delete(table).where(table.c.corpus_id == id))
            connection.execute(delete(CORPORA).where(CORPORA.c.id == id))

    def add(
        self, name: str, documents: Iterable[NewDocument], *, source: LabelSource, now: datetime, by: str | None = None
    ) -> ImportResult:  # fmt: skip
        """Add documents, and create the corpus if necessary. If iterating over ``documents`` raises, nothing is changed.

        No lock is held while ``documents`` are read: other processes may write meanwhile.
        """
        with spool_documents(documents) as spool, self._write() as connection:
            create(connection, name, now, "")
            corpus = corpus_id(connection, name)
            labels, counts = dict[str, str](), Counter[str]()
            for chunk in chunks(spool):
                fresh: dict[str, NewDocument] = {}
                for document in chunk:
                    id, label = document.id, stored_name(document.label)
                    if id in labels:
                        counts["repeated" if labels[id] == label else "contradicted"] += 1
                    else:
                        labels[id], fresh[id] = label, document
                counts.update(_add_documents(connection, corpus, fresh, label_origin(source, by, now)))
            return ImportResult(**counts)

    def label(self, name: str, id: str, label: str | None, *, now: datetime, by: str | None = None) -> Document:
        """Set an editor's label on a document of the corpus or on a stored article, which joins the corpus (created if necessary).

        ``None`` excludes the document from training permanently. Returns the updated document.
        """
        if label is not None:
            label = label.strip()
            if not label:
                raise StoreError("a label must not be empty")
            if len(label) > NAME_CHARS:
                raise StoreError(f"a label of {len(label)} characters; the maximum is {NAME_CHARS}")
            label = stored_name(label)
        by_editor = label_origin("editor", by, now)
        with self._write() as connection:
            create(connection, name, now, "")
            corpus = corpus_id(connection, name)
            row = _rows(connection, corpus, [id]).get(id)
            if row is None:
                if connection.scalar(select(ARTICLES.c.id).where(ARTICLES.c.id == id)) is None:
                    raise StoreError(f"{id!r} is neither a stored article nor a document of this corpus")
                new = document_row(corpus, id, NewDocument("", article_id=id))
                connection.execute(insert(LABELLED), [new | {"label": label} | by_editor])
            elif (row["label"], row["label_source"]) != (label, "editor"):
                _relabel(connection, row, label, by_editor)
            found = document(connection, corpus, id)
        assert found is not None
        return found

    def document(self, name: str, id: str) -> Document | None:
        with self._read() as connection:
            return document(connection, corpus_id(connection, name), id)

    def documents(self, name: str, *, label: str | None = None) -> Iterator[Document]:
        """Yield all documents with any label, or with this one, streamed by id. Deleted articles are skipped."""
        labelled = LABELLED.c.label.is_not(None) if label is None else LABELLED.c.label == stored_name(label)

        def read(connection: Connection, last: str) -> list[Document]:
            query = _select(labelled, LABELLED.c.corpus_id == corpus_id(connection, name), LABELLED.c.id > last)
            return list(_documents(connection, query.order_by(LABELLED.c.id).limit(CHUNK)))

        found = self._pages(read, lambda document: document.id, "")
        return (document for document in found if document.article_id is None or document.story_id is not None)

    def history(self, name: str, id: str) -> tuple[Label, ...]:
        """Return all labels of a document, from the first to the current one."""
        with self._read() as connection:
            corpus = corpus_id(connection, name)
            former = select(FORMER_LABELS).where(FORMER_LABELS.c.corpus_id == corpus, FORMER_LABELS.c.id == id)
            rows = connection.execute(former.order_by(FORMER_LABELS.c.number)).mappings()
            return tuple(map(label_of, (*rows, *_rows(connection, corpus, [id]).values())))

    def count(self, name: str) -> list[LabelStatistics]:
        """Return the labels of a corpus by number of documents, largest first."""
        with self._read() as connection:
            corpus = corpus_id(connection, name)
            columns = (LABELLED.c.label, LABELLED.c.label_source)
            query = select(*columns, func.count(), func.min(LABELLED.c.label_at), func.max(LABELLED.c.label_at)).group_by(*columns)
            found: dict[str, LabelStatistics] = {}
            for label, source, number, first, last in connection.execute(
                query.where(LABELLED.c.corpus_id == corpus, LABELLED.c.label.is_not(None))
            ):
                total = found.get(label, LabelStatistics(label, 0, {}, first, last))
                sources = {**total.sources, source: number}
                found[label] = LabelStatistics(label, total.documents + number, sources, min(total.oldest, first), max(total.newest, last))
            return sorted(found.values(), key=lambda entry: (-entry.documents, entry.label))

    def articles(self, name: str) -> dict[str, str | None]:
        """Return the stored articles in a corpus with their labels (``None``: excluded from training)."""
        with self._read() as connection:
            corpus = corpus_id(connection, name)
            rows = select(LABELLED.c.article_id, LABELLED.c.label).where(LABELLED.c.corpus_id == corpus, LABELLED.c.article_id.is_not(None))
            return {row[0]: row[1] for row in connection.execute(rows)}
