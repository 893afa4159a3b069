"""How much each figure counts: learnt from what readers did next, on windows of the log before now.

score(s) = Σ w(f) · f(s) over the figures of :mod:`signals`; the chance that a reader takes s of the candidates C is taken as
e^score(s) / Σ_C e^score (multinomial logit, McFadden 1974). w is where

    Σ over moments of − mean over targets of ln chance(target)   +   κ / 2 · Σ (σ(f) · w(f))²

is least; σ(f): the figure's spread among candidates. Moments come from windows between the ``CUTS`` quantiles of the views; what is known
is what was known at a window's beginning. There are weights for three situations: a ``new`` reader (no history), one who comes
``back`` (asked at the window's beginning; targets: what the window brings), and one ``underway`` (last view less than an hour ago;
target: the next).

Weights must prove themselves against **plain popularity by recency**, the one figure of popularity that alone has the best mean NDCG@20 at
all moments: weights of the windows before ``LATE`` are compared with it at the moments of the later ones. Where they do not win, that
figure alone has weight. For new readers a win must be larger than its standard error, since nothing is known of them that popularity could
miss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.recommend import formulas, signals
from newsportal.recommend.clicks import Clicks, Floats, Ints
from newsportal.recommend.signals import ALWAYS, HALF_LIVES, PERSONAL, Learnt

NEW: Final = "new"
BACK: Final = "back"
UNDERWAY: Final = "underway"
CUTS: Final = (0.5, 0.6, 0.7, 0.8, 0.9)  # quantiles of the views where windows begin; the last ends with the log
BREAK: Final = 1.0  # hours without a view after which a reader has gone
MOMENTS: Final = 150  # moments of a situation and window
TARGETS: Final = 500
"""Views of a window that a moment asks for: in practice all. (The first 20 alone teach what is looked at first, which is another thing.)"""

LIST: Final = 20  # places of the list by which weights and plain popularity are compared
LATE: Final = 3  # the window from which they are compared; weights for that are learnt on those before
FEWEST: Final = 20  # moments from which a situation has weights of its own
ROUNDS: Final = 50
POPULAR: Final = range(1 + len(HALF_LIVES))  # the figures of popularity among ALWAYS: the mixture, and each half-life
OTHERS: Final = 400  # candidates that a moment is compared with
KAPPA: Final[Mapping[str, float]] = {NEW: 20.0, BACK: 1.0, UNDERWAY: 1.0}
"""Of a new reader little but popularity can tell (chosen on windows of three logs before those that are told of)."""

DIGITS: Final = 4  # decimals of a weight: sums that were added in another order (on many machines) must give the same weights
TOLERANCE: Final = 1e-7
"""The search for weights ends where a step gains a smaller share of the loss: figures resemble one another, the rest is long and tells
nothing."""

SEED: Final = 20140228  # which readers are asked is drawn; the same log gives the same weights


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A reader is about to look at ``targets``. ``history``: stories, the latest first; ``shares``: how much was seen of each."""

    situation: str
    history: Ints
    shares: Floats
    now: float
    targets: Ints


def situation(last: float | None, now: float) -> str:
    """``last``: the hour of the reader's latest view."""
    return NEW if last is None else UNDERWAY if now - last < BREAK else BACK


Looks: TypeAlias = tuple[Floats, Ints, Floats]  # a reader's hours, stories and shares, in the order of time


def moments(clicks: Clicks, begin: float, end: float) -> Iterator[Moment]:
    """What readers did between two hours; at most :data:`MOMENTS` of each situation."""
    starts = clicks.starts()
    inside = np.unique(clicks.reader[(clicks.at >= begin) & (clicks.at < end)])

    def looks(place: int) -> Looks:
        of_reader = slice(starts[inside[place]], starts[inside[place] + 1])
        return clicks.at[of_reader], clicks.story[of_reader], clicks.share[of_reader]

    return drawn(len(inside), looks, begin, end)


def drawn(readers: int, looks: Callable[[int], Looks], begin: float, end: float) -> Iterator[Moment]:
    """Moments of readers drawn by lot. ``readers``: how many looked at something between the two hours, in the order of their names;
    ``looks``: all hours, stories and shares of the n-th of them."""
    draw = np.random.default_rng(SEED)
    left = dict.fromkeys((NEW, BACK, UNDERWAY), MOMENTS)
    for place in draw.permutation(readers).tolist():
        its = looks(place)
        first, last = np.searchsorted(its[0], (begin, end))
        for found in _moments(its, int(first), int(last), begin, draw):
            if left[found.situation] > 0:
                left[found.situation] -= 1
                yield found
        if not any(left.values()):
            return


