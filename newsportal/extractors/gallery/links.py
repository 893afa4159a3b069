"""Which links of an index page lead to photo stories (paper C, 2.1.1). Pure.

With a ``seed``: every link that contains it and no ``banned_seed``, as the paper tells; the operator has said what a story's address is.
Without one: links that a picture leads through, and those that :mod:`newsportal.extractors.lists.hub` takes for articles, without
menus, lists, services, files and other sites. What a link leads to is seen when its page is read: an index page met there is left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from newsportal.extractors.fields.date import default_zone, read_date
from newsportal.extractors.lists import hub, hub_anchors
from newsportal.extractors.lists.hub_anchors import Anchor
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import clean, dom

# Facts of addresses that no photo story has, unless the operator's ``seed`` says so.
NEVER: Final = frozenset("url-root url-file url-too-long url-shallow url-search url-comments url-later-page url-service-word".split())
ASIDE: Final = frozenset({"place-nav", "place-foot", "place-head", "place-aside"})  # there, pictures with links are banners and buttons
PICTURES: Final = ("img", "picture", "amp-img")


@dataclass(frozen=True, slots=True)
class Entry:
    url: str
    title: str | None = None
    summary: str | None = None
    published: datetime | None = None


def entries(document: dom.Document, now: datetime, *, seed: str | None = None, banned: Sequence[str] = ()) -> list[Entry]:
    """The photo stories of an index page, one an address, in page order. ``now`` (aware): when it was fetched."""
    page = Address(document.url)
    articles = pagers = frozenset[str]()
    if seed is None:
        articles = frozenset(link.url.partition("#")[0] for link in hub.links(document) if link.kind == "article")
        pagers = frozenset(url.partition("#")[0] for url in hub.next_pages(document))
    found: dict[str, Entry] = {}
    for anchor in hub_anchors.collect(document):
        url = anchor.address.same_page
        if url == page.same_page or any(word in url for word in banned):
            continue
        if url in pagers or not (_leads(anchor, page, articles) if seed is None else seed in url):
            continue
        card = hub_anchors.card(anchor)
        published = read_date(card.date_text, now, default_zone(anchor.text)) if card.date_text else None
        said = (clean(image.get("alt") or "") for node in anchor.nodes for image in node.iter("img"))
        title = anchor.text or anchor.title or next(filter(None, said), None)
        if before := found.get(url):  # of two links to one address (a picture and a headline), what both say
            title = max((told for told in (before.title, title) if told), key=len, default=None)
            found[url] = Entry(url, title, before.summary or card.summary, before.published or published)
        else:
            found[url] = Entry(url, title, card.summary, published)
    return list(found.values())


def _leads(anchor: Anchor, page: Address, articles: Collection[str]) -> bool:
    if anchor.address.domain != page.domain or anchor.address.facts & NEVER:
        return False
    pictured = any(next(node.iter(*PICTURES), None) is not None for node in anchor.nodes)
    return anchor.address.same_page in articles or (pictured and not anchor.places & ASIDE)
