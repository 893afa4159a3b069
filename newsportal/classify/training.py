"""Train the default classifier: features, selection of a mix on held-out documents, calibration, and the final fit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify import calibration
from newsportal.classify.base import Answer, Example, Progress
from newsportal.classify.calibration import NO_LEVEL, Level, Rejection, choose_rejection
from newsportal.classify.features import MAX_CHARS, Counts, Sparse, Vocabulary, count_articles, matrix, vocabulary
from newsportal.classify.fitting import MIXES, Matrix, Mix, Planes, Truth, fit, fit_all
from newsportal.classify.held_out import FOLDS, folds, near_duplicates
from newsportal.classify.measure import measure
from newsportal.errors import ModelError
from newsportal.messages import Message

SHORT_SHARE: Final = 0.1  # share of the training texts that count as short
HEADLINE_CHARS: Final = 24
"""Characters at the beginning of a text that stand in for a headline, used if nine in ten training texts have more than ``LONG`` features:
scores calibrated on articles do not hold for headlines."""

LONG: Final = 4 * HEADLINE_CHARS
BATCH: Final = 100  # examples whose features are counted in one batch
MAX_CHARACTERS: Final = 40_000_000
"""Maximum characters of training text: 25,000 full articles or 2,000,000 titles. Six million took 0.5 GB, so these need 2 to 3 GB."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The result of a training: ``factor`` and ``min_score`` for single-label, ``curves`` (a, b, threshold) for multi-label models."""

    vocabulary: Vocabulary
    planes: Planes
    factor: float
    min_score: float
    curves: Matrix
    figures: dict[str, float]
    warnings: tuple[Message, ...]
    short: float
    brief: Level


def learn(examples: Sequence[Example], labels: Sequence[str], *, multi_label: bool, progress: Progress, seed: int) -> TrainingResult:
    """Train on ``examples``. Raises ``ModelError`` if all have the same label, or no text has any feature."""
    sample = sample_examples(examples, seed)
    truth = np.array([[label in example.labels for label in labels] for example in sample], dtype=bool)
    if truth.all(axis=0).any():
        raise ModelError("every example has the same label; there must be some without it")
    documents: list[tuple[Counts, Counts]] = []
    for done in range(0, len(sample), BATCH):
        documents += count_articles([(example.title, example.text) for example in sample[done : done + BATCH]])
        progress(0.3 * done / len(sample), "features")
    vocab = vocabulary(documents)
    if not len(vocab.codes):
        raise ModelError("no feature distinguishes the labels; the examples need more text")
    vectors = matrix(vocab, documents)
    documents.clear()
    short = float(np.quantile(np.diff(vectors.indptr), SHORT_SHARE))
    headlines = []
    if short > LONG and not multi_label:
        headlines = [(matrix(vocab, count_articles([("", (example.title or example.text)[:HEADLINE_CHARS]) for example in sample])), short)]
    fold = folds(truth, near_duplicates(vectors))
    mix, answers, idx = _held_out([(vectors, 0.0), *headlines], truth, fold, multi_label=multi_label, progress=progress, seed=seed)
    scores = answers[0]
    progress(0.75, "held-out")
    refused = Rejection() if multi_label else choose_rejection(vectors, truth, fold, mix, seed)
    progress(0.85, "fit")
    planes = fit(vectors, truth, mix, seed)
    factor, least, curves = _calibrated(scores, truth, idx, refused.given_up, multi_label=multi_label)
    figures = _figures(scores[idx], truth[idx], labels, factor) if len(idx) and not multi_label else _f1_figures(scores, truth, curves, idx)
    figures |= refused.figures()
    progress(1.0, "fit")
    brief = _level(headlines[0][0][idx], answers[1][idx], truth[idx], refused.given_up) if headlines and len(idx) else NO_LEVEL
    counts = Counter(label for example in examples for label in example.labels)
    rare = [f"{label} ({counts[label]})" for label in labels if counts[label] < FOLDS]
    too_few = (Message("train.hardly", few=FOLDS, labels=", ".join(rare)),) if rare else ()
    bounded = (Message("train.bounded", used=len(sample), all=len(examples)),) if len(sample) < len(examples) else ()
    return TrainingResult(vocab, planes, factor, least, curves, figures, too_few + bounded, short, brief)


def sample_examples(examples: Sequence[Example], seed: int) -> list[Example]:
    """Return all ``examples``, or as many as ``MAX_CHARACTERS`` allows: the same share of every label, rare labels completely."""
    lengths = [min(len(example.text), MAX_CHARS) + len(example.title) for example in examples]
    if sum(lengths) <= MAX_CHARACTERS:
        return list(examples)
    order = list(range(len(examples)))
    Random(seed).shuffle(order)  # noqa: S311 (no secret)
    by_label: dict[tuple[str, ...], list[int]] = {}
    for at in order:
        by_label.setdefault(examples[at].labels, []).append(at)
    ranked = sorted((rank / len(members) if rank > 100 else 0.0, at) for members in by_label.values() for rank, at in enumerate(members))
    selected = np.cumsum([lengths[at] for _, at in ranked]) <= MAX_CHARACTERS
    return [examples[at] for at in sorted(at for (_, at), inside in zip(ranked, selected, strict=True) if inside)]


