"""Duplicates: which article repeats an earlier one. Pure; stores and the crawl know it, never the other way round.

A finder is fed documents in time order and gives a verdict on each; adding one is one module and one line in ``FINDERS``.
"""

from __future__ import annotations

from datetime import timedelta
from pkgutil import resolve_name
from typing import Any, Final

from newsportal.dedup.document import Finder

FINDERS: Final[dict[str, str]] = {
    "trie": "trie:UrlTrie",
    "title_index": "title_index:TitleIndex",
    "feature_string": "feature_string:FeatureStrings",
    "cosine": "cosine:Cosine",
    "judge": "judge:Judge",
}  # name → module of this package and its class; loaded when it is asked for

THETA: Final = {"feature_string": "ratio", "cosine": "threshold"}  # method → its parameter θ


def finder(name: str, *, theta: float | None = None, days: float | None = None) -> Finder:
    """A fresh finder called ``name``; ``days``: how far back it compares. Raises ``ValueError`` that lists the names there are."""
    if name not in FINDERS:
        raise ValueError(f"no finder of duplicates is called {name!r}; there are: {', '.join(FINDERS)}")
    options: dict[str, Any] = {} if theta is None else {THETA[name]: theta}
    options |= {} if days is None else {"span": timedelta(days=days)}
    made: Finder = resolve_name(f"{__name__}.{FINDERS[name]}")(**options)
    return made
