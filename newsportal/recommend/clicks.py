"""The log as columns of numbers, the input of all methods. Readers and stories are numbered in the order of their names."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.recommend.base import Item, Log, View

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

HOUR_SECONDS: Final = 3600.0

ROUNDING_STEP: Final = 2.0**-30
"""Values summed over views are rounded to multiples of this. Sums of such values below 2²³ are exact (a float has 53 bits), so they do not
depend on the order or the number of machines. It allows 8 million views per story at nine decimals."""


def hours(moment: datetime) -> float:
    return moment.timestamp() / HOUR_SECONDS


@dataclass(frozen=True, slots=True, eq=False)
class Clicks:
    """Views as columns, ordered by reader, time and story; a reader's views of one story are one row (latest time, largest share).
    ``names`` and ``items`` are sorted by story, ``readers`` by name; ``published`` has an entry per story, the other columns one per view.
    ``share`` is w_c / w_s (paper C, section 2.3.1)."""

    readers: tuple[str, ...]
    items: tuple[Item, ...]
    published: Floats
    reader: Ints
    story: Ints
    at: Floats
    share: Floats

    def __len__(self) -> int:
        return len(self.reader)

    @property
    def stories(self) -> int:
        return len(self.items)

    def starts(self) -> Ints:
        """Return the offset of each reader's first view, with a final entry for the end."""
        return np.searchsorted(self.reader, np.arange(len(self.readers) + 1))

    def before(self, moment: float) -> Clicks:
        """Return the views before ``moment``. Stories keep their numbers; those published later have no views."""
        early = self.at < moment
        return Clicks(self.readers, self.items, self.published, self.reader[early], self.story[early], self.at[early], self.share[early])


def to_columns(log: Log) -> Clicks:
    """Convert the log to columns. Views of unknown stories are ignored; shares are clipped to 0 … 1."""
    items = tuple(sorted({item.story: item for item in log.items}.values(), key=lambda item: item.story))
    numbers = {item.story: number for number, item in enumerate(items)}
    reader_numbers: dict[str, int] = {}
    integers, floats = (array("q"), array("q")), (array("d"), array("d"))  # arrays of numbers: millions of views in little memory
    for view in log.views:
        if (story := numbers.get(view.story)) is not None:
            integers[0].append(reader_numbers.setdefault(view.reader, len(reader_numbers)))
            integers[1].append(story)
            floats[0].append(hours(view.at))
            floats[1].append(share(view))
    readers = tuple(sorted(reader_numbers))
    ranks = np.empty(len(reader_numbers), dtype=np.int64)
    ranks[[reader_numbers[name] for name in readers]] = np.arange(len(reader_numbers))
    reader, story_column = (np.array(column, dtype=np.int64) for column in integers)
    at, shares = (np.array(column, dtype=np.float64) for column in floats)
    published = np.array([hours(item.published) for item in items], dtype=np.float64)
    return Clicks(readers, items, published, *_once(ranks[reader], story_column, at, shares))


def _once(reader: Ints, story: Ints, at: Floats, share: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Merge rows of the same reader and story: latest time, largest share; ordered by reader, time, story."""
    order = np.lexsort((at, story, reader))
    reader, story, at, share = reader[order], story[order], at[order], share[order]
    first = np.ones(len(reader), dtype=bool)
    first[1:] = (reader[1:] != reader[:-1]) | (story[1:] != story[:-1])
    starts = np.flatnonzero(first)
    if len(starts):
        at, share = np.maximum.reduceat(at, starts), np.maximum.reduceat(share, starts)
        reader, story = reader[starts], story[starts]
    order = np.lexsort((story, at, reader))
    return reader[order], story[order], at[order], share[order]


def round_sums(values: Floats) -> Floats:
    """Round to multiples of :data:`ROUNDING_STEP`, so that sums do not depend on the order."""
    return np.asarray(np.round(values / ROUNDING_STEP) * ROUNDING_STEP, dtype=np.float64)


def share(view: View) -> float:
    """Return w_c / w_s of a view: an article without pictures is one of one."""
    return min(1.0, max(0, view.seen) / max(1, view.pictures))
