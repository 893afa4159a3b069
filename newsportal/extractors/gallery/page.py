"""One page of a photo story: its pictures in order with their captions, what it says of the story, and where its other pages are; and an
index page: which of its links lead to photo stories (paper C, 2.1.1). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.article.best import declares_article
from newsportal.extractors.article.refusal import REASONS, refuse_bytes
from newsportal.extractors.fields import published
from newsportal.extractors.fields.author import author, origin
from newsportal.extractors.fields.date import default_zone, read_date
from newsportal.extractors.fields.metadata import Metadata, language_of, read_metadata
from newsportal.extractors.fields.title import best_title
from newsportal.extractors.gallery.captions import CaptionedPictures, assign_captions
from newsportal.extractors.gallery.next_page import Count, Ways, by_pictures, counted, same_story, ways
from newsportal.extractors.gallery.pictures import PagePicture, of_story, pictures_of
from newsportal.extractors.gallery.slideshow import Slides, slideshow
from newsportal.extractors.gallery.story import bare_title
from newsportal.extractors.gallery.variants import enter, key_of
from newsportal.extractors.lists import hub, hub_anchors
from newsportal.extractors.lists.hub_anchors import Anchor
from newsportal.extractors.lists.hub_urls import Address
from newsportal.items import GalleryPage, Image, Link
from newsportal.text import clean, dom, letters

# Content pages told from index pages (paper C, 2.1.2), and both from pages that are no answer at all.

FEW_TEASERS: Final = 3  # pictures that lead to other pages, on a page without any of its own, that make it an index
TEASERS: Final = 6  # the same on a page whose address is a list's: some channels show a large picture of their own
MANY_TEASERS: Final = 8  # the same on any page that says nothing of its few pictures
FEW_OWN: Final = 2
SHORT_LINE: Final = 40  # Characters of a line that may be the whole message of a page that is none
FEW_WORDS: Final = 60  # characters under the pictures of a page above which it is no error's
LISTING: Final = frozenset(("url-list-word", "url-shallow"))
REFRESH: Final = re.compile(r"^\s*\d{0,2}\s*;\s*url\s*=", re.IGNORECASE)
MAX_IMAGES: Final = 500
MAX_TITLE: Final = 1_000  # characters that are read of a title, several times as many as any has
FEW: Final = 3  # Pictures of a page up to which a counter without a word counts pages; more pictures at once are what it counts


def refuse_index(url: str, found: Sequence[PagePicture], own: Sequence[PagePicture], says: bool) -> None:
    """Raise ``NotApplicable`` for a page that lists stories; ``says``: it tells of a story of its own (counter, captions)."""
    address = Address(url)
    teasers = sum(1 for one in found if one.lead == "page" and not any(one is other for other in own))
    detail = f"{teasers} pictures lead to other pages, {len(own)} are its own"
    if "url-root" in address.facts:
        raise NotApplicable("index-page", "a site's front page")
    if not own:
        raise NotApplicable("index-page" if teasers >= FEW_TEASERS else "no-pictures", detail)
    if says:
        return
    if (address.facts & LISTING and teasers >= TEASERS) or (teasers >= MANY_TEASERS and len(own) <= FEW_OWN):
        raise NotApplicable("index-page", detail)


def refuse_message(document: dom.Document, title: str | None, words: Sequence[str]) -> None:
    """Raise ``NotApplicable`` for an error, a login, a check or a redirect; ``words``: what stands under the pictures."""
    for reason, pattern in REASONS:
        if title and pattern.search(title):
            raise NotApplicable(reason, title[:80])
    if sum(map(len, words)) > FEW_WORDS:
        return
    short = words or [line for line in document.lines if len(line) <= SHORT_LINE]
    for reason, pattern in REASONS:
        if reason != "login" and (message := next((line for line in short if pattern.search(line)), None)):
            raise NotApplicable(reason, message)
    if words:
        return
    for node in document.root.iter("meta"):
        if (node.get("http-equiv") or "").lower() == "refresh" and REFRESH.search(node.get("content") or ""):
            raise NotApplicable("soft-404", "it sends its reader on")


def read(document: dom.Document, *, link: Link | None = None, now: datetime) -> GalleryPage:
    """What a page tells of its story. ``now`` (aware): when it was fetched; ``link``: what an index page said of it. Raises
    ``NotApplicable``: ``index-page``, ``no-pictures``, ``soft-404``, ``login``, ``captcha``, ``error-page``, ``not-html``."""
    refuse_bytes(document)
    meta = read_metadata(document)
    heading = (best_title(document, meta, link) or "")[:MAX_TITLE] or None
    page_title = next((dom.text_of(node) for node in document.root.iter("title")), "")[:MAX_TITLE]
    # the heading that the page's title begins with, however short: 「每日一图」 is no site's name here
    texts = (dom.text_of(node)[:MAX_TITLE] for node in islice(document.root.iter("h1"), 3))
    headline = next((text for text in texts if (bare := letters(bare_title(text) or "")) and letters(page_title).startswith(bare)), None)
    title = bare_title(headline or heading)
    count = counted(document.lines, (heading or "", page_title))
    way = ways(document, count)
    found = pictures_of(document, lambda url: same_story(document.url, url) or url in way.pages)
    if way.next is None and len(way.pages) < 2:
        drawn = by_pictures(document.url, [one.target for one in found if one.lead == "story"], count)
        way = drawn if drawn.pages else way
    own = of_story(found)
    lead = dom.join(document.base, meta.get("og:image") or meta.article_image() or "")
    slides = slideshow(document, [*(one.image.url for one in own), *([lead] if lead else [])], count.total if count else None, title)
    beside = assign_captions(own, document, [heading or "", title or ""]) if own else CaptionedPictures(())
    if slides is not None and not _is_story(slides, beside.images, way, count):
        slides = None
    words = [*beside.lines, *(image.caption for image in (slides or beside).images if image.caption)]
    refuse_message(document, heading or page_title, words)
    if slides is None:
        captioned = bool(beside.images) and all(image.caption for image in beside.images)
        refuse_index(document.url, found, own, count is not None or way.next is not None or declares_article(meta) or captioned)
    once: dict[str, Image] = {}
    for image in beside.images if slides is None else ():
        enter(once, image)
    images = slides.images if slides is not None else tuple(once.values())
    lines = [line for line in beside.lines if slides is None or not _in_captions(line, images)] or _described(meta, images, title)
    language = language_of(meta, [title or "", *lines, *(image.caption or "" for image in images)])
    page = GalleryPage(
        url=document.url,
        number=way.number or (count.number if count else None),
        title=title or (slides.title if slides else None),
        text="\n".join(lines) or None,
        images=images[:MAX_IMAGES],
        published=published.best_date(document, meta, link, now, language, heading),
        author=author(document, meta, lines, language, heading),
        origin=origin(document, meta, language),
        language=language,
    )
    return _placed(page, way, count, slides is not None)


def _placed(page: GalleryPage, way: Ways, count: Count | None, whole: bool) -> GalleryPage:
    """The page with its number and its way on; a page that holds all the pictures it counts is the whole story."""
    counts = count is not None and way.next is None and len(page.images) >= count.total
    if whole or (counts and len(way.pages) < 2):
        return replace(page, number=1, total=1, whole=True)
    total = None
    if count is not None and not count.several and not (count.pictures and len(page.images) > 1):
        sure = len(page.images) <= FEW or count.number == way.number
        total = count.total if sure and (count.number is not None or len(page.images) == 1 or not count.pictures) else None
    return replace(page, total=total, pages=way.pages if len(way.pages) > 1 else (), next=way.next)


def _is_story(slides: Slides, own: Sequence[Image], way: Ways, count: Count | None) -> bool:
    """Whether the page's data hold the whole story: not less than it shows, nor fewer pictures than it counts or pages it names."""
    size = len(slides.images)
    there = {key_of(image.url) for image in slides.images}
    fresh = sum(1 for image in own if key_of(image.url) not in there and image.caption)
    told_more = count is not None and way.next is not None and size < count.total
    return fresh <= size / 2 and not told_more and size >= len(way.pages)


def _in_captions(line: str, images: Sequence[Image]) -> bool:
    key = letters(line)
    return any(image.caption and (key in letters(image.caption) or letters(image.caption) in key) for image in images)


def _described(meta: Metadata, images: Sequence[Image], title: str | None) -> list[str]:
    """What the page says of itself to machines, where it shows no text and that is neither title nor caption."""
    said = meta.get("og:description") or meta.get("description") or ""
    key = letters(said)
    return [said] if key and key not in letters(title or "") and not _in_captions(said, images) else []


# With a ``seed``: every link that contains it and no ``banned_seed``, as the paper tells; the operator has said what a story's address is.
# Without one: links that a picture leads through, and those that :mod:`newsportal.extractors.lists.hub` takes for articles, without
# menus, lists, services, files and other sites. What a link leads to is seen when its page is read: an index page met there is left.

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
