"""The links of a list page with what surrounds them: text, place, heading, the date beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from newsportal.extractors.article.hints import MAX_NAME_CHARS, ancestors
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import clean, dom

MAX_LINKS = 5_000  # distinct addresses: seven times the richest front page of the development set
MAX_TEXT_CHARS = 400  # no headline is longer; a card's whole text may be
MAX_INSIDE = 200  # elements of a link that are read: links that nobody closed lie in one another, each with the rest of the page
MAX_CARD_LEVELS = 5  # from the link up to the list entry that holds it
MAX_CARD_CHARS = 2_000
MAX_NODES = 4  # links to one URL whose surroundings are looked at
MAX_LINKS_INSIDE = 6  # to one URL in one list entry: picture, headline, summary, 「详细」
NAVIGATION = frozenset(
    "nav navbar navigation menu submenu subnav topnav mainnav breadcrumb breadcrumbs crumb crumbs path position tabs tab toolbar".split()
)
FOOT = frozenset("foot footer copyright friendlink friendlinks blogroll flink links bottom sitemap".split())
HEAD = frozenset("header topbar masthead login userbar shortcut".split())
ASIDE = frozenset("share sharebar pager pagination pages pg advert ads ad banner tag tags".split())
PLACES = {"place-nav": NAVIGATION, "place-foot": FOOT, "place-head": HEAD, "place-aside": ASIDE}
TAG_PLACES = {"nav": "place-nav", "footer": "place-foot", "header": "place-head", "address": "place-foot"}
ROLE_PLACES = {"navigation": "place-nav", "contentinfo": "place-foot", "banner": "place-head", "menu": "place-nav", "menubar": "place-nav"}
TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
IDEOGRAPHS = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
OTHER_WORD = re.compile("[^\\W_\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
ENTRIES = frozenset("li dd dt tr article".split())
DATE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?(?:[T ]?\s?\d{1,2}:\d\d(?::\d\d)?)?"
    r"|(?<!\d)\d{1,2}月\d{1,2}日(?:\s?\d{1,2}:\d\d)?"
    r"|(?<![\d-])\d{1,2}[-/]\d{1,2}\s\d{1,2}:\d\d"
    r"|\d+\s?(?:秒|分钟|小时|天|周)[之以]?前|(?:今天|昨天|前天)\s?\d{1,2}:\d\d|刚刚"
    r"|\d+\s(?:second|minute|min|hour|hr|day)s?\sago"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s\d{1,2},?\s(?:19|20)\d\d"
    r"|\d{1,2}\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s(?:19|20)\d\d"
)  # a date as list pages write it beside a link. Bare day and month (``08-01``) also number things, so they need a time.
DIGIT = re.compile(r"\d")  # all but 「刚刚」 have one, and most lines have none
MENU_SHARE = 0.34  # of a region's links with headlines: then its name lies (BBC's front page is one big "navigation")
MENU_HEADLINES = 3
HEADLINE = 10  # title lengths
MIN_SUMMARY = 20  # title lengths; shorter texts are sources, counters and labels


@dataclass(slots=True)
class Region:
    """A named part of a page; ``links`` and ``headlines`` count what stands in it."""

    place: str
    links: int = 0
    headlines: int = 0

    @property
    def honest(self) -> bool:
        """Whether it is what its name says: menus and footers hold short labels, lists of news hold headlines."""
        return self.headlines < MENU_HEADLINES or self.headlines < MENU_SHARE * self.links


BODY = Region("place-body")


@dataclass(slots=True)
class Anchor:
    """All links of a page to one URL. ``text`` is the longest of their texts, ``length`` its title length; ``regions`` where they stand."""

    address: Address
    nodes: list[dom.Element] = field(default_factory=list, repr=False)
    text: str = ""
    length: int = 0
    title: str | None = None
    heading: bool = False
    regions: list[Region] = field(default_factory=list, repr=False)

    @property
    def places(self) -> set[str]:
        """``place-body`` when one of the links stands there, else the places of all."""
        names = {region.place if region.honest else BODY.place for region in self.regions}
        names = {BODY.place} if BODY.place in names else names
        return names | {"place-heading"} if self.heading else names


def collect(document: dom.Document, base: str | None = None) -> list[Anchor]:
    """The links to http(s) pages in page order, one :class:`Anchor` a URL. Fragments stay: some sites tell pages apart by them."""
    found: dict[str, Anchor] = {}
    regions: dict[dom.Element, Region] = {}
    base = base or document.base
    for node in document.root.iter("a", "area"):
        url = dom.join(base, node.get("href") or "", fragment=True)
        if url is None or (url not in found and len(found) >= MAX_LINKS):
            continue
        way: list[dom.Element] = []
        above = node.getparent()
        while above is not None and above not in regions:
            way.append(above)
            if place := _named(above):
                regions[above] = Region(place)
                break
            above = above.getparent()
        region = regions[above] if above is not None else BODY
        for element in way:
            regions.setdefault(element, region)
        anchor = found.get(url) or found.setdefault(url, Anchor(Address(url)))
        text = link_text(document, node)
        length = title_length(text)
        if length > anchor.length or not anchor.text:
            anchor.text, anchor.length = text, length
        region.links += 1
        region.headlines += length >= HEADLINE
        anchor.regions.append(region)
        anchor.nodes.append(node)
        anchor.title = anchor.title or clean(node.get("title") or "") or None
        above = node.getparent()
        inside = anchor.heading or (above is not None and above.tag in HEADINGS)
        anchor.heading = inside or (len(node) > 0 and any(one.tag in HEADINGS for one in islice(node.iter(), MAX_INSIDE)))
    return list(found.values())


def link_text(document: dom.Document, node: dom.Element) -> str:
    """The beginning of a link's text. Of the first links it is read once for all who look for them."""
    texts = document.link_texts
    if (text := texts.get(node)) is None:
        text = dom.text_of(node, MAX_INSIDE)[:MAX_TEXT_CHARS]
        if len(texts) < MAX_LINKS:
            texts[node] = text
    return text


