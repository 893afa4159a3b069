"""Find the sources behind a URL, best first, with few requests.

In this order, ending at the first good one unless ``everything`` is requested: the page itself; feeds that it declares or links to; feeds
at usual paths; sitemaps named by robots.txt or at usual paths; the page as a list page, forum or channel of pictures. With ``everything``,
the channels in its navigation too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urljoin

from newsportal.dedup.canonical import identity
from newsportal.errors import EgressDenied, FetchFailed, NewsportalError
from newsportal.extractors.feeds.sitemap import sitemaps_in_robots
from newsportal.extractors.lists.hub_urls import LONG_ID, Address
from newsportal.items import Page
from newsportal.messages import Message, Value
from newsportal.services.discovery import finders
from newsportal.services.discovery.finders import Kind, Proposal, is_good, rate
from newsportal.text import dom

Fetch = Callable[[str], Page]  # fetches a page politely. Raises EgressDenied or FetchFailed, including FetchRefused.
Robots = Callable[[str], bytes]  # returns the robots.txt of a URL's site, empty if there is none. Raises as Fetch does.
MAX_REQUESTS = 24  # per URL, including robots.txt. Most searches end after three.
MAX_FEEDS = 6  # feeds fetched of those named on a page; a page of feeds may name hundreds
MAX_LISTED = 3  # feeds fetched from a page that lists feeds
REPEATED = 0.8  # share of entries also listed by better sources from which a source is a duplicate
MAX_SITEMAPS = 4
MAX_CHANNELS = 4


class NoSource(NewsportalError):
    """Raised by :func:`find` if no readable source is found, with the code of the reason."""

    def __init__(self, code: str, **params: Value) -> None:
        super().__init__(Message("discovery.no-source", why=Message(code, **params)))

    @property
    def remedy(self) -> Message:
        return Message("remedy.no-source")


class FetchRefused(FetchFailed):
    """Raised by a ``Fetch`` that does not send the request: ``robots`` (forbidden by robots.txt), the reason why robots.txt could not be
    fetched, or ``enough`` (too many requests). The search continues without that page."""


@dataclass
class SourceSearch:
    """State of a search: fetched URLs, proposals found, and notes on failed requests."""

    fetch: Fetch
    now: datetime
    everything: bool = False
    found: list[Proposal] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)

    def page(self, url: str) -> Page | None:
        """Fetch a further page; ``None`` if that fails or it was fetched before."""
        if url in self.fetched:
            return None
        self.fetched.add(url)
        try:
            page = self.fetch(url)
        except (EgressDenied, FetchFailed) as error:
            self.notes.append(error.message)
            return None
        self.fetched.add(page.url)
        return page if page.status < 400 else None

    def add(self, proposal: Proposal | None) -> bool:
        """Add a proposal; return whether it is good enough to end the search."""
        if proposal is None or any(proposal.address == other.address and proposal.kind == other.kind for other in self.found):
            return False
        self.found.append(proposal)
        return not self.everything and is_good(proposal, self.now)


def find(
    url: str, fetch: Fetch, robots: Robots = lambda url: b"", *, everything: bool = False, only: Kind | None = None
) -> tuple[list[Proposal], list[Message]]:
    """Return the sources behind ``url``, best first, and notes on failed requests. ``robots``: used for the sitemaps of the site that
    ``url`` redirects to. ``only``: return this kind only, possibly none. Raises ``NoSource``; ``EgressDenied`` and ``FetchFailed`` if
    ``url`` itself cannot be fetched."""
    page = fetch(url)
    if page.status >= 400:
        raise NoSource("fetch.status", status=page.status)
    search = SourceSearch(fetch, page.fetched, everything, fetched={url, page.url})
    itself = finders.feed_of(page) or finders.sitemap_of(page)
    if itself is not None:
        return [(_with_newest_sitemap(itself, search) or itself) if _is_index(itself) else itself], search.notes
    for step in _steps(page, robots, search):
        if step:
            break
    if not search.found:
        raise NoSource("discovery.not-a-source", few=finders.MIN_ARTICLES)
    selected = [proposal for proposal in search.found if only in (None, proposal.kind)]
    return drop_overlapping(sorted(selected, key=lambda proposal: -proposal.score), search.notes), search.notes


def drop_overlapping(ranked: Sequence[Proposal], notes: list[Message]) -> list[Proposal]:
    """Remove sources whose entries are nearly all listed by a better one, and add ``notes`` about them."""
    unique: list[Proposal] = []
    identities: set[str] = set()
    for proposal in ranked:
        names = {identity(link.url) for link in proposal.links}
        repeats = len(names & identities)
        if names and repeats >= REPEATED * len(names):
            notes.append(Message("trial.duplicate-list", url=proposal.address, again=repeats, number=len(names)))
        else:
            unique.append(proposal)
            identities |= names
    return unique


def _steps(page: Page, robots: Robots, search: SourceSearch) -> Iterator[bool]:
    """Try one finder after another, yielding true once a good source is found."""
    document = dom.document(page)
    root = urljoin(page.url, "/")
    for url in finders.feed_addresses(document)[:MAX_FEEDS]:
        yield _feed(url, search)
    if _is_article(page.url) and page.url != root and (front := search.page(root)) is not None:
        search.notes.append(Message("trial.article", url=page.url))
        page, document = front, dom.document(front)
        for url in finders.feed_addresses(document)[:MAX_FEEDS]:
            yield _feed(url, search)
    forum = finders.forum_of(page, document)
    yield search.add(forum)
    for url in (urljoin(root, path) for path in finders.USUAL_FEEDS):
        yield _feed(url, search, "found.feed-at-usual-url")
    yield from _sitemaps(root, robots, search)
    if forum is None and not _is_article(page.url):  # boxes next to an article are not a list
        search.add(finders.gallery_of(page, document))
        search.add(finders.region_of(page, document))
    if search.everything:
        for url, name in finders.channels(document, MAX_CHANNELS):
            if (channel := search.page(url)) is not None:
                search.add(finders.region_of(channel, dom.document(channel), Message("found.channel", name=name)))
    yield True


def _feed(url: str, search: SourceSearch, code: str = "found.feed-declared") -> bool:
    """Try a feed by its URL, or the feeds listed on the page there."""
    page = search.page(url)
    if page is None:
        return False
    found = finders.feed_of(page, Message(code))
    if found is not None:
        return search.add(found)
    if code == "found.feed-at-usual-url":  # a page returned for every missing URL
        return False
    for feed_url in finders.feed_addresses(dom.document(page))[:MAX_LISTED]:
        inner = search.page(feed_url)
        if inner is not None and search.add(finders.feed_of(inner, Message("found.feed-listed"))):
            return True
    return False


def _sitemaps(root: str, robots: Robots, search: SourceSearch) -> Iterator[bool]:
    """Try the sitemaps named by robots.txt, news first, else those at usual paths. Of an index, the newest sitemap is read."""
    try:
        text = robots(root)
    except (EgressDenied, FetchFailed) as error:
        search.notes.append(error.message)
        return
    urls = sorted(sitemaps_in_robots(text, root), key=lambda url: "news" not in url.lower())
    usual = [urljoin(root, path) for path in finders.USUAL_SITEMAPS]
    reason = Message("found.sitemap-in-robots" if urls else "found.sitemap-at-usual-url")
    for url in (urls or usual)[:MAX_SITEMAPS]:
        page = search.page(url)
        found = finders.sitemap_of(page, reason) if page else None
        yield search.add(_with_newest_sitemap(found, search) if found and _is_index(found) else found)


def _is_index(found: Proposal) -> bool:
    return any(reason.code == "found.index" for reason in found.reasons)


def _with_newest_sitemap(index: Proposal, search: SourceSearch) -> Proposal | None:
    """Return an index with the current entries of its newest sitemap."""
    newest = next((link.url for link in index.links if link.url not in search.fetched), None)  # an index may list itself
    page = search.page(newest) if newest else None
    inside = finders.sitemap_of(page) if page else None
    if inside is None:
        return None
    reasons = (*index.reasons, Message("found.index-newest", number=inside.entries))
    return rate(replace(index, entries=inside.entries, links=inside.links, reasons=reasons), search.now)


def _is_article(url: str) -> bool:
    """Return whether a URL is that of an article, or of a thread of a forum."""
    address = Address(url)
    folder = address.parts.path.endswith("/") and not address.query
    return address.thread_form is not None or (not folder and (address.dated or address.last_id >= LONG_ID))
