"""Duplicate detection: which article repeats an earlier one. Pure; used by stores and the crawl, and independent of them.

A finder receives documents in time order and returns a verdict on each; adding one takes a module and a line in ``FINDERS``.
"""

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
}  # name → module of this package and its class; loaded on first use

THETA: Final = {"feature_string": "ratio", "cosine": "threshold"}  # method → name of its parameter θ


def finder(name: str, *, theta: float | None = None, days: float | None = None) -> Finder:
    """Create the finder called ``name``; ``days``: how far back it compares. Raises ``ValueError``, which lists the existing names."""
    if name not in FINDERS:
        raise ValueError(f"no finder of duplicates is called {name!r}; there are: {', '.join(FINDERS)}")
    options: dict[str, Any] = {} if theta is None else {THETA[name]: theta}
    options |= {} if days is None else {"span": timedelta(days=days)}
    instance: Finder = resolve_name(f"{__name__}.{FINDERS[name]}")(**options)
    return instance
