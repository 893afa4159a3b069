"""Learn the weight of each feature from the next views of readers, on windows of the log before now.

score(s) = Σ w(f) · f(s) over the features of :mod:`signals`; the probability that a reader views s of the candidates C is
e^score(s) / Σ_C e^score (multinomial logit, McFadden 1974). w minimises

    Σ over moments of − mean over targets of ln chance(target)   +   κ / 2 · Σ (σ(f) · w(f))²

σ(f): the standard deviation of the feature among candidates. Moments come from windows between the ``QUANTILES`` quantiles of the views;
features are computed from the log before the window. Weights are learnt for three situations: a ``new`` reader (no history), one who comes
``back`` (at the beginning of the window; targets: the views within it), and one ``underway`` (last view within an hour; target: the next).

Weights must beat the baseline **plain popularity by recency**, the single popularity feature with the best mean NDCG@20 over all moments:
weights of the windows before ``FIRST_COMPARED`` are compared with it on the later ones. If they do not win, only that feature gets a
weight. For new readers they must win by more than the standard error, since nothing is known of them but popularity.
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
from newsportal.recommend.signals import GENERAL, HALF_LIVES, PERSONAL, Statistics

NEW: Final = "new"
RETURNING: Final = "back"
BROWSING: Final = "underway"
QUANTILES: Final = (0.5, 0.6, 0.7, 0.8, 0.9)  # quantiles of the views where windows begin; the last window ends with the log
VISIT_GAP: Final = 1.0  # hours without a view after which a reader's visit has ended
MAX_MOMENTS: Final = 150  # moments per situation and window
MAX_TARGETS: Final = 500
"""Maximum views of a window used as targets of a moment: in practice all. (The first 20 alone would teach what is viewed first instead.)"""

LIST_LENGTH: Final = 20  # length of the lists for which weights and plain popularity are compared
FIRST_COMPARED: Final = 3  # first window of the comparison; the weights for it are learnt on those before
MIN_MOMENTS: Final = 20  # minimum moments to learn weights for a situation
MAX_ROUNDS: Final = 50
POPULAR: Final = range(1 + len(HALF_LIVES))  # popularity features among GENERAL: the mixture, and each half-life
MAX_OTHERS: Final = 400  # candidates to which a moment is compared
KAPPA: Final[Mapping[str, float]] = {NEW: 20.0, RETURNING: 1.0, BROWSING: 1.0}
"""For new readers, little but popularity is informative (chosen on windows of three logs before those of the published figures)."""

DIGITS: Final = 4  # decimals of a weight: sums in another order (on many machines) must give the same weights
TOLERANCE: Final = 1e-7
"""Relative gain of the loss at which the optimisation stops: features are correlated, so that further steps take long and change little."""

SEED: Final = 20140228  # seed of the sample of readers; the same log gives the same weights


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A moment before a reader views ``targets``. ``history``: stories, latest first; ``shares``: the viewed share of each."""

    situation: str
    history: Ints
    shares: Floats
    now: float
    targets: Ints


def situation(last: float | None, now: float) -> str:
    """Return the situation of a reader. ``last``: hour of the latest view."""
    return NEW if last is None else BROWSING if now - last < VISIT_GAP else RETURNING


ReaderViews: TypeAlias = tuple[Floats, Ints, Floats]  # a reader's hours, stories and shares, in chronological order


def moments(clicks: Clicks, begin: float, end: float) -> Iterator[Moment]:
    """Yield moments of readers between two hours, at most :data:`MAX_MOMENTS` per situation."""
    starts = clicks.starts()
    inside = np.unique(clicks.reader[(clicks.at >= begin) & (clicks.at < end)])

    def looks(place: int) -> ReaderViews:
        of_reader = slice(starts[inside[place]], starts[inside[place] + 1])
        return clicks.at[of_reader], clicks.story[of_reader], clicks.share[of_reader]

    return draw_moments(len(inside), looks, begin, end)


def draw_moments(readers: int, looks: Callable[[int], ReaderViews], begin: float, end: float) -> Iterator[Moment]:
    """Yield moments of a random sample of readers. ``readers``: number of readers with views between the two hours, ordered by name;
    ``looks``: all hours, stories and shares of the n-th of them."""
    draw = np.random.default_rng(SEED)
    left = dict.fromkeys((NEW, RETURNING, BROWSING), MAX_MOMENTS)
    for place in draw.permutation(readers).tolist():
        viewed = looks(place)
        first, last = np.searchsorted(viewed[0], (begin, end))
        for found in _moments(viewed, int(first), int(last), begin, draw):
            if left[found.situation] > 0:
                left[found.situation] -= 1
                yield found
        if not any(left.values()):
            return


