"""The words of the house: what travels from a source to a reader.

Every value is a frozen dataclass, checked where it enters (spiders, stores, the API) and trusted inside.
Datetimes are aware. ``None`` means "not found", never ``""``. Collections are tuples, so values can be hashed and shared.

Who adds a field adds it to the store's contract test (``tests/store/test_contract.py``) as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, Literal

LinkKind = Literal["article", "hub", "other"]  # what stands behind a link of a list page: an article, another list page, or neither


def content_id(text: str) -> str:
    """A short id of ``text`` that is the same in every process and on every machine (20 hexadecimal digits)."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


@dataclass(frozen=True, slots=True)
class Link:
    """What a result page, feed or hub said about an article, before anybody fetched it.

    ``source`` names who said it, as ``feed:NAME``, ``region:NAME`` or ``engine:NAME``; it is the row of the run report.
    """

    url: str
    source: str
    title: str | None = None
    summary: str | None = None
    site: str | None = None
    published: datetime | None = None
    author: str | None = None
    topic: str | None = None
    category: str | None = None
    content: str | None = field(default=None, repr=False)  # HTML that the feed carried, for pages that cannot be had
    identity: str | None = None  # what its article is known by, where the URL does not tell entries of a feed apart


@dataclass(frozen=True, slots=True)
class ListPage:
    """The articles that a list page names. ``lists`` are other list pages that it links to, ``next`` its own further pages."""

    url: str
    links: tuple[Link, ...] = ()
    lists: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Bytes as they were served, and what the server said of them.

    ``url`` is the address that answered (after redirects); ``content_type`` the header as served, which may lie.
    """

    url: str
    body: bytes
    fetched: datetime
    status: int = 200
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture of an article or gallery. Sizes are pixels.

    ``format`` is what its first bytes say (``jpeg``, ``png``, ``gif``, ``webp``, ``avif``). ``page`` is where it stands, if not on the
    article's own page: the Referer that its server expects. ``print`` is its perceptual hash, 16 hexadecimal digits. ``dropped``: why
    it is not shown (a slug: a logo, an advertisement, gone); it keeps its place among the others of its gallery.
    """

    url: str
    caption: str | None = None
    width: int | None = None
    height: int | None = None
    format: str | None = None
    page: str | None = None
    print: str | None = None
    dropped: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in one page. ``text`` has one paragraph a line; ``html`` is the body, sanitised."""

    title: str | None = None
    text: str | None = None
    html: str | None = None
    published: datetime | None = None
    author: str | None = None
    origin: str | None = None  # 来源: who published it first, as the page says
    site: str | None = None  # what the page's site calls itself
    images: tuple[Image, ...] = ()
    language: str | None = None  # BCP 47: "zh", "zh-Hant", "en"
    canonical: str | None = None
    algorithm: str | None = None
    pages: tuple[str, ...] = ()  # of an article of several pages: their URLs in order, as far as known; else empty
    confidence: float | None = None  # how sure the algorithm is of the text, from 0 to 1
    kind: str | None = None  # of the page: article, thread, product …, see extractors.article.page_kind; None: nobody asked
    kind_probability: float | None = None


@dataclass(frozen=True, slots=True)
class FoldKey:
    """A key under which an article repeats another: articles that share ``key`` within ``window`` seconds are one story.

    ``reason`` is a stable slug that readers see translated (``same-title``, ``same-text``); ``score`` runs from 0 to 1.
    ``same_site`` False: articles of one site never fold by this key (standing columns share a title).
    """

    key: str
    reason: str
    score: float = 1.0
    window: float = 3 * 86400.0
    same_site: bool = True


@dataclass(frozen=True, slots=True)
class Fold:
    """Why an article was folded into a story: ``of`` is the article it repeats, ``reason`` and ``score`` those of the key."""

    story_id: str
    of: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class FoldDecision:
    """Which stored article another one repeats; ``fold`` is ``None`` for one that is new. Decided when ``seq`` was the last change.
    ``printed``: what was compared, for the store to keep."""

    fold: Fold | None
    seq: int
    printed: object = None


@dataclass(frozen=True, slots=True)
class TopicMark:
    """How an article came into a topic. ``by``: ``source`` (all articles from there), ``search`` (it was found for the topic),
    ``keywords``, ``editor``, or ``model VERSION``. ``score``: how likely the topic's model holds it, where there is one (from 0 to 1)."""

    topic: str
    by: str
    score: float | None = None


def page_text(description: str) -> Any:
    """A text of an :class:`Article` that every part handles alike: stored, revised with its page, exported, imported. One line adds one."""
    return field(default=None, metadata={"page_text": description})