def _moments(looks: Looks, first: int, last: int, begin: float, draw: np.random.Generator) -> Iterator[Moment]:
    at, story, share = looks
    yield Moment(BACK if first else NEW, story[:first][::-1], share[:first][::-1], begin, story[first:last][:TARGETS])
    on = [place for place in range(max(first, 1), last) if at[place] - at[place - 1] < BREAK]
    if on:
        place = on[int(draw.integers(len(on)))]
        yield Moment(UNDERWAY, story[:place][::-1], share[:place][::-1], float(at[place]), story[place : place + 1])


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """π, the weights of each situation that had moments enough, and how many moments each had."""

    mixture: Floats
    weights: Weights
    moments: Mapping[str, int]


Weights: TypeAlias = Mapping[str, Floats]
Example: TypeAlias = tuple[Floats, Floats, Floats]
"""Figures of candidates, the share of the targets that each is, and the logarithm of how many others each stands for."""
Candidates: TypeAlias = Callable[[Learnt, signals.Question], Ints]


def weigh(log: TrainingLog, candidates: Candidates, alpha: float) -> Blend:
    ends = [*(log.when(cut) for cut in CUTS), np.inf] if len(log) else []
    windows = [(log.learnt(begin), log.moments(begin, end)) for begin, end in pairwise(ends)]
    mixture = mixed([(learnt, moment) for learnt, some in windows for moment in some])
    draw = np.random.default_rng(SEED)
    asked: dict[str, list[_Question]] = {NEW: [], BACK: [], UNDERWAY: []}
    for window, (learnt, some) in enumerate(windows):
        whole = replace(learnt, mixture=mixture, alpha=alpha)
        for moment in some:
            rows, taken = _figures(whole, moment, candidates)
            if taken.any():
                plain = [ndcg(rows[:, figure], taken, len(moment.targets)) for figure in POPULAR]
                others = np.flatnonzero(~taken)
                drawn = draw.permutation(others)[:OTHERS]
                chosen = np.concatenate((np.flatnonzero(taken), drawn))
                share = (np.arange(len(chosen)) < taken.sum()) / taken.sum()
                stands_for = np.where(share > 0, 0.0, np.log(max(1, len(others)) / max(1, len(drawn))))
                asked[moment.situation].append(_Question(window, whole, moment, (rows[chosen], share, stands_for), plain))
    weights = {name: _proven(found, KAPPA[name], name, candidates) for name, found in asked.items() if len(found) >= FEWEST}
    return Blend(mixture, weights, {name: len(found) for name, found in asked.items()})


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A moment of a window; ``plain``: the NDCG of each figure of popularity alone."""

    window: int
    learnt: Learnt
    moment: Moment
    example: Example
    plain: list[float]


def _proven(asked: Sequence[_Question], kappa: float, name: str, candidates: Candidates) -> Floats:
    """Learnt weights where they win on later windows, else popularity alone."""
    early = [one.example for one in asked if one.window < LATE]
    late = [one for one in asked if one.window >= LATE]
    if min(len(early), len(late)) >= FEWEST:
        figure = int(np.argmax(np.mean([one.plain for one in asked], axis=0)))
        weights = fitted(early, kappa)
        found = [(*_figures(one.learnt, one.moment, candidates), len(one.moment.targets)) for one in late]
        won = np.array([ndcg(rows @ weights, taken, targets) for rows, taken, targets in found]) - [one.plain[figure] for one in late]
        if won.mean() <= (won.std() / np.sqrt(len(won)) if name == NEW else 0.0):
            return np.where(np.arange(len(weights)) == figure, 1.0, 0.0)
    return fitted([one.example for one in asked], kappa)


def ndcg(score: Floats, taken: NDArray[np.bool_], targets: int) -> float:
    """NDCG of the first ``LIST`` places (Järvelin, Kekäläinen 2002); ``taken``: which candidates are among so many ``targets``."""
    gains = 1 / np.log2(np.arange(2, LIST + 2))
    some = np.flatnonzero(score >= np.partition(score, -LIST)[-LIST]) if len(score) > LIST else np.arange(len(score))
    order = some[np.argsort(-score[some], kind="stable")][:LIST]
    return float(gains[: len(order)] @ taken[order] / gains[: min(LIST, targets)].sum())


def mixed(seen: Sequence[tuple[Learnt, Moment]]) -> Floats:
    """π: how likely the next view follows each half-life's popularity, by expectation and maximisation (Dempster, Laird, Rubin 1977)."""
    mixture = np.full(len(HALF_LIVES), 1 / len(HALF_LIVES))
    parts = [
        (signals.shares(learnt.popular, moment.targets), 1 / len(moment.targets)) for learnt, moment in seen if moment.situation != UNDERWAY
    ]
    if not parts:
        return mixture
    share = np.concatenate([part for part, _ in parts], axis=1)
    weight = np.concatenate([np.full(part.shape[1], value) for part, value in parts])
    for _ in range(ROUNDS):
        by = mixture[:, None] * share
        mixture = (by / by.sum(axis=0)) @ weight + 1
        mixture /= mixture.sum()
    return mixture


