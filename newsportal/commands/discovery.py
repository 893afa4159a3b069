"""What kind of source stands behind an address: a feed, a page that names its feed, or a list page of articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from newsportal import dom
from newsportal.commands.trial import Fetch
from newsportal.errors import EgressDenied, FetchFailed, NewsportalError, NotApplicable
from newsportal.extractors import feed, hub
from newsportal.items import Page
from newsportal.sources.values import CONTROL, MAX_NAME_CHARS
from newsportal.text import clean

MIN_ARTICLES = 5
"""A page with fewer links to articles is no list page."""

MOST = 0.8
"""The share of the articles that must lie below a folder for it to be the region's prefix."""

MAX_FEEDS = 3
"""Feeds of a page that are tried."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A source that works right now: ``values`` is its entry in ``sources.yaml``."""

    kind: Literal["feeds", "regions", "forums", "galleries"]
    values: dict[str, str]
    entries: int


class NoSource(NewsportalError):
    """Raised by :func:`propose` when neither feed nor list page stands behind the address. The command prints it."""


def propose(url: str, fetch: Fetch) -> Proposal:
    """The feed at ``url``, else the first working feed that the page names, else the page as a list page.

    Raises ``NoSource``, ``EgressDenied``, ``FetchFailed``.
    """
    page = fetch(url)
    if page.status >= 400:
        raise NoSource(f"{url}: the server answers {page.status}")
    found = _feed(page)
    if found is not None:
        return found
    document = dom.document(page)
    for address in feed.discover(document)[:MAX_FEEDS]:
        found = _fetched_feed(address, fetch)
        if found is not None:
            return found
    return _region(page, document)


def free_name(wished: str, taken: Collection[str]) -> str:
    """``wished`` as a name that may be used: without slashes and control characters, not too long, and not taken."""
    plain = clean(CONTROL.sub(" ", wished).replace("/", "-"))[: MAX_NAME_CHARS - 4] or "source"
    numbered = (f"{plain} {number}" for number in range(2, len(taken) + 3))
    return plain if plain not in taken else next(name for name in numbered if name not in taken)


def _fetched_feed(url: str, fetch: Fetch) -> Proposal | None:
    try:
        return _feed(fetch(url))
    except (EgressDenied, FetchFailed):
        return None


def _feed(page: Page) -> Proposal | None:
    try:
        found = feed.parse(page.body, page.url, page.content_type, page.fetched)
    except NotApplicable:
        return None
    name = found.title or urlsplit(page.url).hostname or page.url
    return Proposal("feeds", {"name": name, "url": page.url}, len(found.entries))


def _region(page: Page, document: dom.Document) -> Proposal:
    host = urlsplit(page.url).hostname
    articles = [link.url for link in hub.links(document) if link.kind == "article" and urlsplit(link.url).hostname == host]
    if len(articles) < MIN_ARTICLES:
        why = f"{page.url} is no feed, names none, and has only {len(articles)} links to articles of its own"
        raise NoSource(f"{why}; for a list of photo stories add --gallery, for a forum --forum")
    prefix = common_folder(articles)
    values = {"name": _title(document) or host or page.url, "prefix": prefix}
    return Proposal("regions", values if prefix == page.url else {**values, "seeds": page.url}, len(articles))


def common_folder(urls: Collection[str]) -> str:
    """The deepest first folder that most of ``urls`` share (``https://a.example/news/``), else their site's root."""
    parts = [urlsplit(url) for url in urls]
    root = f"{parts[0].scheme}://{parts[0].netloc}/"
    firsts = Counter(part.path.split("/")[1] for part in parts if part.path.count("/") > 1)
    name, number = max(firsts.items(), key=lambda item: item[1], default=("", 0))
    return f"{root}{name}/" if name and not name.isdigit() and number >= MOST * len(parts) else root


def _title(document: dom.Document) -> str | None:
    title = next(iter(document.css("title")), None)
    return clean(title.text or "") or None if title is not None else None
