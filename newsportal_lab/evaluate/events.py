"""``newsportal evaluate events``: measure the grouping of documents into events, beside usual baselines, by B-cubed."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final

import numpy as np
import typer

from newsportal.cli.options import AsJsonRows
from newsportal.cli.output import print_json, track_items
from newsportal.dedup import finder
from newsportal.dedup.document import Document
from newsportal.errors import NewsportalError
from newsportal.events import THRESHOLD, EventClusters, Story
from newsportal.text.words import segment
from newsportal_lab.dedup import document_of
from newsportal_lab.events import story_of

THRESHOLDS: Final = (0.11, 0.13, 0.15, 0.17, 0.2, 0.25)  # thresholds for leave-one-event-out selection
SEARCH_WINDOW: Final = timedelta(days=30)  # window of the search for the nearest neighbour
NEAREST_THRESHOLD, CENTROID_THRESHOLD = 0.11, 0.11  # the baselines' thresholds: optimal on the development data, which favours them


@dataclass(frozen=True, slots=True)
class Score:
    """B-cubed precision and recall (Bagga and Baldwin 1998), averaged over the documents of gold events; others serve as noise."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def b_cubed(gold: Mapping[str, str | None], found: Mapping[str, str], only: str | None = None) -> Score:
    """Return the score of ``found`` (document -> event), for the documents of gold event ``only`` if given."""
    sizes, gold_sizes = Counter(found.values()), Counter(event for event in gold.values() if event)
    joint = Counter((found[id], event) for id, event in gold.items() if event)
    overlaps = [(joint[found[id], event], found[id], event) for id, event in gold.items() if event and only in (None, event)]
    total = max(1, len(overlaps))
    return Score(
        sum(hits / sizes[name] for hits, name, _ in overlaps) / total, sum(hits / gold_sizes[event] for hits, _, event in overlaps) / total
    )


def ours(documents: Sequence[Document]) -> dict[str, str]:
    return cluster_stories([story_of(document) for document in documents], THRESHOLD)


def cluster_stories(stories: Sequence[Story], threshold: float) -> dict[str, str]:
    clusters = EventClusters(threshold)
    return {story.id: clusters.add(story).event for story in stories}


def tfidf(documents: Sequence[Document]) -> Any:
    """Return TF-IDF vectors of the segmented title and text, of length 1 (sparse)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=segment, sublinear_tf=True).fit_transform([f"{doc.title}\n{doc.text}" for doc in documents])


def nearest(documents: Sequence[Document], threshold: float = NEAREST_THRESHOLD) -> dict[str, str]:
    """Single pass: the event of the most similar document of the last 30 days."""
    rows = tfidf(documents)
    found: dict[str, str] = {}
    start = 0
    for index, document in enumerate(documents):
        while (earlier := documents[start].published) and document.published and document.published - earlier > SEARCH_WINDOW:
            start += 1
        likeness = (rows[start:index] @ rows[index].T).toarray().ravel() if index > start else np.zeros(0)
        best = int(likeness.argmax()) if likeness.size else -1
        found[document.id] = found[documents[start + best].id] if best >= 0 and likeness[best] >= threshold else document.id
    return found


def centroid(documents: Sequence[Document], threshold: float = CENTROID_THRESHOLD) -> dict[str, str]:
    """Single pass: the event of the most similar running centroid."""
    rows = tfidf(documents)
    sums: dict[str, defaultdict[int, float]] = {}
    lengths: dict[str, float] = {}
    events_of: defaultdict[int, set[str]] = defaultdict(set)
    found: dict[str, str] = {}
    for index, document in enumerate(documents):
        terms = dict(zip(rows[index].indices.tolist(), rows[index].data.tolist(), strict=True))
        scores: defaultdict[str, float] = defaultdict(float)
        for term, weight in terms.items():
            for name in events_of[term]:
                scores[name] += weight * sums[name][term] / lengths[name]
        best = max(scores, key=scores.__getitem__, default=None)
        name = best if best is not None and scores[best] >= threshold else document.id
        vector = sums.setdefault(name, defaultdict(float))
        for term, weight in terms.items():
            vector[term] += weight
            events_of[term].add(name)
        lengths[name] = sum(value * value for value in vector.values()) ** 0.5
        found[document.id] = name
    return found


def follow_reposts(documents: Sequence[Document]) -> dict[str, str]:
    """The papers' cosine of titles and first sentences: a document is in the event of the one that it repeats."""
    judge = finder("cosine")
    found: dict[str, str] = {}
    for document in documents:
        earlier = judge.judge(document).duplicate_of
        found[document.id] = found[earlier] if earlier is not None else document.id
    return found


