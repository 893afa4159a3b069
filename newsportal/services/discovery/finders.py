"""Proposals of sources and their score; and detection of what a fetched page is as a source: a feed, a sitemap, a list page, a forum, photo
stories. Pure; each detector returns a proposal or ``None``."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urljoin, urlsplit

from newsportal.errors import NotApplicable
from newsportal.extractors.feeds import feed, sitemap
from newsportal.extractors.feeds.sitemap import choose_entries
from newsportal.extractors.fields.published import url_date
from newsportal.extractors.forum import addresses, kinds
from newsportal.extractors.gallery.page import GalleryEntry
from newsportal.extractors.gallery.page import find_entries as stories
from newsportal.extractors.lists import hub
from newsportal.extractors.lists.hub_urls import BOARD, MEDIA_WORDS, Address
from newsportal.items import Link, Page
from newsportal.messages import Message
from newsportal.text import clean, dom

Kind = Literal["feeds", "sitemaps", "regions", "forums", "galleries"]

WORTH: dict[Kind, float] = {"feeds": 1.0, "forums": 0.9, "galleries": 0.85, "sitemaps": 0.8, "regions": 0.7}
"""Base score of each kind: a feed has title, date and summary in one small file; a sitemap often has only dates; a region depends on the
layout of its list page. Set by hand."""

FULL = 20  # more entries do not make a better source: the size of feeds of news sites
STALE = timedelta(days=30)  # a source whose newest entry is older is shown, but not added automatically
WEEK = timedelta(days=7)
UNKNOWN = 0.4  # freshness without dates: as if the newest entry were ten days old
COMMENTS = 0.3  # factor on the score of a feed of comments


@dataclass(frozen=True, slots=True)
class Proposal:
    """A possible source. ``values``: its entry in ``sources.yaml``; ``entries``: number of entries listed now; ``links``: those to preview,
    newest first. ``per_day``: entries published per day, from their dates. ``why``: how it was found, and anomalies."""

    kind: Kind
    values: dict[str, str]
    entries: int
    links: tuple[Link, ...] = field(default=(), repr=False)
    newest: datetime | None = None
    per_day: float | None = None
    reasons: tuple[Message, ...] = ()
    score: float = 0.0

    @property
    def address(self) -> str:
        return self.values.get("url") or self.values.get("seeds") or self.values["prefix"]

    @property
    def family(self) -> str:
        """The kind of a single source, the prefix of its key."""
        return {"galleries": "gallery"}.get(self.kind, self.kind.removesuffix("s"))


def rate(proposal: Proposal, now: datetime) -> Proposal:
    """Return the proposal with newest date, entries per day and score computed from its links.

        score = worth(kind) · (0.2 + 0.3 · min(entries, 20)/20 + 0.3 · 1/(1 + age of the newest in weeks) + 0.2 · share with titles)

    from 0 to 1; comments keep a third of it, an empty source a tenth.
    """
    dates = sorted((link.published for link in proposal.links if link.published), reverse=True)
    newest = dates[0] if dates else None
    freshness = 1 / (1 + max(timedelta(), now - newest) / WEEK) if newest else UNKNOWN
    titled = sum(link.title is not None for link in proposal.links) / max(1, len(proposal.links))
    score = WORTH[proposal.kind] * (0.2 + 0.3 * min(proposal.entries, FULL) / FULL + 0.3 * freshness + 0.2 * titled)
    score *= (COMMENTS if is_comments(proposal) else 1.0) * (1.0 if proposal.entries else 0.1)
    reasons = proposal.reasons
    if newest and now - newest > STALE:
        reasons = (*reasons, Message("found.stale", days=(now - newest).days))
    return replace(proposal, newest=newest, per_day=cadence(dates), score=round(score, 3), reasons=reasons)


def is_comments(proposal: Proposal) -> bool:
    """Return whether a feed contains readers' comments rather than articles."""
    text = f"{proposal.values.get('name', '')} {proposal.address}".lower()
    return proposal.kind == "feeds" and any(word in text for word in ("comment", "评论", "評論", "回复"))


def cadence(dates: Sequence[datetime]) -> float | None:
    """Return entries per day, from dates newest first; ``None`` if fewer than two are known or all are equal."""
    if len(dates) < 2 or dates[0] <= dates[-1]:
        return None
    return round((len(dates) - 1) / ((dates[0] - dates[-1]) / timedelta(days=1)), 2)


def is_good(proposal: Proposal, now: datetime) -> bool:
    """Return whether the search can stop: several articles, and the newest is recent."""
    recent = proposal.newest is None or now - proposal.newest <= STALE
    return proposal.entries >= 5 and recent and not is_comments(proposal)


