"""How much of what a source would bring is stored already, and who brought it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from newsportal.dedup.canonical import identity
from newsportal.errors import StoreError
from newsportal.items import Link
from newsportal.sources import Sources
from newsportal.store import open_store

ASKED = 50
"""Entries that are looked up."""

NAMED = 10
"""Stored ones whose source is asked for."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """``stored`` of ``asked`` entries are known; ``by``: the sources that brought the first of them, the one of most first."""

    asked: int
    stored: int
    by: tuple[str, ...] = ()

    def told(self) -> str:
        brought = f", by {', '.join(self.by)}" if self.by else ""
        return f"{self.stored} of {self.asked} entries are stored already{brought}"

    def plain(self) -> dict[str, Any]:
        return {"asked": self.asked, "stored": self.stored, "by": list(self.by)}


def overlap(known: Sources, links: Sequence[Link]) -> Overlap | None:
    """``None`` if there is no store yet, or it cannot be asked: adding a source does not need it."""
    names = list(dict.fromkeys(identity(link.url) for link in links[:ASKED]))
    try:
        with closing(open_store(known.store, create=False)) as store:
            there = store.known(names)
            stored = [name for name in names if name in there]
            articles = [one for name in stored[:NAMED] for one in store.declared_by(name)[:1]]
    except StoreError:
        return None
    by = Counter(article.source for article in articles)
    return Overlap(len(names), len(there), tuple(source for source, _ in by.most_common(3)))