@dataclass(frozen=True, slots=True)
class Article:
    """An article on its way through the pipelines: each stage answers with a fuller copy (``dataclasses.replace``).

    ``page`` is there until the article is stored; ``identity`` is the canonical form of its URL, by which it is known. ``pages`` are
    the URLs of an article of several pages, the first included; the store keeps them as aliases. ``wrapped`` and ``extraction`` are what
    the source's own rule and the extractor found, where the spider has read the pages already to find the further ones.
    """

    url: str
    link: Link
    fetched: datetime
    identity: str | None = None
    page: Page | None = field(default=None, repr=False)
    title: str | None = None
    text: str | None = field(default=None, repr=False)
    html: str | None = field(default=None, repr=False)
    published: datetime | None = None
    author: str | None = page_text("who wrote it")
    origin: str | None = page_text("who published it first, as the page says")
    site: str | None = None
    images: tuple[Image, ...] = ()
    language: str | None = page_text("BCP 47: zh, zh-Hant, en")
    category: str | None = None
    category_by: str | None = None  # source, lexicon, model VERSION, editor
    category_score: float | None = None  # how sure a classifier is, from 0 to 1
    category_reason: str | None = None  # the words that decided
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    keywords: tuple[str, ...] = ()  # the weightiest first
    algorithm: str | None = page_text("which extractor read it")
    keys: tuple[FoldKey, ...] = ()
    pages: tuple[str, ...] = ()
    canonical: str | None = None  # the address that its page declares; from the URL filter on, as an identity that it claims without proof
    decision: FoldDecision | None = None
    wrapped: Extraction | None = field(default=None, repr=False)
    extraction: Extraction | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        return self.link.source


PAGE_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {one.name: one.metadata["page_text"] for one in fields(Article) if "page_text" in one.metadata}
)
"""Name → description of the texts of :func:`page_text`: tables, rows, export, import and schema follow this list."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a thread. ``floor`` counts from 1 (the opening post).

    ``text`` is the author's own words, ``quoted`` other people's words that it answers, ``full_text`` both as the page shows them;
    ``block_text`` all that stands in the post's block, ``date_text`` the time as written. ``id`` is the number under which the site knows
    the post; ``opening``: it began the thread (楼主).
    """

    author: str | None
    published: datetime | None
    text: str
    floor: int | None = None
    date_text: str | None = None
    block_text: str | None = None
    quoted: str | None = None
    images: tuple[Image, ...] = ()
    xpath: str | None = None
    full_text: str | None = None
    id: str | None = None
    opening: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A forum thread with the posts that one visit read, in page order.

    ``last_page`` is where the next visit begins; ``whole``: that page is the thread's last. ``replies`` and ``listed`` are what the
    board's list said of replies and of the last post's time when the visit began. ``failure``: why its pages were not read on.
    """

    url: str
    title: str
    link: Link
    fetched: datetime
    posts: tuple[Post, ...] = ()
    board: str | None = None
    identity: str | None = None
    last_page: str | None = None
    whole: bool = True
    replies: int | None = None
    listed: datetime | None = None
    failure: str | None = None
    later: bool = False  # the failure may pass
    language: str | None = None
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    category: str | None = None


@dataclass(frozen=True, slots=True)
class GalleryPage:
    """What one page tells of a photo story (套图). ``number`` counts from 1; ``total``: pages in all, where page or data tell it.

    ``pages`` are the addresses of the story's pages that it names, in order, as far as known; ``next`` the page that its pager leads to.
    ``whole``: it carries every picture of the story (the data of a slideshow), so no further page is asked for.
    """

    url: str
    number: int | None = None
    total: int | None = None
    title: str | None = None
    text: str | None = None
    images: tuple[Image, ...] = ()
    published: datetime | None = None
    author: str | None = None
    origin: str | None = None
    language: str | None = None
    pages: tuple[str, ...] = ()
    next: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Gallery:
    """A photo story (套图) over one or many pages; ``complete`` once every page was seen.

    ``images`` are all its pictures in order, those left out too (``Image.dropped``); ``visible_images`` those that are its own.
    ``total``: how many pages it has, as far as known; ``missing``: the numbers of those that could not be had, ``failure`` why, and
    ``later`` whether that may pass. ``weight`` is its source's, from 1 to 10.
    ``looked`` are the addresses of the pictures whose first bytes this visit has read.
    """

    url: str
    title: str
    link: Link
    fetched: datetime
    images: tuple[Image, ...] = ()
    published: datetime | None = None
    complete: bool = False
    identity: str | None = None
    text: str | None = None
    author: str | None = None
    origin: str | None = None
    site: str | None = None
    language: str | None = None
    category: str | None = None
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    pages: tuple[str, ...] = ()
    total: int | None = None
    missing: tuple[int, ...] = ()
    failure: str | None = None
    later: bool = False
    weight: int = 5
    category_by: str | None = None
    category_score: float | None = None
    category_reason: str | None = None
    keywords: tuple[str, ...] = ()
    looked: frozenset[str] = frozenset()

    @property
    def visible_images(self) -> tuple[Image, ...]:
        return tuple(image for image in self.images if image.dropped is None)
