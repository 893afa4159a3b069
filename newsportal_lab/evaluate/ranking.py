"""How good recommendations are on a log, split in time: a method learns what was before a moment, and is asked what came after.

Two kinds of questions. **Window**: a reader's history is what was seen before the cut, the targets are the stories first seen between
this cut and the next; new readers count, with an empty history. **Next**: for each view in the window that follows another of the same
reader there, the history is all before it and the target is that story alone (next click); one of the history is no target. **Again**:
the same with those, as papers on sessions count.

A method is given no view and no story from the cut on, and targets are stories that were known at the cut: the others nobody could name.
Of a list of n = 20, with g(i) = 1 where place i (from 1) is a target and m targets (Järvelin, Kekäläinen 2002):

    recall = Σ g(i) / m      NDCG = Σ g(i) / ld(i + 1)  /  Σ_{i ≤ min(n, m)} 1 / ld(i + 1)      hit = any g(i)

each the mean over questions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from math import log2
from time import perf_counter
from typing import Any, Final, Protocol

import numpy as np

from newsportal.recommend.base import Log, View
from newsportal.recommend.clicks import HOUR_SECONDS, Clicks, hours, to_columns

LIST: Final = 20
CUTS: Final = (0.5, 0.7, 0.85)  # quantiles of the views where training ends; questions end at the next one
QUESTIONS: Final = 1000  # per cut and kind, sampled with a fixed seed
SEED: Final = 6

WINDOW: Final = "window"
NEXT: Final = "next"
AGAIN: Final = "again"


class Ranker(Protocol):
    """The interface of a method to be measured."""

    def rank(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        """Return the best ``n`` stories, excluding those of the history or published after ``now``."""


@dataclass(frozen=True, slots=True)
class Question:
    history: tuple[View, ...]
    now: datetime
    targets: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The training data, the hour where it ends, and the questions."""

    training: Clicks
    cut: float
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Means over questions; ``milliseconds`` per answer: median and 95th percentile."""

    questions: int
    recall: float
    ndcg: float
    hit: float
    median: float
    p95: float

    def as_json(self) -> dict[str, Any]:
        return {
            "questions": self.questions,
            **{name: round(getattr(self, name), 4) for name in ("recall", "ndcg", "hit")},
            "ms_median": round(self.median, 2),
            "ms_p95": round(self.p95, 2),
        }


def splits(log: Log, kind: str, *, max_questions: int = QUESTIONS) -> Iterator[Split]:
    """Yield a split per cut, the earliest first."""
    views, items = list(log.views), list(log.items)
    moments = np.sort([hours(view.at) for view in views])
    for cut, end in pairwise([*(float(np.quantile(moments, cut)) for cut in CUTS), np.inf]):
        yield split(Log(views, items), kind, cut, end, max_questions=max_questions)


def split(log: Log, kind: str, cut: float, end: float, *, max_questions: int = QUESTIONS) -> Split:
    """Return the views before the hour ``cut``, and questions about those up to ``end``."""
    items = [item for item in log.items if hours(item.published) <= cut]
    views = list(log.views)
    training = to_columns(Log((view for view in views if hours(view.at) < cut), items))
    names = {item.story for item in items}
    by_reader: dict[str, list[View]] = {}
    for view in sorted(views, key=lambda view: (view.reader, view.at, view.story)):
        if hours(view.at) < end:
            by_reader.setdefault(view.reader, []).append(view)
    questions_of: Callable[[Sequence[View], float, set[str]], Iterator[Question]] = (
        _window if kind == WINDOW else partial(_next, again=kind == AGAIN)
    )
    questions = [question for history in by_reader.values() for question in questions_of(history, cut, names)]
    selected = np.sort(np.random.default_rng(SEED).permutation(len(questions))[:max_questions])
    return Split(training, cut, tuple(questions[index] for index in selected))


def _window(views: Sequence[View], cut: float, names: set[str]) -> Iterator[Question]:
    history = tuple(view for view in views if hours(view.at) < cut)
    seen = {view.story for view in history}
    targets = frozenset(view.story for view in views[len(history) :] if view.story in names and view.story not in seen)
    if targets:
        yield Question(history, datetime.fromtimestamp(cut * HOUR_SECONDS, UTC), targets)


def _next(views: Sequence[View], cut: float, names: set[str], *, again: bool = False) -> Iterator[Question]:
    seen: set[str] = set()
    for index, view in enumerate(views):
        if index and (again or view.story not in seen) and view.story in names and hours(views[index - 1].at) >= cut:
            yield Question(tuple(views[:index]), view.at, frozenset({view.story}))
        seen.add(view.story)


def measure(ranker: Ranker, questions: Sequence[Question], n: int = LIST) -> Score:
    rows, times = [], []
    for question in questions:
        start = perf_counter()
        found = ranker.rank(question.history, question.now, n)
        times.append((perf_counter() - start) * 1000)
        rows.append(figures(found, question.targets, n))
    if not rows:
        return Score(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    recall, ndcg, hit = np.mean(rows, axis=0).tolist()
    return Score(len(rows), recall, ndcg, hit, float(np.median(times)), float(np.quantile(times, 0.95)))


def figures(found: Sequence[str], targets: frozenset[str], n: int = LIST) -> tuple[float, float, float]:
    gains = [1 / log2(index + 2) for index, story in enumerate(found[:n]) if story in targets]
    ideal = sum(1 / log2(index + 2) for index in range(min(n, len(targets))))
    return len(gains) / len(targets), sum(gains) / ideal, float(bool(gains))