def _moments(looks: ReaderViews, first: int, last: int, begin: float, draw: np.random.Generator) -> Iterator[Moment]:
    at, story, share = looks
    yield Moment(RETURNING if first else NEW, story[:first][::-1], share[:first][::-1], begin, story[first:last][:MAX_TARGETS])
    on = [place for place in range(max(first, 1), last) if at[place] - at[place - 1] < VISIT_GAP]
    if on:
        place = on[int(draw.integers(len(on)))]
        yield Moment(BROWSING, story[:place][::-1], share[:place][::-1], float(at[place]), story[place : place + 1])


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """π, the weights of each situation with enough moments, and the number of moments of each."""

    mixture: Floats
    weights: Weights
    moments: Mapping[str, int]


Weights: TypeAlias = Mapping[str, Floats]
Example: TypeAlias = tuple[Floats, Floats, Floats]
"""Features of candidates, their shares of the targets, and the logarithm of how many other candidates each represents."""
Candidates: TypeAlias = Callable[[Statistics, signals.Question], Ints]


def learn_weights(log: TrainingLog, candidates: Candidates, alpha: float) -> Blend:
    ends = [*(log.quantile(cut) for cut in QUANTILES), np.inf] if len(log) else []
    windows = [(log.statistics(begin), log.moments(begin, end)) for begin, end in pairwise(ends)]
    mixture = fit_mixture([(learnt, moment) for learnt, of_window in windows for moment in of_window])
    draw = np.random.default_rng(SEED)
    samples: dict[str, list[_Sample]] = {NEW: [], RETURNING: [], BROWSING: []}
    for window, (learnt, of_window) in enumerate(windows):
        complete = replace(learnt, mixture=mixture, alpha=alpha)
        for moment in of_window:
            rows, hits = _figures(complete, moment, candidates)
            if hits.any():
                plain = [ndcg(rows[:, figure], hits, len(moment.targets)) for figure in POPULAR]
                others = np.flatnonzero(~hits)
                drawn = draw.permutation(others)[:MAX_OTHERS]
                sample = np.concatenate((np.flatnonzero(hits), drawn))
                share = (np.arange(len(sample)) < hits.sum()) / hits.sum()
                stands_for = np.where(share > 0, 0.0, np.log(max(1, len(others)) / max(1, len(drawn))))
                samples[moment.situation].append(_Sample(window, complete, moment, (rows[sample], share, stands_for), plain))
    weights = {name: _validated(found, KAPPA[name], name, candidates) for name, found in samples.items() if len(found) >= MIN_MOMENTS}
    return Blend(mixture, weights, {name: len(found) for name, found in samples.items()})


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """A moment of a window; ``plain``: the NDCG of each popularity feature alone."""

    window: int
    learnt: Statistics
    moment: Moment
    example: Example
    plain: list[float]


def _validated(samples: Sequence[_Sample], kappa: float, name: str, candidates: Candidates) -> Floats:
    """Return learnt weights if they win on later windows, else popularity alone."""
    early = [sample.example for sample in samples if sample.window < FIRST_COMPARED]
    late = [sample for sample in samples if sample.window >= FIRST_COMPARED]
    if min(len(early), len(late)) >= MIN_MOMENTS:
        figure = int(np.argmax(np.mean([sample.plain for sample in samples], axis=0)))
        weights = fit_weights(early, kappa)
        cases = [(*_figures(sample.learnt, sample.moment, candidates), len(sample.moment.targets)) for sample in late]
        gain = np.array([ndcg(rows @ weights, hits, targets) for rows, hits, targets in cases]) - [sample.plain[figure] for sample in late]
        if gain.mean() <= (gain.std() / np.sqrt(len(gain)) if name == NEW else 0.0):
            return np.where(np.arange(len(weights)) == figure, 1.0, 0.0)
    return fit_weights([sample.example for sample in samples], kappa)


def ndcg(score: Floats, hits: NDArray[np.bool_], targets: int) -> float:
    """Return the NDCG of the first ``LIST_LENGTH`` places (Järvelin, Kekäläinen 2002). ``hits``: which candidates are targets."""
    gains = 1 / np.log2(np.arange(2, LIST_LENGTH + 2))
    some = np.flatnonzero(score >= np.partition(score, -LIST_LENGTH)[-LIST_LENGTH]) if len(score) > LIST_LENGTH else np.arange(len(score))
    order = some[np.argsort(-score[some], kind="stable")][:LIST_LENGTH]
    return float(gains[: len(order)] @ hits[order] / gains[: min(LIST_LENGTH, targets)].sum())


