"""Extractors: a page in, an article out. Pure; Scrapy, stores and the network know them, never the other way round.

An extractor is ``extract(document, link, fetched) -> Extraction``; adding one is one module and one line in ``EXTRACTORS``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Final

from newsportal.dom import Document
from newsportal.items import Extraction, Link

Extract = Callable[[Document, Link | None, datetime], Extraction]
"""``link`` is what a list page said of the article, ``fetched`` (aware) when the page was read. Raises ``NotApplicable``."""

EXTRACTORS: Final[dict[str, str]] = {"best": "best:extract", "cevc": "cevc:extract"}
"""Name → module of this package and its function; loaded when it is asked for."""


def extractor(name: str) -> Extract:
    """The extractor called ``name``. Raises ``ValueError`` that lists the names there are."""
    if name not in EXTRACTORS:
        raise ValueError(f"no extraction algorithm is called {name!r}; there are: {', '.join(EXTRACTORS)}")
    module, _, function = EXTRACTORS[name].partition(":")
    found: Extract = getattr(import_module(f"{__name__}.{module}"), function)
    return found
