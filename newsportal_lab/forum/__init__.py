"""Readers of a thread's posts by name: the one that the crawl runs, and the methods of the papers that it is compared with.

A reader is ``extract(document, now) -> tuple[Post, ...]``; adding one is one module and one line in ``POSTERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Final

from newsportal.items import Post
from newsportal.text.dom import Document

Extract = Callable[[Document, datetime], tuple[Post, ...]]  # the time (aware) is when the page was read. Raises ``NotApplicable``
# Name → module and its function; loaded when it is asked for.
POSTERS: Final[dict[str, str]] = {
    "best": "newsportal.extractors.forum.best:extract",
    "pean": "newsportal_lab.forum.pean:extract",
    "mibat": "newsportal_lab.forum.mibat:extract",
}


def poster(name: str) -> Extract:
    """The reader of posts called ``name``. Raises ``ValueError`` that lists the names there are."""
    if name not in POSTERS:
        raise ValueError(f"no algorithm for posts is called {name!r}; there are: {', '.join(POSTERS)}")
    module, _, attribute = POSTERS[name].partition(":")
    found: Extract = getattr(import_module(module), attribute)
    return found
