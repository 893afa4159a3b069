"""How many stories a topic had lately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from newsportal.store.store import Store

WEEK: Final = timedelta(days=7)
MONTH: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Lately:
    """Stories of the last 7 and 30 days."""

    week: int
    month: int


def counts(store: Store, topics: Iterable[str], now: datetime) -> dict[str, Lately]:
    """Topic → how many stories it had lately. Raises ``StoreError``."""
    return {topic: Lately(store.stories_since(topic, now - WEEK), store.stories_since(topic, now - MONTH)) for topic in topics}