METHODS: Final[Mapping[str, Callable[[Sequence[Document]], dict[str, str]]]] = {
    "events": ours, "nearest": nearest, "centroid": centroid, "cosine": follow_reposts,
}  # fmt: skip


def events(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A document a line, in time order; those of gold events have event.")],
    algorithm: Annotated[list[str] | None, typer.Option("--algorithm", "-a", help=f"{', '.join(METHODS)}.")] = None,
    leave_out: Annotated[bool, typer.Option("--leave-out", help="Choose each event's threshold on the others.")] = False,
    as_json: AsJsonRows = False,
) -> None:
    """B-cubed precision, recall and F1 of events, ours and baselines, and documents a second."""
    names = list(algorithm or METHODS)
    if unknown := [name for name in names if name not in METHODS]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of: {', '.join(METHODS)}", param_hint="--algorithm")
    documents, gold = read(file)
    names = ["events"] if leave_out else list(dict.fromkeys(names))
    if not as_json:
        typer.echo(f"{'':10}{'F1':>7}{'prec.':>7}{'recall':>7}{'docs/s':>9}")
    for name in track_items(names, "clustering", beside_output=True):
        start = perf_counter()
        score = _left_out(documents, gold) if leave_out else b_cubed(gold, METHODS[name](documents))
        rate = len(documents) / max(perf_counter() - start, 1e-9)
        if as_json:
            figures = {"f1": score.f1, "precision": score.precision, "recall": score.recall}
            print_json({"algorithm": name, **{key: round(value, 4) for key, value in figures.items()}, "per_second": round(rate, 1)})
        else:
            typer.echo(f"{name:10}{100 * score.f1:>7.1f}{100 * score.precision:>7.1f}{100 * score.recall:>7.1f}{rate:>9.0f}")


def read(file: Path) -> tuple[list[Document], dict[str, str | None]]:
    """Return the documents of a file (also ``.gz``) and their gold events. Raises ``NewsportalError`` with the line."""
    documents, gold, number = [], dict[str, str | None](), 0
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8-sig") as lines:
            for line in lines:
                number += 1
                row = json.loads(line)
                documents.append(document_of(row))
                gold[documents[-1].id] = row.get("event") or row.get("cluster")
    except OSError as error:
        raise NewsportalError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:
        raise NewsportalError(f"{file}, line {number}: {error}") from error
    if not any(gold.values()):
        raise NewsportalError(f'{file}: no document has an event; gold is {{"id", "title", "text", "published", "event"}} a line')
    return documents, gold


def _left_out(documents: Sequence[Document], gold: Mapping[str, str | None]) -> Score:
    """Score each event at the threshold that is best for the others, averaged over documents."""
    stories = [story_of(document) for document in documents]
    found = {threshold: cluster_stories(stories, threshold) for threshold in THRESHOLDS}
    sizes = Counter(event for event in gold.values() if event)
    precision = recall = 0.0
    for event, size in sizes.items():
        others = {id: None if name == event else name for id, name in gold.items()}
        best = max(THRESHOLDS, key=lambda threshold: b_cubed(others, found[threshold]).f1)
        score = b_cubed(gold, found[best], only=event)
        precision += score.precision * size
        recall += score.recall * size
    total = max(1, sizes.total())
    return Score(precision / total, recall / total)
