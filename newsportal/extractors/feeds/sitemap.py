"""Parse sitemaps, tolerant of broken bytes: URL sets, indexes, news sitemaps, plain text lists, gzipped or not.

sitemaps.org (protocol 0.9) and Google's news extension; images and videos are ignored. Warnings: those of :mod:`xml_stream`,
``too-many-tags``, ``too-many-entries`` (cut), ``bad-address``, ``lastmod-now`` and ``lastmod-same`` (:func:`useless_lastmod`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from html import unescape
from itertools import chain
from typing import Literal

from newsportal.errors import NotApplicable
from newsportal.extractors.feeds.xml_stream import XmlText
from newsportal.extractors.fields.date import is_plausible, parse_date
from newsportal.extractors.fields.published import url_date
from newsportal.extractors.lists.hub import HubRules
from newsportal.extractors.lists.hub_score import BIAS, WEIGHTS
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import clean, dom

MIN_DATES = 5  # minimum number of ``lastmod`` dates for a judgement
MIN_EQUAL_SHARE = 0.9  # the share of the dates that must agree
JUST_NOW = timedelta(minutes=10)  # of ``fetched``: the page has just changed, or the date is generated for each request
Kind = Literal["urlset", "index", "text"]
MAX_ENTRIES = 50_000  # of one file (sitemaps.org)
MAX_TAGS = 260_000  # the five elements that sitemaps.org has for each entry; entries before the limit are read
MAX_URL = 2_048  # sitemaps.org: a URL has fewer characters than this
MAX_TEXT = 500
MAX_NAMED = 100  # Sitemaps read from one robots.txt
MAX_UNKNOWN_DATES = 10  # a file usually has one date format; each unknown date costs milliseconds
ROOT_KINDS: Mapping[str, Kind] = {"urlset": "urlset", "sitemapindex": "index"}
RECORD_TAGS = frozenset(("url", "sitemap"))
OTHER_NAMESPACES = re.compile(r"image|video|mobile|xhtml|pagemap|geo|code", re.IGNORECASE)  # they reuse names of ours (``image:loc``)
FIELDS = frozenset("loc lastmod title publication_date name".split())
ISO = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?)?)?$")
ENTRY = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
MIN_ARTICLE_WEIGHT = BIAS  # weight (:data:`hub_score.WEIGHTS`) below which a URL is not an article's; a sitemap has nothing but URLs
DEFAULT_SCORE = 0.99  # score of a URL before the source's rules apply
EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A ``url`` or ``sitemap`` element. ``url`` is absolute http(s); ``changed``: ``lastmod``; the rest: news extension."""

    url: str
    changed: datetime | None = None
    title: str | None = None
    published: datetime | None = None
    publication: str | None = None

    @property
    def latest(self) -> datetime | None:
        return self.published or self.changed


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap. ``broken``: number of entries without a valid URL. Useless ``lastmod`` dates are removed."""

    kind: Kind
    entries: tuple[SitemapEntry, ...] = ()
    broken: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def news(self) -> bool:
        return any(entry.title or entry.published for entry in self.entries)


def useless_lastmod(entries: Sequence[SitemapEntry], fetched: datetime) -> str | None:
    """Return why ``lastmod`` dates are useless: ``lastmod-now`` (generated for each request), ``lastmod-same`` (equal for all)."""
    dates = [entry.changed for entry in entries if entry.changed is not None]
    if len(dates) < MIN_DATES:
        return None
    if sum(abs(fetched - when) <= JUST_NOW for when in dates) >= MIN_EQUAL_SHARE * len(dates):
        return "lastmod-now"
    most = max(Counter(dates).values())
    timed = (dates[0].hour, dates[0].minute, dates[0].second) != (0, 0, 0)  # articles of one day may share its date
    return "lastmod-same" if most >= MIN_EQUAL_SHARE * len(dates) and timed else None


def fingerprint(entries: Iterable[SitemapEntry]) -> str:
    """Return a fingerprint of a sitemap's URLs: it changes only if a page is added or removed, whatever the dates."""
    digest = blake2b(digest_size=16)
    for url in sorted(entry.url for entry in entries):
        digest.update(url.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def without_useless_lastmod(found: Sitemap, fetched: datetime) -> Sitemap:
    """Return the sitemap without useless ``lastmod`` dates, and with a warning."""
    reason = useless_lastmod([entry for entry in found.entries if entry.published is None], fetched)
    if reason is None:
        return found
    entries = tuple(replace(entry, changed=None) for entry in found.entries)
    return replace(found, entries=entries, warnings=(*found.warnings, reason))


def parse_sitemap(body: bytes, url: str, content_type: str | None, fetched: datetime) -> Sitemap:
    """Parse a fetched sitemap. ``fetched`` (aware) bounds the dates.

    Raises only ``NotApplicable``: ``not-a-sitemap`` (``detail`` says what the file is), ``empty``. Takes at most seconds, and memory only
    for its entries, whatever the input.
    """
    text = XmlText(body, content_type)
    pieces = iter(text)
    first = next(pieces, "")
    if not first.strip():
        raise NotApplicable("empty", "no text")
    reader = _Reader(fetched, url)
    stream = chain((first,), pieces)
    if first.lstrip().startswith("<"):
        kind = _read_xml(stream, reader, text)
    else:
        # one URL per line
        rest = ""
        for piece in stream:
            *lines, rest = (rest + piece).replace("\r", "\n").split("\n")
            _take_lines(lines, reader, text)
            rest = rest[-MAX_URL:]
        _take_lines([rest], reader, text)
        if not reader.entries:
            raise NotApplicable("not-a-sitemap", "neither XML nor a list of URLs")
        kind = "text"
    if reader.broken:
        text.warn("bad-address")
    return without_useless_lastmod(Sitemap(kind, tuple(reader.entries), reader.broken, tuple(text.warnings)), fetched)


def sitemaps_in_robots(robots: bytes, url: str) -> list[str]:
    """Return the sitemaps listed in a robots.txt, in order (``Sitemap:`` lines belong to no group, RFC 9309 2.2.4)."""
    text = robots[:512_000].decode("utf-8-sig", "replace").replace("\r", "\n")
    return list(dict.fromkeys(found for line in ENTRY.findall(text) if (found := dom.join(url, line)) and len(found) < MAX_URL))[:MAX_NAMED]


class _StopParsing(Exception):
    """Raised by the parser target to stop parsing."""


class _Reader:
    """Collects the entries of one file: each ``url`` and ``sitemap`` element reported by the parser, or each line of a plain list."""

    def __init__(self, fetched: datetime, url: str) -> None:
        self.fetched = fetched
        self.url = url
        self.entries: list[SitemapEntry] = []
        self.broken = 0
        self.root: str | None = None
        self._odd = MAX_UNKNOWN_DATES
        self._tags = 0
        self._record: dict[str, str] | None = None
        self._field: str | None = None
        self._foreign = 0  # levels below an element of another extension

    def take(self, fields: Mapping[str, str]) -> None:
        loc = clean(fields.get("loc", "").replace("&amp;", "&"))  # escaped twice, or within CDATA, where nothing is unescaped
        url = dom.join(self.url, loc.replace(" ", "%20")) if 0 < len(loc) < MAX_URL else None
        if url is None:
            self.broken += 1
            return
        self.entries.append(
            SitemapEntry(
                url=url,
                changed=self.date(fields.get("lastmod")),
                title=clean(unescape(fields.get("title", "")))[:MAX_TEXT] or None,
                published=self.date(fields.get("publication_date")),
                publication=clean(unescape(fields.get("name", "")))[:100] or None,
            )
        )

    def date(self, value: str | None) -> datetime | None:
        """Return a W3C date, else a date in any format; ``None`` if implausible (0001, 2099)."""
        text = (value or "").strip()[:40]
        if not text or text.startswith("0"):
            return None
        when = None
        try:
            if ISO.match(text):
                plain = re.sub(r"\s+(?=[Z+-])", "", text)
                when = datetime.fromisoformat(f"{plain}-01" if len(plain) == len("2024-03") else plain)
                when = when if when.tzinfo else when.replace(tzinfo=UTC)
            elif self._odd > 0:
                self._odd -= 1
                when = parse_date(text, self.fetched)
        except (ValueError, OverflowError):
            return None
        return when if when and is_plausible(when, self.fetched) else None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._tags += 1
        if self._tags > MAX_TAGS:
            raise _StopParsing("too-many-tags")
        is_foreign, name = _split_tag(tag)
        if self.root is None:
            self.root = name
            if name not in ROOT_KINDS:
                raise _StopParsing(name)
        elif self._foreign or is_foreign:
            self._foreign += 1
        elif name in RECORD_TAGS:
            self.close()
            self._record = {}
        else:
            self._field = name if name in FIELDS and self._record is not None else None

    def end(self, tag: str) -> None:
        if self._foreign:
            self._foreign -= 1
        else:
            self._field = None
            if _split_tag(tag)[1] in RECORD_TAGS:
                self.close()

    def data(self, text: str) -> None:
        if self._field is not None and self._record is not None and not self._foreign:
            value = self._record.get(self._field, "")
            if len(value) < MAX_URL:
                self._record[self._field] = value + text[:MAX_URL]

    def close(self) -> None:
        if self._record is None:
            return
        if len(self.entries) >= MAX_ENTRIES:
            raise _StopParsing("too-many-entries")
        self.take(self._record)
        self._record = self._field = None


@lru_cache(maxsize=100)
def _split_tag(tag: str) -> tuple[bool, str]:
    """Return whether a tag belongs to another extension, by namespace (or undeclared prefix), and its local name. The protocol's own
    namespace contains none of the extensions' names."""
    family, _, name = tag.removeprefix("{").rpartition("}")
    prefix, _, plain = name.rpartition(":")
    return OTHER_NAMESPACES.search((family or prefix).rpartition("/schemas/")[2]) is not None, plain.lower()


def _read_xml(stream: Iterable[str], reader: _Reader, text: XmlText) -> Kind:
    try:
        dom.stream_xml(stream, reader)
    except _StopParsing as reason:
        if reader.root in ROOT_KINDS:
            text.warn(str(reason))
    kind = ROOT_KINDS.get(reader.root or "")
    if kind is None:
        actual = {"rss": "a feed", "feed": "a feed", "rdf": "a feed", "html": "an HTML page"}.get(reader.root or "", "XML of another kind")
        raise NotApplicable("not-a-sitemap", actual if reader.root else "no XML element can be read")
    return kind


def _take_lines(lines: Iterable[str], reader: _Reader, text: XmlText) -> None:
    for line in filter(None, map(str.strip, lines)):
        if len(reader.entries) >= MAX_ENTRIES:
            text.warn("too-many-entries")
            return
        if line.startswith(("http://", "https://")):
            reader.take({"loc": line})
        elif not reader.entries:
            raise NotApplicable("not-a-sitemap", "neither XML nor a list of URLs")
        else:
            reader.broken += 1


@dataclass(frozen=True, slots=True)
class Selection:
    """``entries``: newest first, entries without a date last, in file order. ``skipped``: numbers of entries left out, by reason
    (``foreign``: of another site; ``old``; ``rules``: allow and deny; ``no-article``)."""

    entries: tuple[SitemapEntry, ...]
    skipped: Counter[str] = field(default_factory=Counter)


def choose_entries(entries: Iterable[SitemapEntry], sitemap_url: str, rules: HubRules, max_age: timedelta, now: datetime) -> Selection:
    """Choose the entries to fetch.

    URLs of other sites are left out (sitemaps.org, "Sitemap file location") unless a rule in ``allow`` matches them. If the sitemap has no
    date for an entry, a date in its URL is used.
    """
    site, oldest = Address(sitemap_url).domain, now - max_age
    left: Counter[str] = Counter()
    selected: list[tuple[datetime, SitemapEntry]] = []
    for entry in entries:
        when = entry.latest
        reason = "old" if when and when < oldest else _rejection(entry, site, rules)  # most are old, and this check is cheapest
        if reason is None and when is None:
            when = url_date(entry.url, now, UTC)
            reason = "old" if when and when < oldest else None
        if reason:
            left[reason] += 1
        else:
            selected.append((when or EARLIEST, entry))
    selected.sort(key=lambda pair: pair[0], reverse=True)
    return Selection(tuple(entry for _, entry in selected), left)


def choose_children(entries: Sequence[SitemapEntry], sitemap_url: str, max_age: timedelta, now: datetime, limit: int) -> Selection:
    """Return the ``limit`` recently changed sitemaps of an index; ``skipped`` also has ``many``. One day of tolerance for ``lastmod``."""
    site, oldest = Address(sitemap_url).domain, now - max_age - timedelta(days=1)
    same_site = [entry for entry in entries if Address(entry.url).domain == site]
    recent = [entry for entry in same_site if entry.changed is None or entry.changed >= oldest]
    recent.sort(key=lambda entry: entry.changed or EARLIEST, reverse=True)
    left = Counter({"foreign": len(entries) - len(same_site), "old": len(same_site) - len(recent), "many": max(0, len(recent) - limit)})
    return Selection(tuple(recent[:limit]), +left)


def _rejection(entry: SitemapEntry, site: str, rules: HubRules) -> str | None:
    address = Address(entry.url)
    if rules.score(entry.url, DEFAULT_SCORE) < DEFAULT_SCORE / 2:
        return "rules"
    if rules.allow:
        return None
    if address.domain != site:
        return "foreign"
    is_news = entry.title or entry.published
    return None if is_news or sum(WEIGHTS.get(fact, 0.0) for fact in address.features) > MIN_ARTICLE_WEIGHT else "no-article"
