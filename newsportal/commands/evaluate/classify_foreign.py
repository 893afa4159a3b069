"""What classifiers say of texts whose subject they never learnt: labels are left out of the training, then asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from newsportal.classify.base import Answer, Example, train
from newsportal.classify.refusing import auroc
from newsportal.commands.corpus.common import watched

PARTS: Final = 3
"""A third of the labels is left out at a time: three trainings, and each label is foreign once."""

HEADINGS: Final = ("AUROC", "foreign no", "right", "right no", "wrong no")


@dataclass(frozen=True, slots=True)
class Foreign:
    """Means over the parts, shares from 0 to 1. ``auroc``: how often a known text's best probability is above a foreign one's;
    ``foreign_refused``, ``right_refused``, ``wrong_refused``: share that is given no label of the foreign texts, and of the known ones
    whose best label is right or wrong; ``right``: share of the known texts whose best label is right."""

    set: str
    algorithm: str
    auroc: float
    foreign_refused: float
    right: float
    right_refused: float
    wrong_refused: float

    def as_json(self) -> dict[str, Any]:
        numbers = ("auroc", "foreign_refused", "right", "right_refused", "wrong_refused")
        return {"set": self.set, "algorithm": self.algorithm} | {name: round(getattr(self, name), 6) for name in numbers}

    def row(self) -> str:
        shares = (self.auroc, self.foreign_refused, self.right, self.right_refused, self.wrong_refused)
        return f"{self.algorithm:14}" + "".join(f"{100 * share:>11.1f}" for share in shares)


def leave_out(name_of_set: str, name: str, learnt: Sequence[Example], asked: Sequence[Example]) -> Foreign:
    """Train ``name`` without a third of the labels, the other thirds in turn, and let it answer. Raises ``ValueError``."""
    labels = [label for label, _ in sorted(Counter(one.labels[0] for one in learnt).items(), key=lambda item: (-item[1], item[0]))]
    if len(labels) <= PARTS:
        raise ValueError(f"{name_of_set}: to leave labels out there must be more than {PARTS}")
    return Foreign(name_of_set, name, *np.mean([_part(name, learnt, asked, set(labels[part::PARTS])) for part in range(PARTS)], axis=0))


def _part(name: str, learnt: Sequence[Example], asked: Sequence[Example], away: set[str]) -> tuple[float, ...]:
    with watched() as progress:
        model = train(name, [one for one in learnt if one.labels[0] not in away], progress=progress)
    answers = model.classify_many((one.title, one.text) for one in asked)
    best = [max(answer.scores.values(), default=0.0) for answer in answers]
    foreign = np.array([one.labels[0] in away for one in asked])
    right = np.array([_best(answer) == one.labels[0] for one, answer in zip(asked, answers, strict=True)])
    refused = np.array([answer.label is None for answer in answers])
    groups = (foreign, ~foreign & right, ~foreign & ~right)
    none_of = [float(refused[group].mean()) if group.any() else 0.0 for group in groups]
    area = auroc(np.array(best)[~foreign], np.array(best)[foreign])
    return area, none_of[0], float(right[~foreign].mean()) if (~foreign).any() else 0.0, none_of[1], none_of[2]


def _best(answer: Answer) -> str | None:
    return max(answer.scores, key=answer.scores.__getitem__) if answer.scores else None
