"""Which stories are looked at closely for a question: far fewer than there are, and all that have a chance."""

from __future__ import annotations

from typing import Final

import numpy as np

from newsportal.recommend.clicks import Ints
from newsportal.recommend.signals import HISTORY, Asked, Learnt

POPULAR: Final = 1000
"""The most popular stories of each half-life that any reader may be shown (RSC15's last day has 1,771 different stories in all)."""

NEWEST: Final = 500

VOTED: Final = 500
"""The stories with most votes of readers alike."""


def general(learnt: Learnt) -> Ints:
    """Candidates for every reader."""
    size = len(learnt.items)
    if size <= POPULAR:
        return np.arange(size)
    most = [_top(row, POPULAR) for row in learnt.popular]
    return np.unique(np.concatenate([*most, _top(learnt.published, NEWEST)]))


def candidates(learnt: Learnt, question: Asked, everybody: Ints) -> Ints:
    """``everybody``'s, and those that stand near the history; neither of the history nor published later."""
    parts = [everybody]
    for story in question.history[:HISTORY]:
        parts += [learnt.together.row(int(story))[0], learnt.after.row(int(story))[0]]
    if len(question.history):
        voted = _top(question.votes, VOTED)
        parts.append(voted[question.votes[voted] > 0])
    found = np.unique(np.concatenate(parts))
    found = found[learnt.published[found] <= question.now]
    return np.setdiff1d(found, question.history, assume_unique=True)


def _top(values: np.ndarray, most: int) -> Ints:
    if len(values) <= most:
        return np.arange(len(values))
    return np.argpartition(-values, most - 1)[:most]
