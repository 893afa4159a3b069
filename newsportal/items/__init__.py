"""The items that travel from a source to a reader.

Every value is a frozen dataclass, checked where it enters (spiders, stores, the API) and trusted inside. Datetimes are timezone-aware.
``None`` means "not found", never ``""``. Collections are tuples, so values can be hashed and shared.

A new field is added to the store's contract test (``tests/store/test_contract.py``), too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, Literal

LinkKind = Literal["article", "hub", "other"]  # target of a link on a list page: an article, another list page, or neither


def content_id(text: str) -> str:
    """Return a short id of ``text``, the same in every process and on every machine (20 hexadecimal digits)."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


@dataclass(frozen=True, slots=True)
class Link:
    """A link with the data of its result page, feed or hub about an article, before the article is fetched.

    ``source`` is the source that found it, as ``feed:NAME``, ``region:NAME`` or ``engine:NAME``; it is the row of the run report.
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
    content: str | None = field(default=None, repr=False)  # HTML from the feed, used if the page cannot be fetched
    identity: str | None = None  # identity of its article, if the URL does not distinguish entries of a feed


@dataclass(frozen=True, slots=True)
class ListPage:
    """Articles linked from a list page. ``lists``: other list pages it links to, ``next``: its own further pages."""

    url: str
    links: tuple[Link, ...] = ()
    lists: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The response for a URL: the bytes as served, and metadata.

    ``url`` is the final URL (after redirects); ``content_type`` the header as served, which may be wrong.
    """

    url: str
    body: bytes
    fetched: datetime
    status: int = 200
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture of an article or gallery. Sizes are in pixels.

    ``format`` is detected from the first bytes (``jpeg``, ``png``, ``gif``, ``webp``, ``avif``). ``page``: the page that shows it, if not
    the article's own: the Referer its server expects. ``print``: perceptual hash, 16 hexadecimal digits. ``dropped``: why it is hidden
    (a slug: a logo, an advertisement, missing); it keeps its position in its gallery.
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
    """Result of an extractor for one page. ``text`` has one paragraph per line; ``html`` is the sanitized body."""

    title: str | None = None
    text: str | None = None
    html: str | None = None
    published: datetime | None = None
    author: str | None = None
    origin: str | None = None  # 来源: the first publisher according to the page
    site: str | None = None  # name of the page's site
    images: tuple[Image, ...] = ()
    language: str | None = None  # BCP 47: "zh", "zh-Hant", "en"
    canonical: str | None = None
    algorithm: str | None = None
    pages: tuple[str, ...] = ()  # URLs of an article with several pages, in order, as far as known; else empty
    confidence: float | None = None  # the algorithm's confidence in the text, from 0 to 1
    kind: str | None = None  # of the page: article, thread, product …, see extractors.article.page_kind; None: not determined
    kind_probability: float | None = None


@dataclass(frozen=True, slots=True)
class FoldKey:
    """A key for folding: articles with the same ``key`` within ``window`` seconds are one story.

    ``reason`` is a stable slug, shown translated (``same-title``, ``same-text``); ``score`` is between 0 and 1. ``same_site`` False:
    articles of one site never fold by this key (recurring columns share a title).
    """

    key: str
    reason: str
    score: float = 1.0
    window: float = 3 * 86400.0
    same_site: bool = True


@dataclass(frozen=True, slots=True)
class Fold:
    """Why an article was folded into a story: ``of`` is the article it repeats, ``reason`` and ``score`` are those of the key."""

    story_id: str
    of: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class FoldDecision:
    """Decision which stored article another one repeats; ``fold`` is ``None`` for a new one. ``seq``: last change at the time of the
    decision. ``compared``: the form compared, for the store to keep."""

    fold: Fold | None
    seq: int
    compared: object = None


@dataclass(frozen=True, slots=True)
class TopicMark:
    """Why an article is in a topic. ``by``: ``source`` (all of the source's articles), ``search`` (found for the topic), ``keywords``,
    ``editor``, or ``model VERSION``. ``score``: probability by the topic's model, if there is one (from 0 to 1)."""

    topic: str
    by: str
    score: float | None = None


def page_text(description: str) -> Any:
    """Define a text field of :class:`Article` that is stored, revised with its page, exported and imported without further code."""
    return field(default=None, metadata={"page_text": description})


@dataclass(frozen=True, slots=True)
class Article:
    """An article on its way through the pipelines: each stage returns a more complete copy (``dataclasses.replace``).

    ``page`` is present until the article is stored; ``identity`` is the canonical form of its URL. ``pages``: URLs of an article with
    several pages, including the first; the store keeps them as aliases. ``wrapped`` and ``extraction``: results of the source's wrapper and
    of the extractor, if the spider already read the pages to find further ones.
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
    origin: str | None = page_text("the first publisher, as named on the page")
    site: str | None = None
    images: tuple[Image, ...] = ()
    language: str | None = page_text("BCP 47: zh, zh-Hant, en")
    category: str | None = None
    category_by: str | None = None  # source, lexicon, model VERSION, editor
    category_score: float | None = None  # confidence of the classifier, from 0 to 1
    category_reason: str | None = None  # the decisive words
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    keywords: tuple[str, ...] = ()  # the most important first
    algorithm: str | None = page_text("the extractor")
    keys: tuple[FoldKey, ...] = ()
    pages: tuple[str, ...] = ()
    canonical: str | None = None  # the URL that its page declares; after the URL filter, an identity that it claims unverified
    decision: FoldDecision | None = None
    wrapped: Extraction | None = field(default=None, repr=False)
    extraction: Extraction | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        return self.link.source


PAGE_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {item.name: item.metadata["page_text"] for item in fields(Article) if "page_text" in item.metadata}
)
"""Name → description of the fields of :func:`page_text`, used by tables, rows, export, import and schema."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a thread. ``floor`` counts from 1 (the opening post).

    ``text``: the author's own words, ``quoted``: quotations, ``full_text``: both as shown on the page; ``block_text``: all text in the
    post's block, ``date_text``: the time as written. ``id``: the site's number of the post; ``opening``: it opened the thread (楼主).
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

    ``last_page``: where the next visit begins; ``whole``: whether it is the thread's last page. ``replies`` and ``listed``: replies and
    time of the last post in the board's list when the visit began. ``failure``: why further pages were not read.
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
    later: bool = False  # the failure is temporary
    language: str | None = None
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    category: str | None = None


@dataclass(frozen=True, slots=True)
class GalleryPage:
    """Content of one page of a photo story (套图). ``number`` counts from 1; ``total``: number of pages, if given by page or data.

    ``pages``: URLs of the story's pages that it links to, in order, as far as known; ``next``: the next page of its pager. ``whole``: it
    has every picture of the story (the data of a slideshow), so no further page is fetched.
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
    """A photo story (套图) with one or many pages; ``complete`` once every page was read.

    ``images``: all its pictures, in order, including hidden ones (``Image.dropped``); ``visible_images``: those shown. ``total``: number of
    pages, if known; ``missing``: numbers of the pages that could not be fetched, ``failure``: the reason, and ``later``: whether it is
    temporary. ``weight``: of its source, from 1 to 10.
    ``inspected``: URLs of the pictures whose first bytes this visit has read.
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
    inspected: frozenset[str] = frozenset()

    @property
    def visible_images(self) -> tuple[Image, ...]:
        return tuple(image for image in self.images if image.dropped is None)
