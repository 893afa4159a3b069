"""Evaluate answers: precision, recall and F1 by label, macro-F1, the confusion matrix, and the calibration of the probabilities.

Precision is the share of the documents assigned a label that have it, recall the share of those that have it to which it was assigned, F1
their harmonic mean, macro-F1 the mean F1 of the labels (whatever their sizes). A document without an assigned label lowers recall only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from newsportal.classify.base import Answer
from newsportal.text import clean

DIGITS: Final = 6  # decimals of stored shares
BINS: Final = 10  # equal bins of the best label's probability for the calibration error (Guo et al. 2017, section 2).


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Scores of one label: number of documents with it, and shares from 0 to 1."""

    label: str
    documents: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Documents whose best probability falls into one bin: their number, the mean probability, and the correct share."""

    documents: int
    probability: float
    right: float


@dataclass(frozen=True, slots=True)
class Report:
    """Evaluation of a classifier on labelled documents. ``confusion`` counts (true label, assigned label or ``None``); ``ece`` is the
    expected calibration error; ``bins`` omits empty bins."""

    documents: int
    labels: tuple[LabelScore, ...]
    macro_f1: float
    accuracy: float
    unanswered: float
    ece: float
    confusion: Mapping[tuple[str, str | None], int]
    bins: tuple[Bin, ...]

    def as_json(self) -> dict[str, Any]:
        by_count = sorted(self.confusion.items(), key=lambda item: (-item[1], str(item)))
        return {
            "documents": self.documents,
            **{name: round(getattr(self, name), DIGITS) for name in ("macro_f1", "accuracy", "unanswered", "ece")},
            "labels": [
                {"label": score.label, "documents": score.documents}
                | {name: round(getattr(score, name), DIGITS) for name in ("precision", "recall", "f1")}
                for score in self.labels
            ],
            "confusion": [[true, assigned, count] for (true, assigned), count in by_count],
            "bins": [[bucket.documents, round(bucket.probability, DIGITS), round(bucket.right, DIGITS)] for bucket in self.bins],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Report:
        return cls(
            plain["documents"], tuple(LabelScore(**row) for row in plain["labels"]),
            plain["macro_f1"], plain["accuracy"], plain["unanswered"], plain["ece"],
            {(true, assigned): count for true, assigned, count in plain["confusion"]}, tuple(Bin(*row) for row in plain["bins"]),
        )  # fmt: skip


def measure(true: Sequence[str], answers: Sequence[Answer]) -> Report:
    confusion = Counter((label, answer.label) for label, answer in zip(true, answers, strict=True))
    scores = tuple(_score(label, confusion) for label in sorted(set(true)))
    binned: dict[int, list[tuple[float, bool]]] = {}  # by the probability of the best label, assigned or not
    for label, answer in zip(true, answers, strict=True):
        if answer.scores:
            best = max(answer.scores, key=answer.scores.__getitem__)
            probability = min(1.0, max(0.0, answer.scores[best]))
            binned.setdefault(min(BINS - 1, int(probability * BINS)), []).append((probability, best == label))
    bins = tuple(
        Bin(len(pairs), sum(value for value, _ in pairs) / len(pairs), sum(correct for _, correct in pairs) / len(pairs))
        for _, pairs in sorted(binned.items())
    )
    documents = max(1, len(true))
    return Report(
        documents=len(true),
        labels=scores,
        macro_f1=sum(score.f1 for score in scores) / max(1, len(scores)),
        accuracy=sum(count for (label, assigned), count in confusion.items() if label == assigned) / documents,
        unanswered=sum(answer.label is None for answer in answers) / documents,
        ece=sum(bucket.documents * abs(bucket.probability - bucket.right) for bucket in bins) / documents,
        confusion=dict(confusion),
        bins=bins,
    )


def _score(label: str, confusion: Mapping[tuple[str, str | None], int]) -> LabelScore:
    correct = confusion.get((label, label), 0)
    actual = sum(count for (true, _), count in confusion.items() if true == label)
    predicted = sum(count for (_, assigned), count in confusion.items() if assigned == label)
    precision, recall = correct / predicted if predicted else 0.0, correct / actual if actual else 0.0
    return LabelScore(label, actual, precision, recall, 2 * correct / (actual + predicted) if correct else 0.0)


NO_LABEL: Final = "—"  # shown for "none of the labels"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the confusion matrix: number of documents, and their share of the row, shown as its shade."""

    count: int
    share: float
    right: bool


def confusion_matrix(report: Report) -> tuple[list[tuple[str, tuple[Cell, ...]]], list[str]]:
    """Return the rows of the confusion matrix and its column headings: true labels, others that were assigned, then "none"."""
    true = [score.label for score in report.labels]
    predicted = {assigned for _, assigned in report.confusion}
    columns: list[str | None] = [*true, *sorted(assigned for assigned in predicted if assigned is not None and assigned not in true)]
    if None in predicted:
        columns.append(None)
    sizes = {score.label: max(1, score.documents) for score in report.labels}
    counts = {label: [report.confusion.get((label, assigned), 0) for assigned in columns] for label in true}
    rows = [
        (
            clean(label),
            tuple(Cell(count, count / sizes[label], assigned == label) for assigned, count in zip(columns, counts[label], strict=True)),
        )
        for label in true
    ]
    return rows, [NO_LABEL if assigned is None else clean(assigned) for assigned in columns]