def _figures(learnt: Learnt, moment: Moment, candidates: Candidates) -> tuple[Floats, NDArray[np.bool_]]:
    question = signals.question_of(learnt, moment.history, moment.shares, moment.now)
    among = candidates(learnt, question)
    return signals.figures(learnt, question, among), np.isin(among, moment.targets)


def fitted(examples: Sequence[Example], kappa: float) -> Floats:
    """w: near "popularity alone" as far as the examples leave it open. Figures are centred, which changes no chance."""
    spread = np.mean([rows.std(axis=0) for rows, _, _ in examples], axis=0) + 1e-9
    rows = np.concatenate([(rows - rows.mean(axis=0)) / spread for rows, _, _ in examples])
    share = np.concatenate([share for _, share, _ in examples])
    stands_for = np.concatenate([stands_for for _, _, stands_for in examples])
    sizes = np.array([len(share) for _, share, _ in examples])
    prior = np.zeros(len(spread))
    prior[0] = _least(rows[:, :1], share, stands_for, sizes, np.zeros(1), 0.0)[0]
    return np.asarray(np.round(_least(rows, share, stands_for, sizes, prior, kappa) / spread, DIGITS), dtype=np.float64)


def _least(rows: Floats, share: Floats, stands_for: Floats, sizes: Ints, prior: Floats, kappa: float) -> Floats:
    """The weights where the loss is least. ``sizes``: rows of each example, one after another."""
    from scipy.optimize import minimize

    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))

    def loss(weights: Floats) -> tuple[float, Floats]:
        off = weights - prior
        score = rows @ weights + stands_for
        score -= np.repeat(np.maximum.reduceat(score, starts), sizes)
        chance = np.exp(score)
        among = np.add.reduceat(chance, starts)
        slope = kappa * off - (share - chance / np.repeat(among, sizes)) @ rows
        return kappa / 2 * float(off @ off) - float(share @ score) + float(np.log(among).sum()), slope

    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B", options={"ftol": TOLERANCE}).x, dtype=np.float64)


def names(weights: Floats) -> tuple[str, ...]:
    """What the weights belong to."""
    return (*ALWAYS, *PERSONAL)[: len(weights)]


class TrainingLog(Protocol):
    """What a fit asks of a log up to its moment, wherever it lies (``newsportal.services.spark``). Hours count from 1970."""

    @property
    def stories(self) -> int: ...

    @property
    def readers(self) -> int: ...

    def __len__(self) -> int: ...

    def when(self, share: float) -> float:
        """The hour before which this share of the views lies: that of a view, the lower where the share falls between two."""

    def learnt(self, moment: float) -> Learnt: ...

    def moments(self, begin: float, end: float) -> list[Moment]:
        """What readers did between two hours: those that :func:`drawn` draws."""

    def alpha(self) -> float:
        """The median of w_c / w_s."""

    def rate(self) -> float:
        """λ: the mean age of what was looked at, in hours."""


@dataclass(frozen=True, eq=False)
class LocalLog:
    clicks: Clicks

    @property
    def stories(self) -> int:
        return self.clicks.stories

    @property
    def readers(self) -> int:
        return len(np.unique(self.clicks.reader))

    def __len__(self) -> int:
        return len(self.clicks)

    def when(self, share: float) -> float:
        return float(np.quantile(self.clicks.at, share, method="lower"))

    def learnt(self, moment: float) -> Learnt:
        return signals.learn(self.clicks, moment)

    def moments(self, begin: float, end: float) -> list[Moment]:
        return list(moments(self.clicks, begin, end))

    def alpha(self) -> float:
        return formulas.median_share(self.clicks.share)

    def rate(self) -> float:
        return formulas.fitted_rate(self.clicks.at - self.clicks.published[self.clicks.story])
