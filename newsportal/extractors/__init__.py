"""Extractors turn a page into an article. They are pure: Scrapy, stores and the network depend on them, never the reverse.

An extractor is ``extract(document, link, fetched) -> Extraction``; adding one is one module and one line in ``EXTRACTORS``. A stateful
extractor is a class: its instance is called like a function and is used for a whole run.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from importlib.resources import files
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

from newsportal.items import Extraction, Link

if TYPE_CHECKING:
    from newsportal.text.dom import Document

# ``link`` holds what a list page said about the article; ``fetched`` (aware) is when the page was fetched. Raises ``NotApplicable``.
Extract: TypeAlias = "Callable[[Document, Link | None, datetime], Extraction]"
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
}  # Name → module of this package and its function or class, loaded on first use

ANY_PAGE: Final = {"best": "article.any_page:AnyPage"}  # Replaces an extractor of articles when pages of any kind are read


@runtime_checkable
class Learner(Protocol):
    """An extractor that improves with every page of a site that it sees. Its methods may be called from several threads."""

    def learn(self, document: Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        """Learn from a page; ``found`` is the article on it, if already extracted. Never raises for a bad page."""

    def __call__(self, document: Document, link: Link | None, fetched: datetime) -> Extraction: ...


@runtime_checkable
class PersistentLearner(Learner, Protocol):
    """A learner whose state can be saved between runs."""

    def dump(self) -> str:
        """Return the learned state as text for :meth:`restore`."""

    def restore(self, text: str) -> None:
        """Load a state written by :meth:`dump`. Raises an error of ``newsportal.errors`` for any other text."""


def load_yaml(package: str, name: str) -> Any:
    import yaml  # loaded late

    return yaml.load((files(package) / name).read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe


def extractor(name: str, *, any_page: bool = False, **options: Any) -> Extract:
    """Return the extractor called ``name``; a new instance if it is stateful. Raises ``ValueError``, which lists the names.

    The crawl's ``best`` rejects pages that are not articles; with ``any_page`` it reads, and names, any kind of page.
    """
    if name not in EXTRACTORS:
        raise ValueError(f"no extraction algorithm is called {name!r}; there are: {', '.join(EXTRACTORS)}")
    target = resolve_name(f"{__name__}.{ANY_PAGE.get(name, EXTRACTORS[name]) if any_page else EXTRACTORS[name]}")
    extract: Extract = target(**options) if isinstance(target, type) else partial(target, **options) if options else target
    return extract
