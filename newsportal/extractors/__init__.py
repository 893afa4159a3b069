"""Extractors: a page in, an article out. Pure; Scrapy, stores and the network know them, never the other way round.

An extractor is ``extract(document, link, fetched) -> Extraction``; adding one is one module and one line in ``EXTRACTORS``.
One that remembers something of the pages it has seen is a class: an instance is called like a function and is used for a whole run.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any, Final, Protocol, runtime_checkable

from newsportal.items import Extraction, Link
from newsportal.text.dom import Document

# ``link`` is what a list page said of the article, ``fetched`` (aware) when the page was read. Raises ``NotApplicable``.
Extract = Callable[[Document, Link | None, datetime], Extraction]
EXTRACTORS: Final[dict[str, str]] = {
    "best": "article.best:Best",
    "cevc": "papers.cevc:extract",
    "cetd": "papers.cetd:extract",
    "cetd_threshold": "papers.cetd:extract_with_threshold",
    "cepr": "papers.cepr:extract",
    "cetr": "papers.cetr:extract",
    "table_stats": "papers.table_stats:extract",
    "summary_anchor": "papers.summary_anchor:SummaryAnchor",
    "url_tree": "papers.url_tree:UrlTree",
}  # Name → module of this package and its function or class; loaded when it is asked for

ANY_PAGE: Final = {"best": "article.any_page:AnyPage"}  # What stands in for an extractor of articles where pages of any kind are read


@runtime_checkable
class Learner(Protocol):
    """An extractor that knows a site better the more of its pages it has seen. Its methods may be called from several threads."""

    def learn(self, document: Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        """Take the page in without an answer; ``found`` is the article on it, where it has been read. Never raises for a bad page."""

    def __call__(self, document: Document, link: Link | None, fetched: datetime) -> Extraction: ...


@runtime_checkable
class Keeper(Learner, Protocol):
    """A learner whose knowledge can be kept from run to run."""

    def saved(self) -> str:
        """What was learnt, as text that :meth:`restore` takes."""

    def restore(self, text: str) -> None:
        """Go on from there. Raises an error of ``newsportal.errors`` for a text that :meth:`saved` did not write."""


def described(package: str, name: str) -> Any:
    """What the YAML file called ``name`` beside the modules of ``package`` says."""
    import yaml  # when it is asked for

    return yaml.load((files(package) / name).read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe


def extractor(name: str, *, any_page: bool = False, **options: Any) -> Extract:
    """The extractor called ``name`` with its parameters; a fresh one where it remembers pages. Raises ``ValueError`` with the names.

    The crawl's ``best`` refuses what is no article; with ``any_page`` it reads the main content of pages of any kind, and names the kind.
    """
    if name not in EXTRACTORS:
        raise ValueError(f"no extraction algorithm is called {name!r}; there are: {', '.join(EXTRACTORS)}")
    found = resolve_name(f"{__name__}.{ANY_PAGE.get(name, EXTRACTORS[name]) if any_page else EXTRACTORS[name]}")
    made: Extract = found(**options) if isinstance(found, type) else partial(found, **options) if options else found
    return made
