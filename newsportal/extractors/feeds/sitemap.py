"""Sitemaps of every kind over bytes that may be broken: URL sets, indexes, news sitemaps, lists in plain text, gzipped or not.

sitemaps.org (protocol 0.9) and Google's news extension, without pictures and films. Warnings: those of :mod:`xml_stream`,
``too-many-tags``, ``too-many-entries`` (cut), ``bad-address``, ``lastmod-now`` and ``lastmod-same`` (they say nothing: :func:`lies`).
"""

from __future__ import annotations

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
from newsportal.extractors.fields.date import parse_date, plausible
from newsportal.extractors.fields.published import url_date
from newsportal.extractors.lists.hub import HubRules
from newsportal.extractors.lists.hub_score import BIAS, WEIGHTS
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import clean, dom

FEW = 5  # dates of change from which a lie can be told
ALIKE = 0.9  # the share of the dates that must agree
JUST_NOW = timedelta(minutes=10)  # younger when fetched: it changes at this very moment, or the date is made on request
Kind = Literal["urlset", "index", "text"]
MAX_ENTRIES = 50_000  # of one file (sitemaps.org)
MAX_TAGS = 260_000  # the five that sitemaps.org has for each entry; the entries that stand within are read
MAX_URL = 2_048  # sitemaps.org: an address has fewer characters than this
MAX_TEXT = 500
MAX_NAMED = 100  # Sitemaps that one robots.txt may name
MAX_ODD_DATES = 10  # a file writes its dates in one way; each that no form knows costs milliseconds
ROOTS: Mapping[str, Kind] = {"urlset": "urlset", "sitemapindex": "index"}
RECORDS = frozenset(("url", "sitemap"))
OTHER = re.compile(r"image|video|mobile|xhtml|pagemap|geo|code", re.IGNORECASE)  # extensions with elements called like ours (``image:loc``)
FIELDS = frozenset("loc lastmod title publication_date name".split())
ISO = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?)?)?$")
NAMED = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
NO_ARTICLE = BIAS  # weight (:data:`hub_score.WEIGHTS`) below which an address, which is all there is here, is no article's
FULL = 0.99  # what an address scores before the rules of the source are asked
LEAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One ``url`` or ``sitemap`` element. ``url`` is absolute http(s); ``changed`` is its ``lastmod``, all else the news extension's."""

    url: str
    changed: datetime | None = None
    title: str | None = None
    published: datetime | None = None
    publication: str | None = None

    @property
    def moment(self) -> datetime | None:
        return self.published or self.changed


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap. ``broken``: entries without a usable address. The dates of change are gone where they lie."""

    kind: Kind
    entries: tuple[SitemapEntry, ...] = ()
    broken: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def news(self) -> bool:
        return any(entry.title or entry.published for entry in self.entries)


def lies(entries: Sequence[SitemapEntry], fetched: datetime) -> str | None:
    """Why the dates of change tell nothing: ``lastmod-now`` (they are made as one asks), ``lastmod-same`` (one moment for all)."""
    told = [entry.changed for entry in entries if entry.changed is not None]
    if len(told) < FEW:
        return None
    if sum(abs(fetched - when) <= JUST_NOW for when in told) >= ALIKE * len(told):
        return "lastmod-now"
    most = max(Counter(told).values())
    timed = (told[0].hour, told[0].minute, told[0].second) != (0, 0, 0)  # all articles of one day share its date, and that is no lie
    return "lastmod-same" if most >= ALIKE * len(told) and timed else None


def print_of(entries: Iterable[SitemapEntry]) -> str:
    """The addresses of a sitemap as a short text: the same while no page comes or goes, whatever the dates say."""
    made = blake2b(digest_size=16)
    for url in sorted(entry.url for entry in entries):
        made.update(url.encode("utf-8", "surrogatepass") + b"\n")
    return made.hexdigest()


def honest(found: Sitemap, fetched: datetime) -> Sitemap:
    """The sitemap without dates of change that lie, and with a warning that says so."""
    lie = lies([entry for entry in found.entries if entry.published is None], fetched)
    if lie is None:
        return found
    entries = tuple(replace(entry, changed=None) for entry in found.entries)
    return replace(found, entries=entries, warnings=(*found.warnings, lie))


def parse(body: bytes, url: str, content_type: str | None, fetched: datetime) -> Sitemap:
    """Read a fetched sitemap. ``fetched`` (aware) bounds the dates.

    Raises ``NotApplicable`` and nothing else: ``not-a-sitemap`` (``detail`` says what it is), ``empty``. Takes seconds at most and no
    more memory than its entries, whatever the bytes.
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
        # one address a line
        rest = ""
        for piece in stream:
            *lines, rest = (rest + piece).replace("\r", "\n").split("\n")
            _take_lines(lines, reader, text)
            rest = rest[-MAX_URL:]
        _take_lines([rest], reader, text)
        if not reader.entries:
            raise NotApplicable("not-a-sitemap", "neither XML nor a list of addresses")
        kind = "text"
    if reader.broken:
        text.tell("bad-address")
    return honest(Sitemap(kind, tuple(reader.entries), reader.broken, tuple(text.warnings)), fetched)


