"""Corpora and models in a database of documents: each method is one transaction around a function of :mod:`labelled` or :mod:`models`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from newsportal.storage.aside import kept_aside
from newsportal.storage.corpora import MODELS_KEPT, Brought, Corpus, Counted, Document, Label, LabelSource, Model, NewDocument
from newsportal.storage.documents import labelled, models
from newsportal.storage.documents.base import Documents
from newsportal.storage.documents.labelled import corpus_id
from newsportal.storage.labelled_rows import present
from newsportal.storage.rows import name as looked_up


class DocumentCorpora:
    """The :class:`~newsportal.storage.corpora.Corpora` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def create(self, name: str, *, now: datetime, note: str = "") -> bool:
        with self._documents.writing() as transaction:
            return labelled.create(transaction, name, now, note)

    def all(self) -> list[Corpus]:
        return labelled.everything(self._documents)

    def find(self, name: str) -> Corpus | None:
        return next((corpus for corpus in self.all() if corpus.name == looked_up(name)), None)

    def delete(self, name: str) -> None:
        with self._documents.writing() as transaction:
            labelled.remove(transaction, name)

    def add(
        self, name: str, documents: Iterable[NewDocument], *, source: LabelSource, now: datetime, by: str | None = None
    ) -> Brought:  # fmt: skip
        with kept_aside(documents) as all_of_them, self._documents.writing() as transaction:
            labelled.create(transaction, name, now, "")
            return labelled.add(transaction, corpus_id(transaction, name), all_of_them, source, by, now)

    def label(self, name: str, id: str, label: str | None, *, now: datetime, by: str | None = None) -> Document:
        with self._documents.writing() as transaction:
            labelled.create(transaction, name, now, "")
            corpus = corpus_id(transaction, name)
            labelled.label(transaction, corpus, id, label, by, now)
            found = labelled.document(transaction, corpus, id)
        assert found is not None
        return found

    def document(self, name: str, id: str) -> Document | None:
        return labelled.document(self._documents, corpus_id(self._documents, name), id)

    def documents(self, name: str, *, label: str | None = None) -> Iterator[Document]:
        for page in labelled.document_pages(self._documents, corpus_id(self._documents, name), label):
            yield from filter(present, page)

    def history(self, name: str, id: str) -> tuple[Label, ...]:
        return labelled.history(self._documents, corpus_id(self._documents, name), id)

    def count(self, name: str) -> list[Counted]:
        return labelled.count(self._documents, corpus_id(self._documents, name))

    def articles(self, name: str) -> dict[str, str | None]:
        return labelled.articles(self._documents, corpus_id(self._documents, name))

    def save_model(
        self, name: str, blob: bytes, *, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Sequence[str] = (),
        keep: int = MODELS_KEPT,
    ) -> int:  # fmt: skip
        with self._documents.writing() as transaction:
            return models.save(transaction, corpus_id(transaction, name), blob, algorithm, facts, now, held_out, keep)

    def models(self, name: str) -> list[Model]:
        return models.versions(self._documents, corpus_id(self._documents, name), name)

    def model(self, name: str, version: int | None = None) -> Model:
        return models.version(self._documents, corpus_id(self._documents, name), name, version)

    def blob(self, name: str, version: int) -> bytes:
        return models.blob(self._documents, corpus_id(self._documents, name), name, version)

    def activate(self, name: str, version: int, *, now: datetime) -> None:
        with self._documents.writing() as transaction:
            models.activate(transaction, corpus_id(transaction, name), name, version, now)

    def rollback(self, name: str, *, now: datetime) -> int:
        with self._documents.writing() as transaction:
            return models.rollback(transaction, corpus_id(transaction, name), name, now)

    def delete_model(self, name: str, version: int) -> None:
        with self._documents.writing() as transaction:
            models.delete(transaction, corpus_id(transaction, name), name, version)

    def active(self, name: str) -> int | None:
        return models.active(self._documents, name)
