"""Fit of a log divided into parts by readers. Uses only NumPy, not Spark.

A part has all views of a range of readers, so that sums over readers and over pairs of one reader's views are sums of the parts' sums.
Addends are multiples of ``clicks.STEP``, so the sums do not depend on their order, and equal those of an undivided log to the last bit. On
this machine views and stories are streamed from the store, and the fit is saved there.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import numpy as np

from newsportal.classify.base import Progress, ignore_progress
from newsportal.dedup.cosine import unit_vector
from newsportal.recommend import best, formulas, neighbours, signals
from newsportal.recommend.base import Item, Log, View
from newsportal.recommend.blend import ReaderViews
from newsportal.recommend.clicks import Clicks, Floats, Ints, to_columns
from newsportal.recommend.formulas import ALPHA
from newsportal.recommend.neighbours import PairSums
from newsportal.recommend.signals import HALF_LIVES, MAX_READERS, MAX_ROW, Rows
from newsportal.store.readers import Fit, Readers, StoryOffer
from newsportal.store.store import Store

BINS: Final = 65_536  # bins of a histogram used to find values by rank; only the values in two of them are then compared
NOBODY: Final = Item("", datetime(1970, 1, 1, tzinfo=UTC))  # placeholder for each story in a part, where only its number matters
Column = Literal["at", "share"]


def part(views: Iterable[View], items: tuple[Item, ...]) -> Clicks:
    """Convert a part's views to columns. ``items`` are all stories."""
    clicks = to_columns(Log(views, items))
    return Clicks(clicks.readers, (NOBODY,) * len(items), clicks.published, clicks.reader, clicks.story, clicks.at, clicks.share)


@dataclass(frozen=True, slots=True)
class Size:
    """Statistics of a part: number of views and readers, sum of the stories' ages when viewed (hours), range of each column."""

    views: int
    readers: int
    ages: float
    bounds: dict[Column, tuple[float, float]]


def size(clicks: Clicks) -> Size:
    ages = np.maximum(0.0, clicks.at - clicks.published[clicks.story])
    bounds: dict[Column, tuple[float, float]] = {"at": _bounds(clicks.at), "share": _bounds(clicks.share)}
    return Size(len(clicks), len(np.unique(clicks.reader)), float(ages.sum()), bounds)


def _bounds(values: Floats) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else (np.inf, -np.inf)


def bins(clicks: Clicks, column: Column, bounds: tuple[float, float]) -> Ints:
    """Return the histogram of the values over :data:`BINS`."""
    return np.bincount(_bin(getattr(clicks, column), bounds), minlength=BINS)


def values_of(clicks: Clicks, column: Column, bounds: tuple[float, float], first: int, last: int) -> tuple[Floats, Ints]:
    """Return the distinct values in a range of bins with their counts."""
    values = getattr(clicks, column)
    number = _bin(values, bounds)
    distinct, counts = np.unique(values[(number >= first) & (number <= last)], return_counts=True)
    return distinct, counts.astype(np.int64)


def _bin(values: Floats, bounds: tuple[float, float]) -> Ints:
    low, high = bounds
    return np.minimum(((values - low) / max(high - low, 1e-300) * BINS).astype(np.int64), BINS - 1)


def ranked(pairs: Sequence[tuple[Floats, Ints]], below: int, ranks: Sequence[int]) -> list[float]:
    """Return the values of these ranks (0 is the smallest); ``below`` values are in earlier bins."""
    values, counts = (np.concatenate(column) for column in zip(*pairs, strict=True))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order]) + below
    return [float(values[order][np.searchsorted(ends, rank, side="right")]) for rank in ranks]


def totals(clicks: Clicks, moment: float) -> Floats:
    """Return p of every story with each half-life (the last is ∞) and d, a row each, for the views before ``moment``."""
    earlier = clicks.before(moment)
    popular = [formulas.popularity(earlier, moment, half_life) for half_life in HALF_LIVES]
    return np.array([*popular, neighbours.damping_of(earlier)])


Block = tuple[Ints, Ints, Floats]  # first and second stories, and a row of sums for each pair


def blocks(clicks: Clicks, moment: float, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Block]]:
    """Yield the sums of the pairs by number of the range of their first story."""
    earlier = clicks.before(moment)
    for number, (low, high) in enumerate(ranges):
        sums = neighbours.block_sums(earlier, low, high)
        if len(sums.first):
            yield number, (sums.first, sums.second, np.column_stack((sums.joint, sums.pairs, sums.after)))


def merged_sums(shares: Iterable[Block], damping: Floats, views: Floats) -> PairSums:
    """Add the sums of one range over all parts, keeping those needed by a table."""
    first, second, values = (np.concatenate(column) for column in zip(*shares, strict=True))
    first, second, value = neighbours.sum_pairs(first, second, values, len(views))
    return neighbours.prune_sums(PairSums(first, second, *value.T), damping, views)