def named_in(robots: bytes, url: str) -> list[str]:
    """The sitemaps that a robots.txt names (``Sitemap:`` lines stand outside all groups, RFC 9309 2.2.4), in its order."""
    text = robots[:512_000].decode("utf-8-sig", "replace").replace("\r", "\n")
    return list(dict.fromkeys(found for line in NAMED.findall(text) if (found := dom.join(url, line)) and len(found) < MAX_URL))[:MAX_NAMED]


class _Enough(Exception):
    """Raised by the target when no more is read."""


class _Reader:
    """Collects the entries of one file: each ``url`` and ``sitemap`` element that the parser tells of, or each line of a plain list."""

    def __init__(self, fetched: datetime, url: str) -> None:
        self.fetched = fetched
        self.url = url
        self.entries: list[SitemapEntry] = []
        self.broken = 0
        self.root: str | None = None
        self._odd = MAX_ODD_DATES
        self._tags = 0
        self._record: dict[str, str] | None = None
        self._field: str | None = None
        self._foreign = 0  # levels below an element of another extension

    def take(self, fields: Mapping[str, str]) -> None:
        loc = clean(fields.get("loc", "").replace("&amp;", "&"))  # escaped twice, or within CDATA, where nothing is escaped
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

    def date(self, written: str | None) -> datetime | None:
        """A date of the W3C's form, else of any; ``None`` for what cannot be one (0001, 2099)."""
        text = (written or "").strip()[:40]
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
        return when if when and plausible(when, self.fetched) else None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._tags += 1
        if self._tags > MAX_TAGS:
            raise _Enough("too-many-tags")
        is_foreign, name = _parted(tag)
        if self.root is None:
            self.root = name
            if name not in ROOTS:
                raise _Enough(name)
        elif self._foreign or is_foreign:
            self._foreign += 1
        elif name in RECORDS:
            self.close()
            self._record = {}
        else:
            self._field = name if name in FIELDS and self._record is not None else None

    def end(self, tag: str) -> None:
        if self._foreign:
            self._foreign -= 1
        else:
            self._field = None
            if _parted(tag)[1] in RECORDS:
                self.close()

    def data(self, text: str) -> None:
        if self._field is not None and self._record is not None and not self._foreign:
            known = self._record.get(self._field, "")
            if len(known) < MAX_URL:
                self._record[self._field] = known + text[:MAX_URL]

    def close(self) -> None:
        if self._record is None:
            return
        if len(self.entries) >= MAX_ENTRIES:
            raise _Enough("too-many-entries")
        self.take(self._record)
        self._record = self._field = None


