"""Compare versions of a model on documents that none was trained on; list their errors, and the words that support a label."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from newsportal.classify import base
from newsportal.classify.base import Classifier, Progress, Reason
from newsportal.classify.measure import Report, measure
from newsportal.errors import ModelError, StoreError
from newsportal.services.learning.training import classify_all, training_document
from newsportal.store.dialects import chunks
from newsportal.store.labels import Document
from newsportal.store.store import Store

NO_MODEL: Final = "{0}: no model yet; train one with `newsportal train --corpus {0}`"


def stored_versions(store: Store, name: str) -> list[int]:
    """Return the versions with a stored model, newest first."""
    return [model.version for model in store.corpora.models(name) if model.size]


def compare_versions(store: Store, name: str, versions: Sequence[int], say: Progress) -> tuple[dict[int, Report], list[str]]:
    """Return the reports of versions, and errors of unreadable ones. Raises ``StoreError`` if no document is unseen by all."""
    models = [store.corpora.model(name, version) for version in dict.fromkeys(versions)]
    if not models:
        raise StoreError(NO_MODEL.format(name))
    unseen = frozenset.intersection(*(model.held_out for model in models))
    documents = [training_document(document) for document in store.corpora.documents(name) if document.id in unseen]
    if not documents:
        raise StoreError("no document is held out of all these versions; compare fewer")
    reports: dict[int, Report] = {}
    unreadable = []
    for model in models:
        try:
            classifier = load_classifier(store, name, model.version)
        except ModelError as error:
            unreadable.append(f"version {model.version}: {error}")
            continue
        reports[model.version] = measure([document.label for document in documents], classify_all(classifier, documents, say))
    return reports, unreadable


def activate_version(store: Store, name: str, version: int, now: datetime) -> None:
    """Activate a version after checking that it can be read. Raises ``StoreError`` and ``ModelError``."""
    load_classifier(store, name, version)
    store.corpora.activate(name, version, now=now)


AT_ONCE: Final = 200  # documents classified in one batch
MAX_DOCUMENTS: Final = 2000  # held-out documents examined: some seconds
READ: Final = 60  # documents of a label examined for its words: a few dozen give the words with the largest weights
EXPLAINED_WORDS: Final = 5  # words that explain one answer


@dataclass(frozen=True, slots=True)
class Mistake:
    """A misclassified document: the label given (``None``: none of them), its score, and the decisive words."""

    document: Document
    predicted: str | None
    score: float
    words: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Errors of a version. ``evaluated``: documents examined; ``wrong``: number of errors; ``documents``: those requested."""

    evaluated: int
    wrong: int
    documents: tuple[Mistake, ...]


def load_classifier(store: Store, corpus: str, version: int) -> Classifier:
    """Return the classifier of a version. Raises ``StoreError``, and ``ModelError`` if it cannot be read."""
    return base.restore(store.corpora.blob(corpus, version))


def mistakes(
    store: Store, corpus: str, version: int, *, label: str | None = None, predicted: str | None = None, limit: int = 50
) -> Mistakes:  # fmt: skip
    """Return the errors of a version, filtered by ``label`` and ``predicted`` (``""``: none). Raises as :func:`load_classifier`."""
    classifier, held_out = load_classifier(store, corpus, version), store.corpora.model(corpus, version).held_out
    unseen = (doc for doc in store.corpora.documents(corpus, label=label) if doc.id in held_out)
    examined, wrong, errors = 0, 0, list[Mistake]()
    for part in chunks(islice(unseen, MAX_DOCUMENTS), AT_ONCE):
        answers = [classifier.classify(doc.title, doc.text) for doc in part]
        examined += len(part)
        for doc, answer in zip(part, answers, strict=True):
            if answer.label == doc.label.label:
                continue
            wrong += 1
            if len(errors) < limit and predicted in (None, answer.label or ""):
                score = answer.scores.get(answer.label, 0.0) if answer.label else max(answer.scores.values(), default=0.0)
                errors.append(Mistake(doc, answer.label, score, classifier.explain(doc.title, doc.text, answer.label, EXPLAINED_WORDS)))
    return Mistakes(examined, wrong, tuple(errors))


def words_for(store: Store, corpus: str, classifier: Classifier, label: str, limit: int = 30) -> tuple[Reason, ...]:
    """Return the words with the largest weights for ``label`` in its documents, with the sums of the weights, largest first."""
    totals: Counter[str] = Counter()
    for document in islice(store.corpora.documents(corpus, label=label), READ):
        for reason in classifier.explain(document.title, document.text, label, limit):
            if reason.weight > 0:
                totals[reason.word] += reason.weight  # type: ignore[assignment]  # Counter adds any number
    return tuple(Reason(word, weight) for word, weight in totals.most_common(limit))