Latest = tuple[float, str, Ints, Floats]
"""A reader: time of the latest view, name, latest stories in chronological order, and the share viewed of each."""


def latest(clicks: Clicks, moment: float) -> list[Latest]:
    """Return the part's most recent readers before ``moment``."""
    earlier = clicks.before(moment)
    starts = earlier.starts()
    readers = np.flatnonzero(np.diff(starts))
    order = readers[np.lexsort((readers, earlier.at[starts[readers + 1] - 1]))][-MAX_READERS:]
    bounds = ((reader, int(starts[reader]), int(starts[reader + 1])) for reader in order.tolist())
    spans = ((reader, end, slice(max(begin, end - MAX_ROW), end)) for reader, begin, end in bounds)
    return [(float(earlier.at[end - 1]), earlier.readers[reader], earlier.story[part], earlier.share[part]) for reader, end, part in spans]


def rows(readers: Iterable[Latest], stories: int) -> Rows:
    """Return the most recent readers of all parts."""
    order = sorted(readers, key=lambda reader: reader[:2])[-MAX_READERS:]
    counts = [len(story) for _, _, story, _ in order]
    story = np.concatenate([np.empty(0, dtype=np.int64), *(reader[2] for reader in order)])
    share = np.concatenate([np.empty(0), *(reader[3] for reader in order)])
    starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    return signals.index_rows(starts, story, share, np.repeat(np.arange(len(order)), counts), stories)


def names(clicks: Clicks, begin: float, end: float) -> list[str]:
    """Return the part's readers with views between two hours."""
    return [clicks.readers[reader] for reader in np.unique(clicks.reader[(clicks.at >= begin) & (clicks.at < end)]).tolist()]


def reader_views(clicks: Clicks, readers: frozenset[str]) -> list[tuple[str, ReaderViews]]:
    starts = clicks.starts()
    selected = [(name, slice(starts[number], starts[number + 1])) for number, name in enumerate(clicks.readers) if name in readers]
    return [(name, (clicks.at[rows], clicks.story[rows], clicks.share[rows])) for name, rows in selected]


DAYS: Final = 30
"""Days for which a story without views may be recommended: paper C counts its stories by month, and views come in the first days."""

LATE: Final = timedelta(days=3)
"""Maximum time from publication until a story is found, to be noticed between two fits; the next fit knows all of them."""


def items(readers: Readers, now: datetime, *, days: int = DAYS) -> Iterator[Item]:
    """Yield all items of a fit: stories of the last days, and every story that was viewed."""
    return map(item, readers.stories(now - timedelta(days=days)))


def new_items(readers: Readers, since: datetime) -> Iterator[Item]:
    return map(item, readers.stories(since - LATE, found=since, looked_at=False))


def item(offer: StoryOffer) -> Item:
    """Return the item of a story. Its words are those that detect reposts of photo stories (paper C, 2.2.3), each once."""
    return Item(offer.story, offer.published, tuple(unit_vector(offer.title, offer.text)), offer.labels)


EVERY: Final = 10_000  # views between two reports of progress


def fit(store: Store, now: datetime, *, since: datetime | None = None, days: int = DAYS, progress: Progress = ignore_progress) -> Fit:
    """Fit a model on all stored views (from ``since`` on), and activate it. Deletes expired views first. Raises ``StoreError``."""
    began = time.perf_counter()
    deleted = store.readers.prune_views(alpha=alpha_of(store), now=now)
    views, readers = store.readers.counts()
    tracked = with_progress(store.readers.views(since=since), views, progress)
    model = best.fit(Log(tracked, items(store.readers, now, days=days)), now)
    return save_fit(store, now, model, {"by": "embedded", "views": views, "readers": readers, "let_go": deleted}, began)


def save_fit(store: Store, now: datetime, model: best.Best, facts: Mapping[str, Any], began: float) -> Fit:
    """Save and activate a fit. ``began``: the value of ``time.perf_counter`` at its beginning."""
    record = Fit(now, {**model.facts, **facts, "seconds": round(time.perf_counter() - began, 3)}, model.pack())
    store.readers.save_fit(record)
    return record


def with_progress(views: Iterable[View], total: int, progress: Progress) -> Iterator[View]:
    number = 0
    for number, view in enumerate(views, 1):
        if number % EVERY == 0:
            progress(number / max(total, number), "views")
        yield view
    progress(1.0, "fit")


def alpha_of(store: Store) -> float:
    """Return the current α: that of the latest fit, else the paper's."""
    facts: Mapping[str, Any] = next((facts for _, facts in store.readers.fits()[:1]), {})
    return float(facts.get("alpha", ALPHA))
