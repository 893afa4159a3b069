"""Which sources stand behind an address, best first, with as few requests as will do.

In this order, ending at the first good one unless everything is asked for: what the page itself is; the feeds that it declares or links
to; feeds at their usual places; the sitemaps that robots.txt names or that lie at their usual places; what the page is as a list page,
forum or channel of pictures. With ``everything``, the channels of its navigation too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urljoin

from newsportal.dedup.canonical import identity
from newsportal.errors import EgressDenied, FetchFailed, NewsportalError
from newsportal.extractors.feeds.sitemap import named_in
from newsportal.extractors.lists.hub_urls import LONG_ID, Address
from newsportal.items import Page
from newsportal.messages import Message, Value
from newsportal.services.discovery import finders
from newsportal.services.discovery.finders import Kind, Proposal, is_good, rated
from newsportal.text import dom

Fetch = Callable[[str], Page]  # a page by its URL, politely. Raises EgressDenied or FetchFailed, of which FetchRefused is one.
Robots = Callable[[str], bytes]  # the robots.txt of the site of a URL, empty where there is none. Raises as a Fetch does.
MAX_REQUESTS = 24  # for one address, robots.txt included. Most end after three.
MAX_FEEDS = 6  # feeds that a page names and that are fetched; a page of feeds may name hundreds
MAX_LISTED = 3  # feeds of a page that lists feeds
REPEATED = 0.8  # the share of entries that better sources list as well, from which a source brings too little of its own
MAX_SITEMAPS = 4
MAX_CHANNELS = 4


class NoSource(NewsportalError):
    """Raised by :func:`find` when nothing that can be read regularly stands behind an address, with the code of why."""

    def __init__(self, code: str, **params: Value) -> None:
        super().__init__(Message("find.no-source", why=Message(code, **params)))

    @property
    def remedy(self) -> Message:
        return Message("remedy.no-source")


class FetchRefused(FetchFailed):
    """Raised by a ``Fetch`` that will not ask: ``robots`` (robots.txt forbids it), the reason why robots.txt could not be fetched, or
    ``enough`` (so many requests were made). The search goes on without that page."""


@dataclass
class SourceSearch:
    """One search: what was asked for already, what was found, and what could not be looked at."""

    fetch: Fetch
    now: datetime
    everything: bool = False
    found: list[Proposal] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    fetched: set[str] = field(default_factory=set)

    def page(self, url: str) -> Page | None:
        """A further page, if it can be had and was not asked for before."""
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

    def take(self, proposal: Proposal | None) -> bool:
        """Whether it is good enough to end the search."""
        if proposal is None or any(proposal.address == one.address and proposal.kind == one.kind for one in self.found):
            return False
        self.found.append(proposal)
        return not self.everything and is_good(proposal, self.now)


def find(
    url: str, fetch: Fetch, robots: Robots = lambda url: b"", *, everything: bool = False, only: Kind | None = None
) -> tuple[list[Proposal], list[Message]]:
    """The sources behind ``url``, best first, and notes on what could not be looked at. ``robots``: asked for the sitemaps of the site to
    which ``url`` leads. ``only``: sources of this kind alone, which may be none.

    Raises ``NoSource``; ``EgressDenied`` and ``FetchFailed`` if the address itself cannot be had.
    """
    page = fetch(url)
    if page.status >= 400:
        raise NoSource("fetch.status", status=page.status)
    looking = SourceSearch(fetch, page.fetched, everything, fetched={url, page.url})
    itself = finders.feed_of(page) or finders.sitemap_of(page)
    if itself is not None:
        return [(_seen_through(itself, looking) or itself) if _is_index(itself) else itself], looking.notes
    for step in _steps(page, robots, looking):
        if step:
            break
    if not looking.found:
        raise NoSource("find.nothing", few=finders.MIN_ARTICLES)
    wanted = [one for one in looking.found if only in (None, one.kind)]
    return distinct(sorted(wanted, key=lambda one: -one.score), looking.notes), looking.notes


def distinct(ranked: Sequence[Proposal], notes: list[Message]) -> list[Proposal]:
    """Without those that list hardly anything which a better one does not list, too; ``notes`` tells of them."""
    kept: list[Proposal] = []
    listed: set[str] = set()
    for one in ranked:
        names = {identity(link.url) for link in one.links}
        again = len(names & listed)
        if names and again >= REPEATED * len(names):
            notes.append(Message("look.repeats", url=one.address, again=again, number=len(names)))
        else:
            kept.append(one)
            listed |= names
    return kept


def _steps(page: Page, robots: Robots, looking: SourceSearch) -> Iterator[bool]:
    """Look at one thing after another; true once a good source is found."""
    document = dom.document(page)
    root = urljoin(page.url, "/")
    for url in finders.feed_addresses(document)[:MAX_FEEDS]:
        yield _feed(url, looking)
    if _is_article(page.url) and page.url != root and (front := looking.page(root)) is not None:
        looking.notes.append(Message("look.article", url=page.url))
        page, document = front, dom.document(front)
        for url in finders.feed_addresses(document)[:MAX_FEEDS]:
            yield _feed(url, looking)
    forum = finders.forum_of(page, document)
    yield looking.take(forum)
    for url in (urljoin(root, path) for path in finders.USUAL_FEEDS):
        yield _feed(url, looking, "found.feed-usual")
    yield from _sitemaps(root, robots, looking)
    if forum is None and not _is_article(page.url):  # the boxes beside an article are no list
        looking.take(finders.gallery_of(page, document))
        looking.take(finders.region_of(page, document))
    if looking.everything:
        for url, called in finders.channels(document, MAX_CHANNELS):
            if (channel := looking.page(url)) is not None:
                looking.take(finders.region_of(channel, dom.document(channel), Message("found.channel", name=called)))
    yield True


def _feed(url: str, looking: SourceSearch, why: str = "found.feed-named") -> bool:
    """A feed by its address, or those of the page of feeds that stands there."""
    page = looking.page(url)
    if page is None:
        return False
    found = finders.feed_of(page, Message(why))
    if found is not None:
        return looking.take(found)
    if why == "found.feed-usual":  # a page that answers for all that is missing
        return False
    for listed in finders.feed_addresses(dom.document(page))[:MAX_LISTED]:
        inner = looking.page(listed)
        if inner is not None and looking.take(finders.feed_of(inner, Message("found.feed-listed"))):
            return True
    return False


def _sitemaps(root: str, robots: Robots, looking: SourceSearch) -> Iterator[bool]:
    """Those that robots.txt names, news first; else those at the usual places. Of an index, its newest sitemap is looked at."""
    try:
        text = robots(root)
    except (EgressDenied, FetchFailed) as error:
        looking.notes.append(error.message)
        return
    named = sorted(named_in(text, root), key=lambda url: "news" not in url.lower())
    usual = [urljoin(root, path) for path in finders.USUAL_SITEMAPS]
    why = Message("found.sitemap-named" if named else "found.sitemap-usual")
    for url in (named or usual)[:MAX_SITEMAPS]:
        page = looking.page(url)
        found = finders.sitemap_of(page, why) if page else None
        yield looking.take(_seen_through(found, looking) if found and _is_index(found) else found)


def _is_index(found: Proposal) -> bool:
    return any(why.code == "found.index" for why in found.why)


def _seen_through(index: Proposal, looking: SourceSearch) -> Proposal | None:
    """An index with what its newest sitemap lists now."""
    newest = next((link.url for link in index.links if link.url not in looking.fetched), None)  # an index may name itself
    page = looking.page(newest) if newest else None
    inside = finders.sitemap_of(page) if page else None
    if inside is None:
        return None
    why = (*index.why, Message("found.index-newest", number=inside.entries))
    return rated(replace(index, entries=inside.entries, links=inside.links, why=why), looking.now)


def _is_article(url: str) -> bool:
    """Whether an address is that of one article, or of one thread of a forum."""
    address = Address(url)
    folder = address.parts.path.endswith("/") and not address.query
    return address.thread_form is not None or (not folder and (address.dated or address.last_id >= LONG_ID))
