"""Versions of a corpus' model on the same documents: those that none of them has seen, under the labels that they have today."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from newsportal.classify import base
from newsportal.classify.base import Progress
from newsportal.classify.measure import Report, measure
from newsportal.errors import ModelError, StoreError
from newsportal.learning.training import answers, known_of
from newsportal.store.store import Store


def kept_versions(store: Store, name: str) -> list[int]:
    """The versions whose model is there, the newest first."""
    return [model.version for model in store.corpora.models(name) if model.size]


def side_by_side(store: Store, name: str, versions: Sequence[int], say: Progress) -> tuple[dict[int, Report], list[str]]:
    """The figures of versions, and what cannot be read of them. Raises ``StoreError`` where no document is unseen by all."""
    models = [store.corpora.model(name, version) for version in dict.fromkeys(versions)]
    if not models:
        raise StoreError(f"{name}: no model yet; `newsportal train --corpus {name}` trains one")
    unseen = frozenset.intersection(*(model.held_out for model in models))
    known = [known_of(document) for document in store.corpora.documents(name) if document.id in unseen]
    if not known:
        raise StoreError("there is no document that none of these versions has seen; compare fewer of them")
    reports: dict[int, Report] = {}
    unread = []
    for model in models:
        try:
            classifier = base.restore(store.corpora.blob(name, model.version))
        except ModelError as error:
            unread.append(f"version {model.version}: {error}")
            continue
        reports[model.version] = measure([one.label for one in known], answers(classifier, known, say))
    return reports, unread


def put_to_use(store: Store, name: str, version: int, now: datetime) -> None:
    """Put a version to use, if it can be read. Raises ``StoreError`` and ``ModelError``."""
    base.restore(store.corpora.blob(name, version))
    store.corpora.activate(name, version, now=now)