def _named(node: dom.Element) -> str | None:
    if node.tag in ("body", "html"):
        return None
    by_tag = TAG_PLACES.get(node.tag) or ROLE_PLACES.get(node.get("role") or "")
    if by_tag == "place-head" and next(node.iter("time", "h2", "h3"), None) is not None:
        by_tag = None  # <header> of an article card
    if by_tag:
        return by_tag
    return _named_place((node.get("class") or "")[:MAX_NAME_CHARS], (node.get("id") or "")[:MAX_NAME_CHARS])


@lru_cache(maxsize=4096)
def _named_place(name: str, ident: str) -> str | None:
    tokens = {token.lower() for token in TOKEN.findall(f"{name} {ident}")}
    return next((place for place, words in PLACES.items() if tokens & words), None)


def title_length(text: str) -> int:
    """The length of a link's text in Chinese characters (kana alike); a word or number of another script counts two."""
    return len("".join(IDEOGRAPHS.findall(text))) + 2 * len(OTHER_WORD.findall(text))


@dataclass(frozen=True, slots=True)
class Card:
    """What a list entry says beside its link. ``date_text`` is as written."""

    summary: str | None = None
    date_text: str | None = None


def card(anchor: Anchor) -> Card:
    """The summary and date of the list entry around an anchor that has no other link's company."""
    best = Card()
    for node in anchor.nodes[:MAX_NODES]:
        holder = _holder(node)
        lines = dom.lines_of(holder) if holder is not None else []
        others = [line for line in lines if line not in anchor.text] if sum(map(len, lines)) <= MAX_CARD_CHARS else []
        longest = max(others, key=title_length, default="")
        summary = longest if title_length(longest) >= MIN_SUMMARY else None
        best = Card(best.summary or summary, best.date_text or _date(holder, lines))
    return best


def _holder(node: dom.Element) -> dom.Element | None:
    """The largest element around a link, at most an entry, in which no other page is linked."""
    found = None
    for above in ancestors(node, MAX_CARD_LEVELS):
        href = node.get("href")
        inside = list(islice(above.iter("a"), MAX_LINKS_INSIDE + 1))
        if len(inside) > MAX_LINKS_INSIDE or any((link.get("href") or href) != href for link in inside):
            return found
        found = above
        if above.tag in ENTRIES:
            return found
    return found


def _date(holder: dom.Element | None, lines: list[str]) -> str | None:
    if holder is None:
        return None
    for stamp in holder.iter("time"):
        if stamp.get("datetime"):
            return clean(stamp.get("datetime"))
    for line in lines[:50]:
        if (DIGIT.search(line) or "刚刚" in line) and (match := DATE.search(line[:MAX_TEXT_CHARS])):
            return match.group()
    return None