def _held_out(
    variants: Sequence[tuple[Sparse, float]], truth: Truth, fold: NDArray[np.intp], *, multi_label: bool, progress: Progress, seed: int
) -> tuple[Mix, list[Matrix], NDArray[np.intp]]:  # fmt: skip
    """Return the best mix on the first fold, its out-of-fold scores of all examples, and the indexes of the examples to evaluate.
    ``variants``: the vectors of the examples, then variants of them that are only scored, each with its ``short``. Labels that are not in
    every fold are unknown to some classifiers, so their examples are not evaluated."""
    vectors = variants[0][0]
    answers = [np.zeros(truth.shape) for _ in variants]
    counted_labels = np.all([truth[fold == part].any(axis=0) for part in range(FOLDS)], axis=0)
    covered = ~truth.any(axis=1) | (truth & counted_labels).any(axis=1)
    mixes = [mix for mix in MIXES if not (multi_label and mix.bayes)]
    if not covered.any() or not counted_labels.any():
        return mixes[-1], answers, np.zeros(0, dtype=np.intp)
    results: list[tuple[float, Mix, Planes]] = []
    candidates = fit_all(vectors[fold != 0], truth[fold != 0], mixes, seed)
    for number, mix in enumerate(mixes):
        progress(0.3 + 0.35 * number / len(mixes), "held-out")
        planes = next(candidates)
        results.append((_quality(planes.scores(vectors[fold == 0]), truth[fold == 0], multi_label=multi_label), mix, planes))
    _, mix, planes = max(results, key=lambda result: result[0])
    for part in range(FOLDS):
        if part:
            progress(0.65 + 0.1 * (part - 1) / (FOLDS - 1), "held-out")
            planes = fit(vectors[fold != part], truth[fold != part], mix, seed)
        for (texts, short), scores in zip(variants, answers, strict=True):
            scores[fold == part] = planes.scores(texts[fold == part], short)
    return mix, answers, np.flatnonzero(covered)


def _quality(scores: Matrix, truth: Truth, *, multi_label: bool) -> float:
    """Return the macro-F1 of the best labels; for multi-label, with the best threshold of each."""
    if multi_label:
        return float(np.mean([_best_f1(scores[:, label], truth[:, label]) for label in range(truth.shape[1])]))
    predicted = scores.argmax(axis=1)[:, None] == np.arange(truth.shape[1])
    correct, total = (predicted & truth).sum(axis=0), predicted.sum(axis=0) + truth.sum(axis=0)
    return float(np.mean(2 * correct / np.maximum(total, 1)))


def _best_f1(scores: Matrix, truth: Truth) -> float:
    predicted = scores >= calibration.best_threshold(scores, truth)
    return 2 * float((predicted & truth).sum()) / max(1, int(predicted.sum() + truth.sum()))


def _calibrated(scores: Matrix, truth: Truth, idx: NDArray[np.intp], given_up: float, *, multi_label: bool) -> tuple[float, float, Matrix]:
    scores, truth = scores[idx], truth[idx]
    if multi_label:
        rows = []
        for label in range(truth.shape[1]):
            a, b = calibration.fit_curve(scores[:, label], truth[:, label])
            rows.append((a, b, calibration.best_threshold(calibration.logistic(a * scores[:, label] + b), truth[:, label])))
        return 1.0, -np.inf, np.array(rows)
    if not len(idx):
        return 1.0, -np.inf, np.zeros((0, 3))
    labels = truth.argmax(axis=1)
    return calibration.fit_temperature(scores, labels), calibration.minimum_score(scores, labels, given_up), np.zeros((0, 3))


def _level(texts: Sparse, scores: Matrix, truth: Truth, given_up: float) -> Level:
    labels = truth.argmax(axis=1)
    least = calibration.minimum_score(scores, labels, given_up)
    features = float(np.median(np.diff(texts.indptr)))
    return Level(features, calibration.fit_temperature(scores, labels), least) if features and np.isfinite(least) else NO_LEVEL


def _figures(scores: Matrix, truth: Truth, labels: Sequence[str], factor: float) -> dict[str, float]:
    """Return metrics of the out-of-fold answers; the best label counts even if its score is too low to be assigned."""
    chances = calibration.softmax(scores * factor)
    answers = [Answer(labels[row.argmax()], dict(zip(labels, map(float, row), strict=True))) for row in chances]
    report = measure([labels[at] for at in truth.argmax(axis=1)], answers)
    return {"macro_f1": report.macro_f1, "accuracy": report.accuracy, "ece": report.ece, "documents": float(report.documents)}


def _f1_figures(scores: Matrix, truth: Truth, curves: Matrix, idx: NDArray[np.intp]) -> dict[str, float]:
    if not len(idx) or not len(curves):
        return {}
    found = [_best_f1(scores[idx, label], truth[idx, label]) for label in range(truth.shape[1])]
    return {"macro_f1": float(np.mean(found)), "documents": float(len(idx))}
