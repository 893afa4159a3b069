"""Parse feeds, tolerant of broken bytes: RSS 0.9x to 2.0, RDF, Atom, JSON Feed.

Warnings are stable slugs: ``wrong-encoding`` (not the declared one), ``illegal-characters``, ``entities-declared`` (dropped: XML bombs are
built from them), ``too-large`` and ``too-many-tags`` (cut), ``not-well-formed``, ``shared-link`` (entries with the same URL),
``entry-without-link``.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime

from newsportal.errors import NotApplicable
from newsportal.extractors.feeds.feed_bytes import decode_feed, repair_xml
from newsportal.extractors.feeds.feed_dialects import FeedHead, RawDate, RawEntry, RawFeed, read_json, read_xml
from newsportal.extractors.fields.date import find_dates, is_plausible, parse_date
from newsportal.extractors.fields.date_forms import CHINA
from newsportal.items import content_id
from newsportal.text import chinese_share, clean, dom

# From raw entries to :class:`FeedEntry`: plain texts, absolute URLs, aware dates, a unique key for every entry.

CHINESE_SHARE = 0.3  # of the letters of the titles
MAX_TITLE = 500
MAX_SUMMARY = 2_000
MAX_URL_CHARS = 100_000  # the crawl does not fetch longer URLs, but counts them under a reason
MAX_DATE = 64
MAX_UNKNOWN_DATES = 10  # a feed usually has one date format; each unknown date costs up to half a second
ESCAPED_TWICE = re.compile(r"</?(?:p|br|div|span|a|img|b|i|strong|em|ul|li|h\d|table|font)\b[^<>]{0,2000}>", re.IGNORECASE)
NO_YEAR = re.compile(r"(?<![\d:.+-])0\d{3}(?!\d)")  # 0001: a database's null date, which RFC 822 parsing would read as 2001
RFC_822 = re.compile(r"^(?:\w{3,9},?\s+)?\d{1,2}[\s-]+[A-Za-z]{3,9}\.?[\s-]+\d{2,4}\b")
ISO = re.compile(r"^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?)?$")
MAX_FOUND = 20
FEED_TYPE = re.compile(r"^\s*(?:application|text)/(?:(?:rss|atom|rdf)\+xml|feed\+json|json|xml)\b", re.IGNORECASE)
FEED_HREF = re.compile(
    r"(?:\.rss|\.atom|\.rdf|rss\.xml|atom\.xml|feed\.xml|feed\.json|index\.xml|/(?:rss|feed|atom)/?)(?:\?.*)?$", re.IGNORECASE
)
LEADING_MARKUP = re.compile(r"^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>)+", re.DOTALL | re.IGNORECASE)
HTML_START = re.compile(r"<(?:html|head|body|meta|title|div|p|script|table|h\d|center|a)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """``title`` and ``summary`` are plain text on one line, ``content_html`` is as served and **not sanitised**; ``url``: absolute http(s).

    ``key`` identifies the entry within its feed and is the same on every visit: its guid, else its URL, else a digest of URL, title and
    date. ``shared_link``: another entry has the same URL, so the URL does not identify the article.
    """

    key: str
    id: str | None = None
    url: str | None = None
    title: str | None = None
    summary: str | None = None
    content_html: str | None = field(default=None, repr=False)
    published: datetime | None = None
    updated: datetime | None = None
    author: str | None = None
    shared_link: bool = False


@dataclass(frozen=True, slots=True)
class Feed(FeedHead):
    """A feed. ``warnings``: slugs of the problems found (see above)."""

    entries: tuple[FeedEntry, ...] = ()
    warnings: tuple[str, ...] = ()


def convert_feed(raw: RawFeed, url: str, fetched: datetime, warnings: tuple[str, ...] = ()) -> Feed:
    """Convert a raw feed. ``url`` resolves relative links; dates more than a day after ``fetched`` (aware) are dropped."""
    # dates without a zone are in China's time zone if the feed is Chinese
    titles = " ".join([raw.title or "", *(entry.title or "" for entry in raw.entries[:10])])
    chinese = (raw.language or "").lower().startswith("zh") or chinese_share(titles) >= CHINESE_SHARE
    clock = DateReader(fetched, CHINA if chinese else None)
    base = _absolute(url, raw.home) or url
    entries = [_entry(entry, base, clock) for entry in raw.entries]
    shared = {link for link, count in Counter(entry.url for entry in entries if entry.url).items() if count > 1}
    ids = Counter(entry.id for entry in entries if entry.id)
    uses: Counter[str] = Counter()
    keyed = []
    for entry in entries:
        if entry.id and ids[entry.id] == 1:
            key = entry.id
        elif entry.url and entry.url not in shared:
            key = entry.url
        else:
            key = content_id(f"{entry.id}\n{entry.url}\n{entry.title}\n{entry.published}")
        uses[key] += 1
        key = key if uses[key] == 1 else f"{key}#{uses[key]}"
        keyed.append(replace(entry, key=key, shared_link=entry.url in shared))
    shared_links = ("shared-link",) if shared else ()
    without_links = ("entry-without-link",) if any(entry.url is None for entry in entries) else ()
    return Feed(
        format=raw.format,
        title=plain_text(raw.title, MAX_TITLE),
        ttl_minutes=raw.ttl_minutes,
        hub=_absolute(url, raw.hub),
        topic=_absolute(url, raw.topic),
        skip_hours=raw.skip_hours,
        skip_days=raw.skip_days,
        entries=tuple(keyed),
        warnings=tuple(dict.fromkeys((*warnings, *raw.warnings, *shared_links, *without_links))),
    )


def plain_text(markup: str | None, limit: int) -> str | None:
    """Return markup as text on one line. Text that was escaped twice is unescaped twice, so that readers do not see ``<p>``."""
    text = markup or ""
    for _ in range(2):
        if "<" not in text and "&" not in text:
            break
        text = dom.text_of(dom.parse_html(f"<div>{text}</div>"))
        if not ESCAPED_TWICE.search(text):
            break
    text = clean(text)
    return (text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…") or None


@dataclass(slots=True)
class DateReader:
    """Reader of a feed's dates. ``zone``: for dates without one; ``attempts``: remaining slow attempts at unknown formats."""

    fetched: datetime
    zone: tzinfo | None
    attempts: int = MAX_UNKNOWN_DATES

    def read(self, date: RawDate | None) -> datetime | None:
        """Return a date of the feed, aware; ``None`` if it is invalid or implausible (0001, 2099)."""
        if date is None:
            return None
        text = clean(date.text)[:MAX_DATE]
        if NO_YEAR.search(text):
            return None
        when = _standard(text, self.zone)
        if when is None:
            first = next(find_dates(text, self.fetched, self.zone), None)
            when = first.when if first else None
            if first is None and self.attempts > 0:
                self.attempts -= 1
                when = parse_date(text, self.fetched, self.zone)
        if when is None and date.guess:
            when = date.guess.replace(tzinfo=UTC)
        return when if when and is_plausible(when, self.fetched) else None