def newest_first(links: Sequence[Link]) -> tuple[Link, ...]:
    """Sort ``links`` by date, undated ones last in their order."""
    return tuple(sorted(links, key=lambda link: link.published or datetime.min.replace(tzinfo=UTC), reverse=True))


MIN_ARTICLES = 5  # a page with fewer links to articles is not a list page
MIN_FOLDER_SHARE = 0.8  # minimum share of the articles below a folder to make it the region's prefix
MIN_STORIES = 5
MIN_BOARDS = 3
MIN_THREADS = 5
MAX_AGE = timedelta(days=7)  # as max_age of a sitemap in sources.yaml
MAX_LINKS = 200  # links stored in a proposal for its preview
FEED_TEXT = re.compile(r"^\W*(?:rss(?:\s*(?:订阅|feeds?|2\.0))?|atom|feeds?|订阅|rss订阅|subscribe (?:via|by) rss|xml)\W*$", re.IGNORECASE)
"""Complete texts of links to a feed, or to a page that lists feeds."""

USUAL_FEEDS = ("/feed", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml")
"""Usual paths of feeds: WordPress, Drupal, Ghost, Hugo, Jekyll."""

FEED, SITEMAP, LIST = Message("found.feed"), Message("found.sitemap"), Message("found.list")

USUAL_SITEMAPS = ("/news-sitemap.xml", "/sitemap-news.xml", "/sitemap.xml", "/sitemap_index.xml")


def feed_of(page: Page, reason: Message = FEED) -> Proposal | None:
    try:
        found = feed.parse_feed(page.body, page.url, page.content_type, page.fetched)
    except NotApplicable:
        return None
    links = [Link(item.url, "", item.title, item.summary, published=item.published or item.updated) for item in found.entries if item.url]
    name = found.title or urlsplit(page.url).hostname or page.url
    reasons = (reason, *(Message(f"warning.{warning}") for warning in found.warnings))
    values = {"name": name, "url": page.url}
    return rate(Proposal("feeds", values, len(found.entries), newest_first(links)[:MAX_LINKS], reasons=reasons), page.fetched)


def sitemap_of(page: Page, reason: Message = SITEMAP) -> Proposal | None:
    """Return the sitemap or index in a page; of an index only the number of its sitemaps is known."""
    try:
        found = sitemap.parse_sitemap(page.body, page.url, page.content_type, page.fetched)
    except NotApplicable:
        return None
    warnings = [Message(f"warning.{warning}") for warning in found.warnings]
    host = urlsplit(page.url).hostname or page.url
    values = {"name": f"{host} sitemap", "url": page.url}
    if found.kind == "index":
        links = [Link(entry.url, "", published=entry.changed) for entry in found.entries]
        reasons = (reason, Message("found.index", number=len(found.entries)), *warnings)
        return Proposal("sitemaps", values, len(found.entries), newest_first(links)[:MAX_LINKS], reasons=reasons)
    choice = choose_entries(found.entries, page.url, hub.HubRules(), MAX_AGE, page.fetched)
    names = Counter(entry.publication for entry in found.entries if entry.publication)
    if names:
        values["name"] = names.most_common(1)[0][0]
    links = [Link(item.url, "", item.title, published=item.latest or url_date(item.url, page.fetched, UTC)) for item in choice.entries]
    skipped = (Message(f"skipped.{code}", number=number) for code, number in sorted(choice.skipped.items()))
    reasons = (reason, *([Message("found.sitemap-news")] if found.news else []), *skipped, *warnings)
    return rate(Proposal("sitemaps", values, len(links), tuple(links[:MAX_LINKS]), reasons=reasons), page.fetched)


def region_of(page: Page, document: dom.Document, reason: Message = LIST) -> Proposal | None:
    """Return the page as a region whose prefix is the folder shared by most of its articles, if it is a list page."""
    host = urlsplit(page.url).hostname
    found = [link for link in hub.links(document, now=page.fetched) if link.kind == "article" and urlsplit(link.url).hostname == host]
    if len(found) < MIN_ARTICLES:
        return None
    links = [
        Link(link.url, "", link.text or None, link.summary, published=link.published or url_date(link.url, page.fetched, UTC))
        for link in found
    ]
    prefix = common_folder([link.url for link in links])
    values = {"name": title_of(document) or host or page.url, "prefix": prefix}
    values = values if prefix == page.url else {**values, "seeds": page.url}
    reasons = (reason, Message("found.links", number=len(links)))
    return rate(Proposal("regions", values, len(links), newest_first(links)[:MAX_LINKS], reasons=reasons), page.fetched)


def forum_of(page: Page, document: dom.Document) -> Proposal | None:
    """Return the page as a forum if its URL, or enough of its links, have the form of forum URLs: by layout, news look like threads."""
    found = kinds.classify(document, page.fetched)
    host = urlsplit(document.url).hostname
    links = {url for node in document.root.iter("a") if (url := dom.link_of(node, document.base)) and urlsplit(url).hostname == host}
    counts = Counter(addresses.parse_address(url).kind for url in links)
    if not (BOARD.search(document.url) or counts["board"] >= MIN_BOARDS or counts["thread"] >= MIN_THREADS):
        return None
    if found.kind not in ("front", "board") or (len(found.boards) < MIN_BOARDS and len(found.threads) < MIN_THREADS):
        return None
    reason = Message("found.forum", boards=len(found.boards), threads=len(found.threads))
    return forum_proposal(page, found, len(found.threads) or len(found.boards), (reason,))


def forum_proposal(page: Page, found: kinds.ForumPage, entries: int, reasons: tuple[Message, ...] = ()) -> Proposal:
    """Return a forum page as an entry of ``sources.yaml``."""
    links = [Link(thread.url, "", thread.title, published=thread.last) for thread in found.threads]
    values = {"name": urlsplit(page.url).hostname or page.url, "url": page.url}
    return rate(Proposal("forums", values, entries, newest_first(links)[:MAX_LINKS], reasons=reasons), page.fetched)


PICTURE_WORDS = MEDIA_WORDS - frozenset(
    "audio av broadcast listen live movie play player podcast podcasts radio shipin sounds tv video".split()
)
PICTURE_TITLE = re.compile(r"图片|图集|组图|套图|影像|摄影|photo|galler|pictures", re.IGNORECASE)


def gallery_of(page: Page, document: dom.Document) -> Proposal | None:
    """Return the page as a channel of photo stories if its URL, its title or most URLs of its stories say so."""
    found = stories(document, page.fetched)
    pictured = sum(bool(Address(story.url).words & PICTURE_WORDS) for story in found)
    is_channel = bool(Address(page.url).words & PICTURE_WORDS) or PICTURE_TITLE.search(title_of(document) or "") is not None
    if len(found) < MIN_STORIES or not (is_channel or pictured >= len(found) / 2):
        return None
    return gallery_proposal(page, document, found)


def gallery_proposal(page: Page, document: dom.Document, found: Sequence[GalleryEntry]) -> Proposal:
    """Return an index page of photo stories as an entry of ``sources.yaml``."""
    links = [Link(entry.url, "", entry.title, entry.summary, published=entry.published) for entry in found]
    values = {"name": title_of(document) or urlsplit(page.url).hostname or page.url, "seeds": page.url}
    reasons = (Message("found.galleries", number=len(links)),)
    return rate(Proposal("galleries", values, len(links), newest_first(links)[:MAX_LINKS], reasons=reasons), page.fetched)


def feed_addresses(document: dom.Document) -> list[str]:
    """Return the feed URLs of a page: declared ones, links with the form of a feed URL, and links with such a text."""
    nodes = (node for node in document.root.iter("a") if FEED_TEXT.match(clean(node.text_content() or node.get("title") or "")[:40]))
    urls = (url for node in nodes if (url := dom.link_of(node, document.base)))
    return list(dict.fromkeys([*feed.discover_feeds(document), *urls]))


def channels(document: dom.Document, limit: int) -> list[tuple[str, str]]:
    """Return further list pages of the site with their link texts, in page order: navigation comes first."""
    host = urlsplit(document.url).hostname
    hubs = [link for link in hub.links(document) if link.kind == "hub" and link.text and urlsplit(link.url).hostname == host]
    current = {Address(document.url).same_page.rstrip("/"), urljoin(document.url, "/").rstrip("/")}
    texts = {link.url.partition("#")[0]: link.text for link in reversed(hubs) if 2 <= len(link.text) <= 12}
    texts = {url: text for url, text in texts.items() if url.partition("?")[0].rstrip("/") not in current}
    return list(reversed(texts.items()))[:limit]


def common_folder(urls: Collection[str]) -> str:
    """Return the first-level folder shared by most of ``urls`` (``https://a.example/news/``), else their site's root."""
    parts = [urlsplit(url) for url in urls]
    root = f"{parts[0].scheme}://{parts[0].netloc}/"
    firsts = Counter(part.path.split("/")[1] for part in parts if part.path.count("/") > 1)
    name, number = max(firsts.items(), key=lambda item: item[1], default=("", 0))
    return f"{root}{name}/" if name and not name.isdigit() and number >= MIN_FOLDER_SHARE * len(parts) else root


def title_of(document: dom.Document) -> str | None:
    title = next(iter(document.css("title")), None)
    return clean(title.text or "") or None if title is not None else None
