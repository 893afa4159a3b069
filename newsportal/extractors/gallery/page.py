"""One page of a photo story: its pictures, in order with captions, its metadata, and the URLs of its other pages; and an index page: its
links to photo stories (paper C, 2.1.1). No network access."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.extractors.article.best import declares_article
from newsportal.extractors.article.refusal import REASONS, reject_binary
from newsportal.extractors.fields import published
from newsportal.extractors.fields.author import find_author, find_origin
from newsportal.extractors.fields.date import default_zone, read_date
from newsportal.extractors.fields.metadata import Metadata, language_of, read_metadata
from newsportal.extractors.fields.title import best_title
from newsportal.extractors.gallery.captions import CaptionedPictures, assign_captions
from newsportal.extractors.gallery.next_page import Count, PageLinks, find_count, find_page_links, links_of_pictures, same_story
from newsportal.extractors.gallery.pictures import PagePicture, pictures_of, select_story_pictures
from newsportal.extractors.gallery.slideshow import Slides, find_slideshow
from newsportal.extractors.gallery.story import bare_title
from newsportal.extractors.gallery.variants import add_image, key_of
from newsportal.extractors.lists import hub, hub_anchors
from newsportal.extractors.lists.hub_anchors import Anchor
from newsportal.extractors.lists.hub_urls import Address
from newsportal.items import GalleryPage, Image, Link
from newsportal.text import clean, dom, letters

# Content pages are distinguished from index pages (paper C, 2.1.2), and both from pages without content.

MIN_INDEX_TEASERS: Final = 3  # pictures that link to other pages and make a page without own pictures an index
MIN_TEASERS: Final = 6  # the same for a page with a list's URL: some channels show a large picture of their own
MANY_TEASERS: Final = 8  # the same for any page without text on its few pictures
MAX_OWN: Final = 2
MAX_ERROR_LINE_CHARS: Final = 40  # Characters of a line that may be the complete text of an error page
MAX_ERROR_CHARS: Final = 60  # characters under the pictures; a page with more is not an error page
LIST_FEATURES: Final = frozenset(("url-list-word", "url-shallow"))
REFRESH: Final = re.compile(r"^\s*\d{0,2}\s*;\s*url\s*=", re.IGNORECASE)
MAX_IMAGES: Final = 500
MAX_TITLE: Final = 1_000  # characters of a title that are read, several times the longest known
MAX_PAGE_PICTURES: Final = 3  # Pictures of a page up to which a counter without a unit counts pages; with more, it counts pictures


def reject_index(url: str, found: Sequence[PagePicture], own_pictures: Sequence[PagePicture], is_story: bool) -> None:
    """Raise ``NotApplicable`` for a page that lists stories. ``is_story``: signs of a story of its own were found (counter, captions)."""
    address = Address(url)
    teasers = sum(1 for picture in found if picture.link == "page" and not any(picture is other for other in own_pictures))
    detail = f"{teasers} pictures lead to other pages, {len(own_pictures)} are its own"
    if "url-root" in address.features:
        raise NotApplicable("index-page", "a site's front page")
    if not own_pictures:
        raise NotApplicable("index-page" if teasers >= MIN_INDEX_TEASERS else "no-pictures", detail)
    if is_story:
        return
    if (address.features & LIST_FEATURES and teasers >= MIN_TEASERS) or (teasers >= MANY_TEASERS and len(own_pictures) <= MAX_OWN):
        raise NotApplicable("index-page", detail)


def reject_message(document: dom.Document, title: str | None, words: Sequence[str]) -> None:
    """Raise ``NotApplicable`` for an error, login, CAPTCHA or redirect page. ``words``: the text under the pictures."""
    for reason, pattern in REASONS:
        if title and pattern.search(title):
            raise NotApplicable(reason, title[:80])
    if sum(map(len, words)) > MAX_ERROR_CHARS:
        return
    short = words or [line for line in document.lines if len(line) <= MAX_ERROR_LINE_CHARS]
    for reason, pattern in REASONS:
        if reason != "login" and (message := next((line for line in short if pattern.search(line)), None)):
            raise NotApplicable(reason, message)
    if words:
        return
    for node in document.root.iter("meta"):
        if (node.get("http-equiv") or "").lower() == "refresh" and REFRESH.search(node.get("content") or ""):
            raise NotApplicable("soft-404", "it sends its reader on")


def read(document: dom.Document, *, link: Link | None = None, now: datetime) -> GalleryPage:
    """Read one page of a story. ``now`` (aware): fetch time; ``link``: the link from an index page. Raises ``NotApplicable``:
    ``index-page``, ``no-pictures``, ``soft-404``, ``login``, ``captcha``, ``error-page``, ``not-html``."""
    reject_binary(document)
    meta = read_metadata(document)
    heading = (best_title(document, meta, link) or "")[:MAX_TITLE] or None
    page_title = next((dom.text_of(node) for node in document.root.iter("title")), "")[:MAX_TITLE]
    # the heading with which the page's title begins, however short: 「每日一图」 is not a site's name here
    texts = (dom.text_of(node)[:MAX_TITLE] for node in islice(document.root.iter("h1"), 3))
    headline = next((text for text in texts if (bare := letters(bare_title(text) or "")) and letters(page_title).startswith(bare)), None)
    title = bare_title(headline or heading)
    count = find_count(document.lines, (heading or "", page_title))
    links = find_page_links(document, count)
    found = pictures_of(document, lambda url: same_story(document.url, url) or url in links.pages)
    if links.next is None and len(links.pages) < 2:
        drawn = links_of_pictures(document.url, [picture.target for picture in found if picture.link == "story"], count)
        links = drawn if drawn.pages else links
    own = select_story_pictures(found)
    lead = dom.join(document.base, meta.get("og:image") or meta.article_image() or "")
    slides = find_slideshow(document, [*(item.image.url for item in own), *([lead] if lead else [])], count.total if count else None, title)
    pictures = assign_captions(own, document, [heading or "", title or ""]) if own else CaptionedPictures(())
    if slides is not None and not _is_story(slides, pictures.images, links, count):
        slides = None
    words = [*pictures.lines, *(image.caption for image in (slides or pictures).images if image.caption)]
    reject_message(document, heading or page_title, words)
    if slides is None:
        captioned = bool(pictures.images) and all(image.caption for image in pictures.images)
        reject_index(document.url, found, own, count is not None or links.next is not None or declares_article(meta) or captioned)
    unique: dict[str, Image] = {}
    for image in pictures.images if slides is None else ():
        add_image(unique, image)
    images = slides.images if slides is not None else tuple(unique.values())
    lines = [line for line in pictures.lines if slides is None or not _in_captions(line, images)] or _description(meta, images, title)
    language = language_of(meta, [title or "", *lines, *(image.caption or "" for image in images)])
    page = GalleryPage(
        url=document.url,
        number=links.number or (count.number if count else None),
        title=title or (slides.title if slides else None),
        text="\n".join(lines) or None,
        images=images[:MAX_IMAGES],
        published=published.best_date(document, meta, link, now, language, heading),
        author=find_author(document, meta, lines, language, heading),
        origin=find_origin(document, meta, language),
        language=language,
    )
    return _with_page_links(page, links, count, slides is not None)


def _with_page_links(page: GalleryPage, links: PageLinks, count: Count | None, complete: bool) -> GalleryPage:
    """Return the page with its number and links; a page with all the pictures of its counter is the complete story."""
    counts = count is not None and links.next is None and len(page.images) >= count.total
    if complete or (counts and len(links.pages) < 2):
        return replace(page, number=1, total=1, whole=True)
    total = None
    if count is not None and not count.several and not (count.pictures and len(page.images) > 1):
        sure = len(page.images) <= MAX_PAGE_PICTURES or count.number == links.number
        total = count.total if sure and (count.number is not None or len(page.images) == 1 or not count.pictures) else None
    return replace(page, total=total, pages=links.pages if len(links.pages) > 1 else (), next=links.next)


def _is_story(slides: Slides, images: Sequence[Image], links: PageLinks, count: Count | None) -> bool:
    """Return whether the page's data are the complete story: as many pictures as the page shows and counts, and as many as it has pages."""
    size = len(slides.images)
    keys = {key_of(image.url) for image in slides.images}
    fresh = sum(1 for image in images if key_of(image.url) not in keys and image.caption)
    counts_more = count is not None and links.next is not None and size < count.total
    return fresh <= size / 2 and not counts_more and size >= len(links.pages)


