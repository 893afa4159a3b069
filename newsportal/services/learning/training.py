"""Train with evaluation: hold out groups of documents, train, measure, and store the model as a version of its corpus.

A version never sees the documents on which it is measured: it is stored as measured, so that versions can be compared. A model for a file
is trained again on all documents after measuring (``refit``). Retraining gathers labelled articles from the store and trains what has
enough.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from newsportal.classify import base, topics
from newsportal.classify.base import DEFAULT, Answer, Classifier, Example, Progress, ignore_progress
from newsportal.classify.held_out import SHARE, corpus_warnings, held_out
from newsportal.classify.measure import Report, measure
from newsportal.classify.topics import IN, OUT
from newsportal.dedup import finder
from newsportal.dedup.document import Document as Compared
from newsportal.errors import ModelError
from newsportal.items import content_id
from newsportal.messages import Message, to_json
from newsportal.services.learning.gathering import MIN_CHARS, gather
from newsportal.sources import Sources
from newsportal.store.labels import CATEGORIES, Document, NewDocument
from newsportal.store.store import Store

TOLERANCE: Final = 0.01
"""Macro-F1 by which a new version may be worse than the active one, on the same documents, and still replace it: a loss nobody notices."""

AT_ONCE: Final = 500  # documents classified between two reports of progress


@dataclass(frozen=True, slots=True)
class TrainingDocument:
    """A training document; stored articles of the same ``story`` form a group."""

    id: str
    label: str
    title: str
    text: str
    story: str | None = None


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A classifier, its evaluation on held-out documents (``None``: there were none), and warnings."""

    classifier: Classifier
    report: Report | None
    held_out: frozenset[str]
    labels: Mapping[str, int]
    warnings: tuple[Message, ...]

    def facts(self) -> dict[str, Any]:
        return {
            "documents": sum(self.labels.values()), "held_out": len(self.held_out), "labels": dict(self.labels),
            "warnings": [to_json(warning) for warning in self.warnings], "report": self.report.as_json() if self.report else None,
            "training": self.classifier.facts.as_json(),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Version:
    """The result of a training: the new version, whether it is active now, and the reason."""

    version: int
    trained: TrainingResult
    active: bool
    reason: Message


def training_document(document: Document) -> TrainingDocument:
    return TrainingDocument(document.id, document.label.label or "", document.title, document.text, document.story_id)


def train(
    documents: Sequence[TrainingDocument], algorithm: str, *, share: float = SHARE, seed: int = 0, refit: bool = False, now: datetime,
    progress: Progress | None = None,
) -> TrainingResult:  # fmt: skip
    """Train on ``documents`` without the held-out ``share``, and evaluate. Raises ``ModelError`` if nothing can be learnt."""
    say = progress or ignore_progress
    labels = [doc.label for doc in documents]
    groups = group_documents(documents, say) if share else {}
    test_ids = held_out([doc.id for doc in documents], labels, groups, share, seed)
    test_set = [doc for doc in documents if doc.id in test_ids]
    classifier = base.train(algorithm, _examples(doc for doc in documents if doc.id not in test_ids), progress=say, seed=seed, trained=now)
    report = measure([doc.label for doc in test_set], classify_all(classifier, test_set, say)) if test_set else None
    if refit and test_set:
        on_all: Progress = lambda part, step: say(part, f"{step} (on everything)")  # noqa: E731
        classifier = base.train(algorithm, _examples(documents), progress=on_all, seed=seed, trained=now)
    messages = (*corpus_warnings(labels, [doc.label for doc in test_set]), *classifier.facts.warnings)
    return TrainingResult(classifier, report, test_ids, dict(Counter(labels)), messages)


def _examples(documents: Iterable[TrainingDocument]) -> list[Example]:
    return [Example(doc.text, (doc.label,), doc.title) for doc in documents]


def classify_all(classifier: Classifier, documents: Sequence[TrainingDocument], say: Progress) -> list[Answer]:
    found: list[Answer] = []
    for start in range(0, len(documents), AT_ONCE):
        say(start / len(documents), "measuring")
        found += [classifier.classify(doc.title, doc.text) for doc in documents[start : start + AT_ONCE]]
    return found


def group_documents(documents: Sequence[TrainingDocument], say: Progress) -> dict[str, str]:
    """Return id → name of its group: documents of one story, and reposts detected by ``judge``."""
    parents: dict[str, str] = {}
    compare = finder("judge")
    for number, doc in enumerate(documents):
        if number % AT_ONCE == 0:
            say(number / len(documents), "detecting reposts")
        found = compare.judge(Compared(doc.id, "", doc.title, doc.text)).duplicate_of
        for other in (found, doc.story and f"story {doc.story}"):
            if other:
                parents[_root(parents, doc.id)] = _root(parents, other)
    return {doc.id: _root(parents, doc.id) for doc in documents}


def _root(parents: dict[str, str], name: str) -> str:
    """Return the representative of a group (union-find with path compression)."""
    root = name
    while (parent := parents.get(root, root)) != root:
        root = parent
    while name != root:
        parents[name], name = root, parents[name]
    return root


def train_corpus(
    store: Store, name: str, algorithm: str = base.DEFAULT, *, share: float = SHARE, seed: int = 0, now: Callable[[], datetime],
    activate: bool | None = None, progress: Progress | None = None,
) -> Version:  # fmt: skip
    """Train and store a new version of a corpus' model. ``activate``: put it to use; None: unless it is worse than the active one. Raises
    ``ModelError`` if nothing can be learnt, ``StoreError`` if there is no such corpus. Nothing is stored before the end."""
    say = progress or ignore_progress
    documents = [training_document(document) for document in store.corpora.documents(name)]
    trained = train(documents, algorithm, share=share, seed=seed, now=now(), progress=say)
    good, reason = (activate, Message("train.requested")) if activate is not None else _better(store, name, trained, documents, say)
    version = store.corpora.save_model(
        name, trained.classifier.to_bytes(), algorithm=algorithm, facts=trained.facts(), now=now(), held_out=sorted(trained.held_out)
    )
    if good:
        store.corpora.activate(name, version, now=now())
    return Version(version, trained, good, reason)


def _better(store: Store, name: str, trained: TrainingResult, documents: Sequence[TrainingDocument], say: Progress) -> tuple[bool, Message]:
    """Return whether the new model should replace the active one, and why."""
    active = store.corpora.active(name)
    if active is None:
        return True, Message("train.first-version")
    before = store.corpora.model(name, active)
    try:
        former = base.restore(store.corpora.blob(name, active))
    except ModelError as error:
        return True, Message("train.version-unreadable", old=active, why=error.message)
    shared = [doc for doc in documents if doc.id in trained.held_out & before.held_out]
    if not shared:
        return True, Message("train.incomparable", old=active)
    true = [doc.label for doc in shared]
    new, old = classify_all(trained.classifier, shared, say), classify_all(former, shared, say)
    after, former_f1 = measure(true, new).macro_f1, measure(true, old).macro_f1
    figures = {"new": f"{100 * after:.1f}", "before": f"{100 * former_f1:.1f}"}
    reason = Message("train.compared", old=active, both=len(shared), **figures)
    return after >= former_f1 - TOLERANCE or not is_clearly_worse(true, new, old), reason


def is_clearly_worse(true: Sequence[str], new: Sequence[Answer], old: Sequence[Answer]) -> bool:
    """Return whether more documents became wrong than right by more than one standard error, sqrt(wrong + right) (McNemar 1947)."""
    rights = [(answer.label == label, former.label == label) for label, answer, former in zip(true, new, old, strict=True)]
    wrong, right = rights.count((False, True)), rights.count((True, False))
    return wrong - right > math.sqrt(wrong + right)


MIN_LABEL_DOCUMENTS: Final = 40  # minimum documents of a label: with a tenth held out, fewer give no figure
MIN_TOPIC_ARTICLES: Final = 100  # articles of a topic before a model is trained for it
MAX_TOPIC_ARTICLES: Final = 2000  # maximum articles of a topic in its corpus; a linear model gains little from more
OUTSIDE: Final = 3  # articles outside a topic for each inside: most articles are outside, and more diverse


@dataclass(frozen=True, slots=True)
class RetrainResult:
    """Result for a corpus. ``version``: the new version, ``None`` if none was trained, with the reason in ``why``."""

    corpus: str
    documents: int
    new: int
    version: int | None = None
    macro_f1: float | None = None
    active: bool = False
    reason: Message | None = None

    def row(self) -> dict[str, Any]:
        return {**asdict(self), "reason": self.reason and to_json(self.reason)}

    def sentence(self) -> str:
        have = f"{self.corpus}: {self.documents} labelled articles, {self.new} of them new"
        if self.version is None:
            return f"{have}; not trained: {self.reason}"
        figure = "not measured" if self.macro_f1 is None else f"macro-F1 {self.macro_f1:.3f}"
        return f"{have}; version {self.version}, {figure}, {'in use' if self.active else 'not in use'} ({self.reason})"


@dataclass(slots=True)
class _Gathered:
    """Articles in and outside a topic, as (hash, id): ordering by hash is a random sample, the same at every run."""

    inside: list[tuple[str, str]] = field(default_factory=list)
    outside: list[tuple[str, str]] = field(default_factory=list)

    def documents(self) -> list[NewDocument]:
        inside = sorted(self.inside)[:MAX_TOPIC_ARTICLES]
        outside = sorted(self.outside)[: OUTSIDE * len(inside)]
        return [NewDocument(label, article_id=id) for label, group in ((IN, inside), (OUT, outside)) for _, id in group]


def retrain(
    sources: Sources, store: Store, *, force: bool = False, algorithm: str = DEFAULT, progress: Progress | None = None
) -> Iterator[RetrainResult]:  # fmt: skip
    """Gather articles, and train the models of categories and topics that have enough. ``force``: also with few new articles."""
    least = 1 if force else sources.classifier.least_new
    gather(sources, store, CATEGORIES, progress=progress or ignore_progress)  # without labels given by a classifier
    yield _trained(store, CATEGORIES, least, algorithm, progress)
    rules = [topic.rule for topic in sources.topics if topic.enabled]
    gathered = {rule.name: _Gathered() for rule in rules}
    for article in store.all_articles() if rules else ():
        if article.fold_of is not None or len(article.text) < MIN_CHARS:
            continue
        for rule in rules:
            label = topics.example(rule, article.topic_marks, article.title, article.text, article.summary)
            if label is not None:
                place = gathered[rule.name].inside if label == IN else gathered[rule.name].outside
                place.append((content_id(f"{rule.name} {article.id}"), article.id))
    for name, found in gathered.items():
        corpus = topics.corpus_of(name)
        if len(found.inside) < MIN_TOPIC_ARTICLES:
            yield RetrainResult(corpus, len(found.inside), 0, reason=Message("train.too-few-articles", least=MIN_TOPIC_ARTICLES))
            continue
        store.corpora.create(corpus, now=_now(), note=f"articles with and without the topic {name}")
        store.corpora.add(corpus, found.documents(), source="from-store", now=_now())
        yield _trained(store, corpus, least, algorithm, progress)


def _trained(store: Store, corpus: str, least_new: int, algorithm: str, progress: Progress | None) -> RetrainResult:
    if store.corpora.find(corpus) is None:
        return RetrainResult(corpus, 0, 0, reason=Message("train.no-articles"))
    counts = {row.label: row.documents for row in store.corpora.count(corpus)}
    documents = sum(counts.values())
    versions = store.corpora.models(corpus)
    new = documents - int(versions[0].facts.get("documents", 0)) if versions else documents
    enough = [label for label, number in counts.items() if number >= MIN_LABEL_DOCUMENTS]
    if len(enough) < 2:
        reason = Message("train.too-few-labels", least=MIN_LABEL_DOCUMENTS, enough=len(enough), all=len(counts))
        return RetrainResult(corpus, documents, new, reason=reason)
    if new < least_new:
        return RetrainResult(corpus, documents, new, reason=Message("train.too-few-new", least=least_new))
    try:
        result = train_corpus(store, corpus, algorithm, now=_now, progress=progress)
    except ModelError as error:
        return RetrainResult(corpus, documents, new, reason=error.message)
    figure = result.trained.report.macro_f1 if result.trained.report else None
    return RetrainResult(corpus, documents, new, result.version, figure, result.active, result.reason)


def _now() -> datetime:
    return datetime.now(UTC)
