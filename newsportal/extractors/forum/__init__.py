"""Extractors of forum posts: a thread's page in, its posts out. Pure.

An extractor of posts is ``extract(document, now) -> tuple[Post, ...]``; adding one is one module and one line in ``POST_EXTRACTORS``.
"""

from collections.abc import Callable
from datetime import datetime
from pkgutil import resolve_name
from typing import Final

from newsportal.items import Post
from newsportal.text.dom import Document

Extract = Callable[[Document, datetime], tuple[Post, ...]]  # ``now`` (aware) is when the page was fetched. Raises ``NotApplicable``
# Name → module of this package and its function, loaded on first use.
POST_EXTRACTORS: Final[dict[str, str]] = {"best": "best:extract", "pean": "pean:extract", "mibat": "mibat:extract"}


def post_extractor(name: str) -> Extract:
    """Return the extractor of posts called ``name``. Raises ``ValueError``, which lists the names."""
    if name not in POST_EXTRACTORS:
        raise ValueError(f"no algorithm for posts is called {name!r}; there are: {', '.join(POST_EXTRACTORS)}")
    extract: Extract = resolve_name(f"{__name__}.{POST_EXTRACTORS[name]}")
    return extract
