"""What the portal suggests as new sources: counted over a sample of the stored articles, once an hour at most."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Any

from newsportal.discovery.suggestions import Counting, Suggestion
from newsportal.store.store import Store

SAMPLE = 2_000
"""Articles. The store gives them by id, which is a hash, so the first ones are a fair sample; they take about half a second."""

SECONDS = 3600.0
SHOWN = 30
KINDS = ("feeds", "sitemaps", "regions", "forums", "galleries")


class Suggesting:
    """The suggestions over a store, at most ``SECONDS`` old. Called from several threads; one of them counts."""

    def __init__(self, store: Store, sources: object) -> None:
        self._store = store
        self._visited = tuple(_addresses(sources))
        self._lock = Lock()
        self._made: tuple[float, list[Suggestion]] | None = None

    def follow(self, sources: object) -> None:
        """``sources.yaml`` was changed: what it visits now is no suggestion."""
        visited = tuple(_addresses(sources))
        with self._lock:
            if visited != self._visited:
                self._visited, self._made = visited, None

    def suggestions(self) -> list[Suggestion]:
        """Raises ``StoreError``."""
        with self._lock:
            if self._made is None or monotonic() - self._made[0] > SECONDS:
                counting = Counting(self._visited)
                for article in islice(self._store.all_articles(), SAMPLE):
                    counting.take(article)
                self._made = (monotonic(), counting.suggestions(SHOWN))
            return self._made[1]


def _addresses(sources: object) -> Iterator[str]:
    for kind in KINDS:
        source: Any
        for source in getattr(sources, kind, ()):
            yield from getattr(source, "seeds", ()) or (source.url,)
