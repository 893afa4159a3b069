"""The tables of photo stories, and what is read from them.

A photo story is an article, too: its text is its captions, so lists, topics, search and export know it as they know any other. What is
here is what only photo stories have.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, String, Table

from newsportal.items import Image
from newsportal.store.columns import ID_CHARS, LONG_TEXT, METADATA, NAME_CHARS, NUMBER, Moment
from newsportal.store.results import StoredArticle

PRINT_CHARS: Final = 16  # a perceptual hash (``items.Image.print``)
SLUG_CHARS: Final = 64  # reasons for which a picture is left out

GalleryOutcome = Literal["stored", "folded", "grown", "same"]


@dataclass(frozen=True, slots=True)
class SavedGallery:
    """The answer of ``save``. ``stored``: new; ``folded``: new, and part of another's story; ``grown``: known, and fuller now.

    ``vain``: visits in a row, this one included, that brought nothing to a story that is not complete.
    """

    outcome: GalleryOutcome
    id: str
    story_id: str
    complete: bool
    vain: int = 0


@dataclass(frozen=True, slots=True)
class StoredGallery:
    """What is known of a photo story; its title, text and topics are its article's (``id``).

    ``score`` is what it is ranked by (``newsportal.recommend.score``). ``pictures`` counts those shown, ``pages`` those read. ``missing``
    are numbers of pages, ``failure`` why they are missing; ``vain``: visits in a row that brought nothing; ``addresses``: of its pages.
    """

    id: str
    identity: str
    complete: bool
    pictures: int
    pages: int
    total: int | None
    missing: tuple[int, ...]
    failure: str | None
    visited: datetime
    score: float
    vain: int = 0
    weight: int = 5
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of a photo story. ``place`` counts from 1 among those shown, those left out count on behind them; ``dropped``: why it is
    not shown (a slug), else ``None``. ``said``: its caption is an editor's; ``page_caption``: what its page says."""

    place: int
    image: Image
    dropped: str | None = None
    said: bool = False
    page_caption: str | None = None


LEFT_ALONE: Final = timedelta(hours=6)
"""So long a link that led to no photo story is not followed again: a page may be put up, or get its pictures, after its link. Chosen."""

WallOrder = Literal["ranked", "newest"]


@dataclass(frozen=True, slots=True)
class WallFilter:
    """Which photo stories; every field narrows. ``before`` is a cursor from ``WallPage.next``."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    order: WallOrder = "ranked"
    before: str | None = None
    limit: int = 30


@dataclass(frozen=True, slots=True)
class WallStory:
    """A photo story on the wall: its article (the text cut to 300 characters; ``images`` its first pictures), what is known of the
    story, and how often and on how many sites it was found."""

    article: StoredArticle
    gallery: StoredGallery
    count: int
    sites: int


@dataclass(frozen=True, slots=True)
class WallPage:
    """A page of the wall, and the cursor of the next one (``None`` on the last)."""

    stories: tuple[WallStory, ...]
    next: str | None = None


GALLERIES = Table(
    "galleries",
    METADATA,
    Column("id", String(ID_CHARS), ForeignKey("articles.id"), primary_key=True),
    Column("complete", Boolean, nullable=False),
    Column("pictures", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("total", NUMBER),
    Column("missing", JSON, nullable=False),
    Column("failure", LONG_TEXT),
    Column("visited", Moment, nullable=False),
    Column("vain", Integer, nullable=False),
    Column("weight", Integer, nullable=False),
    Column("score", Float(53), nullable=False),
    Column("moment", Moment, nullable=False),
    Column("addresses", JSON, nullable=False),
    Column("text", LONG_TEXT, nullable=False),
    Index(None, "score", "id"),
    Index(None, "moment", "id"),
    Index(None, "complete", "visited"),
)
"""``text`` is the story's own, without the captions; the article's text has both."""

GALLERY_PAGES = Table(
    "gallery_pages",
    METADATA,
    Column("gallery", String(ID_CHARS), primary_key=True),
    Column("page", String(ID_CHARS), primary_key=True),
    Column("number", Integer),
    Column("seen", Moment, nullable=False, index=True),
    Column("said", JSON, nullable=False),
)
"""Pages of stories that are not complete, as they were read. ``gallery`` is the hash of the story's identity (it may not be stored yet),
``page`` of the page's address, ``said`` an ``items.GalleryPage``."""

REFUSED_GALLERIES = Table(
    "gallery_refused",
    METADATA,
    Column("name", String(ID_CHARS), primary_key=True),
    Column("reason", String(SLUG_CHARS), nullable=False),
    Column("seen", Moment, nullable=False, index=True),
)
"""Links of index pages that led to no photo story, and why: they are left alone for six hours. ``name`` is the hash of the identity."""

GALLERY_PICTURES = Table(
    "gallery_pictures",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("url", LONG_TEXT, nullable=False),
    Column("name", String(ID_CHARS), nullable=False),
    Column("caption", LONG_TEXT),
    Column("width", NUMBER),
    Column("height", NUMBER),
    Column("format", LONG_TEXT),
    Column("page", LONG_TEXT),
    Column("print", String(PRINT_CHARS)),
    Column("dropped", String(SLUG_CHARS)),
    Column("said", LONG_TEXT),
    Index(None, "name"),
    Index(None, "print"),
)
"""The pictures of a story by ``number``, those left out among them (``dropped``: why). ``name`` is the hash of ``url``,
``said`` what an editor says in place of ``caption`` (empty: nothing)."""

GALLERY_LABELS = Table(
    "gallery_labels",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("value", String(NAME_CHARS), primary_key=True),
    Column("score", Float(53), nullable=False),
    Column("moment", Moment, nullable=False),
    Index(None, "kind", "value", "score", "gallery_id"),
    Index(None, "kind", "value", "moment", "gallery_id"),
)
"""Every topic, category and source of a photo story: the wall of a topic is read in order from an index."""

GALLERY_WORDS = Table(
    "gallery_words",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("words", JSON, nullable=False),
)
"""The words of a story's title and first sentence, as a vector of length 1 (``dedup.cosine``)."""

GALLERY_KEYS = Table(
    "gallery_keys",
    METADATA,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("moment", Moment, nullable=False),
    Index(None, "key", "moment"),
    Index(None, "gallery_id"),
)
"""By what stories are found that may be one: hashes of words, of pictures' addresses, and of parts of their prints."""