def _standard(text: str, zone: tzinfo | None) -> datetime | None:
    """Parse RFC 822 and ISO 8601 dates, as the specifications require. In Chinese feeds CST is China's time, not Chicago's."""
    if zone is CHINA:
        text = re.sub(r"\bCST$", "+0800", text)
    try:
        if RFC_822.match(text):
            when = parsedate_to_datetime(text)
        elif ISO.match(text):
            when = datetime.fromisoformat(re.sub(r"\s+(?=[Z+-])", "", text))
        else:
            return None
        return when if when.tzinfo else when.replace(tzinfo=zone or UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _entry(raw: RawEntry, base: str, clock: DateReader) -> FeedEntry:
    content = raw.content or raw.summary
    if content and "&lt;" in content and not ESCAPED_TWICE.search(content):
        text = dom.text_of(dom.parse_html(f"<div>{content}</div>"))
        content = text if ESCAPED_TWICE.search(text) else content
    return FeedEntry(
        key="",
        id=clean(raw.id or "")[:2_000] or None,
        url=next((url for url in (_absolute(base, url) for url in raw.urls) if url), None),
        title=plain_text(raw.title, MAX_TITLE),
        summary=plain_text(raw.summary or raw.content, MAX_SUMMARY),
        content_html=content,
        published=clock.read(raw.published),
        updated=clock.read(raw.updated),
        author=plain_text(raw.author, 100),
    )


def _absolute(base: str, url: str | None) -> str | None:
    return dom.join(base, clean(url).replace(" ", "%20"), max_length=MAX_URL_CHARS) if url else None


def parse_feed(body: bytes, url: str, content_type: str | None, fetched: datetime) -> Feed:
    """Parse a fetched feed. ``content_type`` is the header as served; ``fetched`` is aware.

    Raises only ``NotApplicable``: ``not-a-feed`` (an HTML page, other JSON; ``detail`` lists the feeds that the page declares),
    ``broken-feed`` (a feed of which nothing can be read), ``empty``. Takes at most seconds, whatever the input.
    """
    source = decode_feed(body, content_type)
    if not source.text:
        raise NotApplicable("empty", "no text")
    if source.text.startswith(("{", "[")):
        return convert_feed(read_json(source.text), url, fetched, source.warnings)
    text = source.text
    start = LEADING_MARKUP.match(text)
    if HTML_START.match(text, start.end() if start else 0) is not None:
        found = discover_feeds(dom.from_text(text, url))
        raise NotApplicable("not-a-feed", f"an HTML page; it declares {', '.join(found)}" if found else "an HTML page")
    mended = repair_xml(source)
    return convert_feed(read_xml(mended.text, url), url, fetched, mended.warnings)


def discover_feeds(document: dom.Document) -> list[str]:
    """Return the absolute URLs of a page's feeds: declared ones (``<link rel="alternate">``) first, then links that look like feeds."""
    declared = [
        dom.link_of(node, document.base)
        for node in document.root.iter("link")
        if "alternate" in (node.get("rel") or "").lower().split() and FEED_TYPE.match(node.get("type") or "")
    ]
    linked = [url for node in document.root.iter("a") if (url := dom.link_of(node, document.base)) and FEED_HREF.search(url[:2_000])]
    return [url for url in dict.fromkeys([*declared, *linked]) if url][:MAX_FOUND]