@lru_cache(maxsize=100)
def _parted(tag: str) -> tuple[bool, str]:
    """Whether a tag is of another extension, by its namespace (or the prefix that nothing declares), and its plain name. The protocol's
    own address holds none of the others' names."""
    family, _, name = tag.removeprefix("{").rpartition("}")
    prefix, _, plain = name.rpartition(":")
    return OTHER.search((family or prefix).rpartition("/schemas/")[2]) is not None, plain.lower()


def _read_xml(stream: Iterable[str], reader: _Reader, text: XmlText) -> Kind:
    try:
        dom.stream_xml(stream, reader)
    except _Enough as reason:
        if reader.root in ROOTS:
            text.tell(str(reason))
    kind = ROOTS.get(reader.root or "")
    if kind is None:
        what = {"rss": "a feed", "feed": "a feed", "rdf": "a feed", "html": "an HTML page"}.get(reader.root or "", "XML of another kind")
        raise NotApplicable("not-a-sitemap", what if reader.root else "no XML element can be read")
    return kind


def _take_lines(lines: Iterable[str], reader: _Reader, text: XmlText) -> None:
    for line in filter(None, map(str.strip, lines)):
        if len(reader.entries) >= MAX_ENTRIES:
            text.tell("too-many-entries")
            return
        if line.startswith(("http://", "https://")):
            reader.take({"loc": line})
        elif not reader.entries:
            raise NotApplicable("not-a-sitemap", "neither XML nor a list of addresses")
        else:
            reader.broken += 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """``entries`` newest first, those without a date at the end in the file's order. ``left``: why how many others are not among them
    (``foreign``: of another site; ``old``; ``rules``: allow and deny; ``no-article``)."""

    entries: tuple[SitemapEntry, ...]
    left: Counter[str] = field(default_factory=Counter)


def choose(entries: Iterable[SitemapEntry], of: str, rules: HubRules, max_age: timedelta, now: datetime) -> Chosen:
    """Those of ``entries`` to look at; ``of`` is the sitemap's address.

    Another site's addresses are left out (sitemaps.org, "Sitemap file location"), unless a rule in ``allow`` names them. Where the
    sitemap tells no date, the address may.
    """
    site, oldest = Address(of).domain, now - max_age
    left: Counter[str] = Counter()
    kept: list[tuple[datetime, SitemapEntry]] = []
    for entry in entries:
        when = entry.moment
        why = "old" if when and when < oldest else _against(entry, site, rules)  # most are old, and that costs least to see
        if why is None and when is None:
            when = url_date(entry.url, now, UTC)
            why = "old" if when and when < oldest else None
        if why:
            left[why] += 1
        else:
            kept.append((when or LEAST, entry))
    kept.sort(key=lambda pair: pair[0], reverse=True)
    return Chosen(tuple(entry for _, entry in kept), left)


def children(entries: Sequence[SitemapEntry], of: str, max_age: timedelta, now: datetime, most: int) -> Chosen:
    """The ``most`` sitemaps of an index that changed last; ``left`` has ``many`` too. A day is granted to ``lastmod``."""
    site, oldest = Address(of).domain, now - max_age - timedelta(days=1)
    own = [entry for entry in entries if Address(entry.url).domain == site]
    young = [entry for entry in own if entry.changed is None or entry.changed >= oldest]
    young.sort(key=lambda entry: entry.changed or LEAST, reverse=True)
    left = Counter({"foreign": len(entries) - len(own), "old": len(own) - len(young), "many": max(0, len(young) - most)})
    return Chosen(tuple(young[:most]), +left)


def _against(entry: SitemapEntry, site: str, rules: HubRules) -> str | None:
    address = Address(entry.url)
    if rules.score(entry.url, FULL) < FULL / 2:
        return "rules"
    if rules.allow:
        return None
    if address.domain != site:
        return "foreign"
    told = entry.title or entry.published
    return None if told or sum(WEIGHTS.get(fact, 0.0) for fact in address.facts) > NO_ARTICLE else "no-article"