def _in_captions(line: str, images: Sequence[Image]) -> bool:
    key = letters(line)
    return any(image.caption and (key in letters(image.caption) or letters(image.caption) in key) for image in images)


def _description(meta: Metadata, images: Sequence[Image], title: str | None) -> list[str]:
    """Return the page's meta description if it shows no text, unless it repeats title or caption."""
    description = meta.get("og:description") or meta.get("description") or ""
    key = letters(description)
    return [description] if key and key not in letters(title or "") and not _in_captions(description, images) else []


# With a ``seed``: every link that contains it and no ``banned_seed``, as in the paper; the operator defines the URLs of stories. Without
# one: links with a picture, and those that :mod:`newsportal.extractors.lists.hub` classifies as articles, without menus, lists, services,
# files and other sites. The target is checked when it is read: an index page is dropped then.

# Facts of URLs that exclude a photo story, unless the operator's ``seed`` matches.
EXCLUDED: Final = frozenset("url-root url-file url-too-long url-shallow url-search url-comments url-later-page url-service-word".split())
ASIDES: Final = frozenset({"place-nav", "place-foot", "place-head", "place-aside"})  # pictures with links there are banners and buttons
PICTURE_TAGS: Final = ("img", "picture", "amp-img")


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    url: str
    title: str | None = None
    summary: str | None = None
    published: datetime | None = None


