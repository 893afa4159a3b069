"""Gather labelled articles from the store, and train anew what has enough of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from newsportal.classify import topics
from newsportal.classify.base import DEFAULT, Progress
from newsportal.classify.topics import IN, OUT
from newsportal.errors import ModelError
from newsportal.items import content_id
from newsportal.learning.gathering import LEAST_CHARS, gather
from newsportal.learning.training import train_corpus
from newsportal.messages import Message, to_json
from newsportal.sources import Sources
from newsportal.store.labels import CATEGORIES, NewDocument
from newsportal.store.store import Store

LEAST_OF_LABEL: Final = 40
"""Documents that a label needs to count: with a tenth held back, fewer give no figure."""

LEAST_OF_TOPIC: Final = 100
"""Articles of a topic before a model of it is trained."""

MOST_OF_TOPIC: Final = 2000
"""Articles of a topic that its corpus takes; a linear model gains little from more."""

OUTSIDE: Final = 3
"""Articles outside a topic for each inside: most articles are outside, and they are of more kinds."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a corpus. ``version`` is the one that was trained, ``None`` if none was, and ``why`` says why not."""

    corpus: str
    documents: int
    new: int
    version: int | None = None
    macro_f1: float | None = None
    active: bool = False
    why: Message | None = None

    def row(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {name: getattr(self, name) for name in ("corpus", "documents", "new", "version", "macro_f1", "active")} | {
            "why": self.why and to_json(self.why)
        }

    def sentence(self) -> str:
        """For people."""
        have = f"{self.corpus}: {self.documents} labelled articles, {self.new} of them new"
        if self.version is None:
            return f"{have}; not trained: {self.why}"
        figure = "not measured" if self.macro_f1 is None else f"macro-F1 {self.macro_f1:.3f}"
        return f"{have}; version {self.version}, {figure}, {'in use' if self.active else 'not in use'} ({self.why})"


@dataclass(slots=True)
class _Gathered:
    """Articles in and outside a topic, as (hash, id): the order of the hash is chance, and the same at every run."""

    inside: list[tuple[str, str]] = field(default_factory=list)
    outside: list[tuple[str, str]] = field(default_factory=list)

    def documents(self) -> list[NewDocument]:
        inside = sorted(self.inside)[:MOST_OF_TOPIC]
        outside = sorted(self.outside)[: OUTSIDE * len(inside)]
        return [NewDocument(label, article_id=id) for label, those in ((IN, inside), (OUT, outside)) for _, id in those]


def _quiet(share: float, what: str) -> None:
    """No progress is shown."""


def retrain(
    known: Sources, store: Store, *, force: bool = False, algorithm: str = DEFAULT, progress: Progress | None = None
) -> Iterator[Done]:  # fmt: skip
    """Gather, and train the models of categories and topics that are worth it. ``force``: also those with few new articles."""
    least = 1 if force else known.classifier.least_new
    gather(known, store, CATEGORIES, progress=progress or _quiet)  # what a classifier chose teaches nothing
    yield _trained(store, CATEGORIES, least, algorithm, progress)
    gathered = _gather_topics(known, store)
    for name, found in gathered.items():
        corpus = topics.corpus_of(name)
        if len(found.inside) < LEAST_OF_TOPIC:
            yield Done(corpus, len(found.inside), 0, why=Message("train.needs", least=LEAST_OF_TOPIC))
            continue
        store.corpora.create(corpus, now=_now(), note=f"articles in and outside the topic {name}")
        store.corpora.add(corpus, found.documents(), source="from-store", now=_now())
        yield _trained(store, corpus, least, algorithm, progress)


def _gather_topics(known: Sources, store: Store) -> dict[str, _Gathered]:
    rules = [topic.rule for topic in known.topics if topic.enabled]
    found = {rule.name: _Gathered() for rule in rules}
    for article in store.all_articles() if rules else ():
        if article.fold_of is not None or len(article.text) < LEAST_CHARS:
            continue
        for rule in rules:
            label = topics.example(rule, article.topic_marks, article.title, article.text, article.summary)
            if label is not None:
                place = found[rule.name].inside if label == IN else found[rule.name].outside
                place.append((content_id(f"{rule.name} {article.id}"), article.id))
    return found


def _trained(store: Store, corpus: str, least_new: int, algorithm: str, progress: Progress | None) -> Done:
    """Train a corpus if it is worth it."""
    if store.corpora.find(corpus) is None:
        return Done(corpus, 0, 0, why=Message("train.no-articles"))
    counts = {counted.label: counted.documents for counted in store.corpora.count(corpus)}
    documents = sum(counts.values())
    versions = store.corpora.models(corpus)
    new = documents - int(versions[0].facts.get("documents", 0)) if versions else documents
    enough = [label for label, number in counts.items() if number >= LEAST_OF_LABEL]
    if len(enough) < 2:
        why = Message("train.labels", least=LEAST_OF_LABEL, enough=len(enough), all=len(counts))
        return Done(corpus, documents, new, why=why)
    if new < least_new:
        return Done(corpus, documents, new, why=Message("train.few-new", least=least_new))
    try:
        made = train_corpus(store, corpus, algorithm, now=_now, progress=progress)
    except ModelError as error:
        return Done(corpus, documents, new, why=error.message)
    figure = made.trained.report.macro_f1 if made.trained.report else None
    return Done(corpus, documents, new, made.version, figure, made.active, made.reason)


def _now() -> datetime:
    return datetime.now(UTC)
