"""Extractors of forum posts: a thread's page in, its posts out. Pure.

An extractor of posts is ``extract(document, now) -> tuple[Post, ...]``; adding one is one module and one line in ``POSTERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pkgutil import resolve_name
from typing import Final

from newsportal.items import Post
from newsportal.text.dom import Document

Extract = Callable[[Document, datetime], tuple[Post, ...]]  # ``now`` (aware) is when the page was fetched. Raises ``NotApplicable``
# Name → module of this package and its function, loaded on first use.
POSTERS: Final[dict[str, str]] = {"best": "best:extract", "pean": "pean:extract", "mibat": "mibat:extract"}


def poster(name: str) -> Extract:
    """Return the extractor of posts called ``name``. Raises ``ValueError``, which lists the names."""
    if name not in POSTERS:
        raise ValueError(f"no algorithm for posts is called {name!r}; there are: {', '.join(POSTERS)}")
    extract: Extract = resolve_name(f"{__name__}.{POSTERS[name]}")
    return extract
