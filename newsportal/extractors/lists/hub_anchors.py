"""Links of a list page with their context: text, page region, heading, date."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from newsportal.extractors.article.hints import MAX_NAME_CHARS, ancestors
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import clean, dom

MAX_LINKS = 5_000  # distinct URLs: seven times the largest front page of the development set
MAX_TEXT_CHARS = 400  # no headline is longer; the text of a linked card may be
MAX_INSIDE = 200  # elements read inside a link: unclosed links nest, each with the rest of the page inside
MAX_CARD_LEVELS = 5  # from the link up to its list entry
MAX_CARD_CHARS = 2_000
MAX_NODES = 4  # links to one URL whose context is read
MAX_LINKS_INSIDE = 6  # links to one URL within a list entry: picture, headline, summary, 「详细」
NAVIGATION = frozenset(
    "nav navbar navigation menu submenu subnav topnav mainnav breadcrumb breadcrumbs crumb crumbs path position tabs tab toolbar".split()
)
FOOTER = frozenset("foot footer copyright friendlink friendlinks blogroll flink links bottom sitemap".split())
HEADER = frozenset("header topbar masthead login userbar shortcut".split())
ASIDE = frozenset("share sharebar pager pagination pages pg advert ads ad banner tag tags".split())
PLACES = {"place-nav": NAVIGATION, "place-foot": FOOTER, "place-head": HEADER, "place-aside": ASIDE}
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
)  # Dates as list pages write them beside links. Month and day alone (``08-01``) also number things, so they need a time.
DIGIT = re.compile(r"\d")  # every date but 「刚刚」 has a digit, most lines have none
MENU_SHARE = 0.34  # share of headlines among a region's links above which its name is wrong (BBC's front page is one big "navigation")
MENU_HEADLINES = 3
MIN_HEADLINE_LENGTH = 10  # title lengths
MIN_SUMMARY = 20  # title lengths; shorter texts are publishers, counters and labels


@dataclass(slots=True)
class Region:
    """A named part of a page, with the numbers of its links and of those that are headlines."""

    place: str
    links: int = 0
    headlines: int = 0

    @property
    def name_fits(self) -> bool:
        """Whether the content fits the name: menus and footers have short labels, news lists have headlines."""
        return self.headlines < MENU_HEADLINES or self.headlines < MENU_SHARE * self.links


BODY = Region("place-body")


@dataclass(slots=True)
class Anchor:
    """All links of a page to one URL. ``text`` is their longest text, ``length`` its title length, ``regions`` the regions they are in."""

    address: Address
    nodes: list[dom.Element] = field(default_factory=list, repr=False)
    text: str = ""
    length: int = 0
    title: str | None = None
    heading: bool = False
    regions: list[Region] = field(default_factory=list, repr=False)

    @property
    def places(self) -> set[str]:
        """Names of the links' regions, or ``place-body`` alone if one link is in the body; ``place-heading`` is added for a heading."""
        names = {region.place if region.name_fits else BODY.place for region in self.regions}
        names = {BODY.place} if BODY.place in names else names
        return names | {"place-heading"} if self.heading else names


def collect_anchors(document: dom.Document, base: str | None = None) -> list[Anchor]:
    """Return the links to http(s) pages in page order, one :class:`Anchor` per URL. Fragments are kept: some sites need them."""
    found: dict[str, Anchor] = {}
    regions: dict[dom.Element, Region] = {}
    base = base or document.base
    for node in document.root.iter("a", "area"):
        url = dom.join(base, node.get("href") or "", fragment=True)
        if url is None or (url not in found and len(found) >= MAX_LINKS):
            continue
        unassigned: list[dom.Element] = []
        above = node.getparent()
        while above is not None and above not in regions:
            unassigned.append(above)
            if place := _region_name(above):
                regions[above] = Region(place)
                break
            above = above.getparent()
        region = regions[above] if above is not None else BODY
        for element in unassigned:
            regions.setdefault(element, region)
        anchor = found.get(url) or found.setdefault(url, Anchor(Address(url)))
        text = link_text(document, node)
        length = title_length(text)
        if length > anchor.length or not anchor.text:
            anchor.text, anchor.length = text, length
        region.links += 1
        region.headlines += length >= MIN_HEADLINE_LENGTH
        anchor.regions.append(region)
        anchor.nodes.append(node)
        anchor.title = anchor.title or clean(node.get("title") or "") or None
        above = node.getparent()
        inside = anchor.heading or (above is not None and above.tag in HEADINGS)
        anchor.heading = inside or (len(node) > 0 and any(inner.tag in HEADINGS for inner in islice(node.iter(), MAX_INSIDE)))
    return list(found.values())


def link_text(document: dom.Document, node: dom.Element) -> str:
    """Return the beginning of a link's text. The texts of the first ``MAX_LINKS`` links are cached in the document."""
    texts = document.link_texts
    if (text := texts.get(node)) is None:
        text = dom.text_of(node, MAX_INSIDE)[:MAX_TEXT_CHARS]
        if len(texts) < MAX_LINKS:
            texts[node] = text
    return text


def _region_name(node: dom.Element) -> str | None:
    if node.tag in ("body", "html"):
        return None
    by_tag = TAG_PLACES.get(node.tag) or ROLE_PLACES.get(node.get("role") or "")
    if by_tag == "place-head" and next(node.iter("time", "h2", "h3"), None) is not None:
        by_tag = None  # <header> inside an article card
    if by_tag:
        return by_tag
    return _region_by_name((node.get("class") or "")[:MAX_NAME_CHARS], (node.get("id") or "")[:MAX_NAME_CHARS])


@lru_cache(maxsize=4096)
def _region_by_name(name: str, ident: str) -> str | None:
    tokens = {token.lower() for token in TOKEN.findall(f"{name} {ident}")}
    return next((place for place, words in PLACES.items() if tokens & words), None)


def title_length(text: str) -> int:
    """Return the length of a text in Chinese characters (and kana); a word or number in another script counts as two."""
    return len("".join(IDEOGRAPHS.findall(text))) + 2 * len(OTHER_WORD.findall(text))


@dataclass(frozen=True, slots=True)
class Card:
    """Summary and date of a list entry; ``date_text`` as written."""

    summary: str | None = None
    date_text: str | None = None


def read_card(anchor: Anchor) -> Card:
    """Return summary and date from the elements around a link that contain no link to another URL."""
    best = Card()
    for node in anchor.nodes[:MAX_NODES]:
        entry = _enclosing_entry(node)
        lines = dom.lines_of(entry) if entry is not None else []
        others = [line for line in lines if line not in anchor.text] if sum(map(len, lines)) <= MAX_CARD_CHARS else []
        longest = max(others, key=title_length, default="")
        summary = longest if title_length(longest) >= MIN_SUMMARY else None
        best = Card(best.summary or summary, best.date_text or _entry_date(entry, lines))
    return best


def _enclosing_entry(node: dom.Element) -> dom.Element | None:
    """Return the largest element around a link, at most a list entry, without links to other URLs."""
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


def _entry_date(entry: dom.Element | None, lines: list[str]) -> str | None:
    if entry is None:
        return None
    for stamp in entry.iter("time"):
        if stamp.get("datetime"):
            return clean(stamp.get("datetime"))
    for line in lines[:50]:
        if (DIGIT.search(line) or "刚刚" in line) and (match := DATE.search(line[:MAX_TEXT_CHARS])):
            return match.group()
    return None