def fit_mixture(data: Sequence[tuple[Statistics, Moment]]) -> Floats:
    """Return π: the probability that the next view follows the popularity of each half-life, by EM (Dempster, Laird, Rubin 1977)."""
    mixture = np.full(len(HALF_LIVES), 1 / len(HALF_LIVES))
    parts = [
        (signals.shares(learnt.popular, moment.targets), 1 / len(moment.targets)) for learnt, moment in data if moment.situation != BROWSING
    ]
    if not parts:
        return mixture
    share = np.concatenate([part for part, _ in parts], axis=1)
    weight = np.concatenate([np.full(part.shape[1], value) for part, value in parts])
    for _ in range(MAX_ROUNDS):
        responsibility = mixture[:, None] * share
        mixture = (responsibility / responsibility.sum(axis=0)) @ weight + 1
        mixture /= mixture.sum()
    return mixture


def _figures(learnt: Statistics, moment: Moment, candidates: Candidates) -> tuple[Floats, NDArray[np.bool_]]:
    question = signals.question_of(learnt, moment.history, moment.shares, moment.now)
    among = candidates(learnt, question)
    return signals.features(learnt, question, among), np.isin(among, moment.targets)


def fit_weights(examples: Sequence[Example], kappa: float) -> Floats:
    """Return w, regularised towards popularity alone. Features are centred, which does not change the probabilities."""
    spread = np.mean([rows.std(axis=0) for rows, _, _ in examples], axis=0) + 1e-9
    rows = np.concatenate([(rows - rows.mean(axis=0)) / spread for rows, _, _ in examples])
    share = np.concatenate([share for _, share, _ in examples])
    stands_for = np.concatenate([stands_for for _, _, stands_for in examples])
    sizes = np.array([len(share) for _, share, _ in examples])
    prior = np.zeros(len(spread))
    prior[0] = _minimise(rows[:, :1], share, stands_for, sizes, np.zeros(1), 0.0)[0]
    return np.asarray(np.round(_minimise(rows, share, stands_for, sizes, prior, kappa) / spread, DIGITS), dtype=np.float64)


def _minimise(rows: Floats, share: Floats, stands_for: Floats, sizes: Ints, prior: Floats, kappa: float) -> Floats:
    """Return the weights that minimise the loss. ``sizes``: rows of each example, in order."""
    from scipy.optimize import minimize

    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))

    def loss(weights: Floats) -> tuple[float, Floats]:
        deviation = weights - prior
        score = rows @ weights + stands_for
        score -= np.repeat(np.maximum.reduceat(score, starts), sizes)
        chance = np.exp(score)
        among = np.add.reduceat(chance, starts)
        gradient = kappa * deviation - (share - chance / np.repeat(among, sizes)) @ rows
        return kappa / 2 * float(deviation @ deviation) - float(share @ score) + float(np.log(among).sum()), gradient

    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B", options={"ftol": TOLERANCE}).x, dtype=np.float64)


def feature_names(weights: Floats) -> tuple[str, ...]:
    return (*GENERAL, *PERSONAL)[: len(weights)]


class TrainingLog(Protocol):
    """Interface of a log used by a fit, wherever it is stored (``newsportal.services.spark``). Hours count from 1970."""

    @property
    def stories(self) -> int: ...

    @property
    def readers(self) -> int: ...

    def __len__(self) -> int: ...

    def quantile(self, share: float) -> float:
        """Return the hour below which this share of the views lies: that of a view, the lower one if the share falls between two."""

    def statistics(self, moment: float) -> Statistics: ...

    def moments(self, begin: float, end: float) -> list[Moment]:
        """Return the moments between two hours drawn by :func:`draw_moments`."""

    def alpha(self) -> float:
        """Return the median of w_c / w_s."""

    def rate(self) -> float:
        """Return λ: the mean age of stories when viewed, in hours."""


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

    def quantile(self, share: float) -> float:
        return float(np.quantile(self.clicks.at, share, method="lower"))

    def statistics(self, moment: float) -> Statistics:
        return signals.learn(self.clicks, moment)

    def moments(self, begin: float, end: float) -> list[Moment]:
        return list(moments(self.clicks, begin, end))

    def alpha(self) -> float:
        return formulas.median_share(self.clicks.share)

    def rate(self) -> float:
        return formulas.fitted_rate(self.clicks.at - self.clicks.published[self.clicks.story])
