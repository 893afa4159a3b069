"""Stories as items: what may be recommended, and what is known of what was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from newsportal.dedup.cosine import unit_vector
from newsportal.recommend.base import Item
from newsportal.store.readers import Readers, StoryOffer

DAYS: Final = 30
"""Days back from which a story may be recommended that nobody looked at: paper C counts its stories by the month, and clicks come in the
first days."""

LATE: Final = timedelta(days=3)
"""Stories are found so long after they were published, at most, to be noticed between two fits; the next fit knows all of them."""


def items(readers: Readers, now: datetime, *, days: int = DAYS) -> Iterator[Item]:
    """All that a fit may speak of: the stories of the last days, and whatever somebody looked at."""
    return map(item, readers.stories(now - timedelta(days=days)))


def new_items(readers: Readers, since: datetime) -> Iterator[Item]:
    """The stories that were found since a fit."""
    return map(item, readers.stories(since - LATE, found=since, looked_at=False))


def item(told: StoryOffer) -> Item:
    """The item of a story. Its words are those that tell reposts of photo stories apart (paper C, 2.2.3), each once."""
    return Item(told.story, told.published, tuple(unit_vector(told.title, told.text)), told.labels)