def find_entries(document: dom.Document, now: datetime, *, seed: str | None = None, banned: Sequence[str] = ()) -> list[GalleryEntry]:
    """Return the photo stories of an index page, one per URL, in page order. ``now`` (aware): fetch time."""
    page = Address(document.url)
    articles = pagers = frozenset[str]()
    if seed is None:
        articles = frozenset(link.url.partition("#")[0] for link in hub.links(document) if link.kind == "article")
        pagers = frozenset(url.partition("#")[0] for url in hub.next_pages(document))
    found: dict[str, GalleryEntry] = {}
    for anchor in hub_anchors.collect_anchors(document):
        url = anchor.address.same_page
        if url == page.same_page or any(word in url for word in banned):
            continue
        if url in pagers or not (_may_be_story(anchor, page, articles) if seed is None else seed in url):
            continue
        card = hub_anchors.read_card(anchor)
        published = read_date(card.date_text, now, default_zone(anchor.text)) if card.date_text else None
        alts = (clean(image.get("alt") or "") for node in anchor.nodes for image in node.iter("img"))
        title = anchor.text or anchor.title or next(filter(None, alts), None)
        if before := found.get(url):  # merge two links to one URL (a picture and a headline)
            title = max((text for text in (before.title, title) if text), key=len, default=None)
            found[url] = GalleryEntry(url, title, before.summary or card.summary, before.published or published)
        else:
            found[url] = GalleryEntry(url, title, card.summary, published)
    return list(found.values())


def _may_be_story(anchor: Anchor, page: Address, articles: Collection[str]) -> bool:
    if anchor.address.domain != page.domain or anchor.address.features & EXCLUDED:
        return False
    pictured = any(next(node.iter(*PICTURE_TAGS), None) is not None for node in anchor.nodes)
    return anchor.address.same_page in articles or (pictured and not anchor.places & ASIDES)
