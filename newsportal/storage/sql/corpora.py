"""Corpora and models in a SQL database: each method is one transaction around a function of :mod:`labelled` or :mod:`models`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from newsportal.storage.aside import kept_aside
from newsportal.storage.corpora import MODELS_KEPT, Brought, Corpus, Counted, Document, Label, LabelSource, Model, NewDocument
from newsportal.storage.labelled_rows import present
from newsportal.storage.rows import name as looked_up
from newsportal.storage.sql import labelled, models
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.labelled import corpus_id


class SqlCorpora:
    """The :class:`~newsportal.storage.corpora.Corpora` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, name: str, *, now: datetime, note: str = "") -> bool:
        with write(self._engine) as connection:
            return labelled.create(connection, name, now, note)

    def all(self) -> list[Corpus]:
        with read(self._engine) as connection:
            return labelled.everything(connection)

    def find(self, name: str) -> Corpus | None:
        return next((corpus for corpus in self.all() if corpus.name == looked_up(name)), None)

    def delete(self, name: str) -> None:
        with write(self._engine) as connection:
            labelled.remove(connection, name)

    def add(
        self, name: str, documents: Iterable[NewDocument], *, source: LabelSource, now: datetime, by: str | None = None
    ) -> Brought:  # fmt: skip
        with kept_aside(documents) as all_of_them, write(self._engine) as connection:
            labelled.create(connection, name, now, "")
            return labelled.add(connection, corpus_id(connection, name), all_of_them, source, by, now)

    def label(self, name: str, id: str, label: str | None, *, now: datetime, by: str | None = None) -> Document:
        with write(self._engine) as connection:
            labelled.create(connection, name, now, "")
            corpus = corpus_id(connection, name)
            labelled.label(connection, corpus, id, label, by, now)
            found = labelled.document(connection, corpus, id)
        assert found is not None
        return found

    def document(self, name: str, id: str) -> Document | None:
        with read(self._engine) as connection:
            return labelled.document(connection, corpus_id(connection, name), id)

    def documents(self, name: str, *, label: str | None = None) -> Iterator[Document]:
        last = ""
        while True:
            with read(self._engine) as connection:
                page = labelled.document_page(connection, corpus_id(connection, name), last, label)
            if not page:
                return
            yield from filter(present, page)
            last = page[-1].id

    def history(self, name: str, id: str) -> tuple[Label, ...]:
        with read(self._engine) as connection:
            return labelled.history(connection, corpus_id(connection, name), id)

    def count(self, name: str) -> list[Counted]:
        with read(self._engine) as connection:
            return labelled.count(connection, corpus_id(connection, name))

    def articles(self, name: str) -> dict[str, str | None]:
        with read(self._engine) as connection:
            return labelled.articles(connection, corpus_id(connection, name))

    def save_model(
        self, name: str, blob: bytes, *, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Sequence[str] = (),
        keep: int = MODELS_KEPT,
    ) -> int:  # fmt: skip
        with write(self._engine) as connection:
            return models.save(connection, corpus_id(connection, name), blob, algorithm, facts, now, held_out, keep)

    def models(self, name: str) -> list[Model]:
        with read(self._engine) as connection:
            return models.versions(connection, corpus_id(connection, name), name)

    def model(self, name: str, version: int | None = None) -> Model:
        with read(self._engine) as connection:
            return models.version(connection, corpus_id(connection, name), name, version)

    def blob(self, name: str, version: int) -> bytes:
        with read(self._engine) as connection:
            return models.blob(connection, corpus_id(connection, name), name, version)

    def activate(self, name: str, version: int, *, now: datetime) -> None:
        with write(self._engine) as connection:
            models.activate(connection, corpus_id(connection, name), name, version, now)

    def rollback(self, name: str, *, now: datetime) -> int:
        with write(self._engine) as connection:
            return models.rollback(connection, corpus_id(connection, name), name, now)

    def delete_model(self, name: str, version: int) -> None:
        with write(self._engine) as connection:
            models.delete(connection, corpus_id(connection, name), name, version)

    def active(self, name: str) -> int | None:
        with read(self._engine) as connection:
            return models.active(connection, name)
