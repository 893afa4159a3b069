"""Tables and dataclasses of photo stories.

A photo story is also an article whose text consists of the captions, so lists, topics, search and export need no special case. This module
has only what is specific to photo stories.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, String, Table

from newsportal.items import Image
from newsportal.store.columns import ID_CHARS, LONG_TEXT, METADATA, NAME_CHARS, NUMBER, Moment
from newsportal.store.results import StoredArticle

HASH_CHARS: Final = 16  # length of a perceptual hash (``items.Image.print``)
SLUG_CHARS: Final = 64  # length of the reason why a picture is hidden

GalleryOutcome = Literal["stored", "folded", "grown", "same"]


@dataclass(frozen=True, slots=True)
class SavedGallery:
    """Result of ``save``. ``stored``: new; ``folded``: new, folded into another story; ``grown``: known, with new content.

    ``fruitless_visits``: consecutive visits, including this one, that added nothing to an incomplete story.
    """

    outcome: GalleryOutcome
    id: str
    story_id: str
    complete: bool
    fruitless_visits: int = 0


@dataclass(frozen=True, slots=True)
class StoredGallery:
    """A stored photo story; its title, text and topics are those of its article (``id``).

    ``score`` is the sort key of the wall (``newsportal.recommend.score``). ``pictures`` counts those shown, ``pages`` those read.
    ``missing``: numbers of missing pages, ``failure``: the reason; ``fruitless_visits``: consecutive visits without result.
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
    fruitless_visits: int = 0
    weight: int = 5
    page_urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """A picture of a photo story. ``place`` counts from 1 over the pictures shown, then the hidden ones; ``hidden_reason``: a slug,
    ``None`` for a visible one. ``corrected``: its caption is an editor's; ``page_caption``: the page's caption."""

    place: int
    image: Image
    hidden_reason: str | None = None
    corrected: bool = False
    page_caption: str | None = None


RECHECK_AFTER: Final = timedelta(hours=6)
"""How long a link that was refused is not fetched again: a page or its pictures may be published after its link. Chosen, not measured."""

WallOrder = Literal["ranked", "newest"]


@dataclass(frozen=True, slots=True)
class WallFilter:
    """Selection of photo stories; every field narrows it. ``before`` is a cursor from ``WallPage.next``."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    order: WallOrder = "ranked"
    before: str | None = None
    limit: int = 30


@dataclass(frozen=True, slots=True)
class WallStory:
    """A photo story on the wall: its article (text cut to 300 characters; ``images``: the first pictures), its gallery, and the numbers of
    versions and sites of its story."""

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
    Column("fruitless_visits", Integer, nullable=False),
    Column("weight", Integer, nullable=False),
    Column("score", Float(53), nullable=False),
    Column("moment", Moment, nullable=False),
    Column("page_urls", JSON, nullable=False),
    Column("text", LONG_TEXT, nullable=False),
    Index(None, "score", "id"),
    Index(None, "moment", "id"),
    Index(None, "complete", "visited"),
)
"""``text`` is the story's own, without the captions; the article's text has both."""

GALLERY_PAGES = Table(
    "gallery_pages",
    METADATA,
    Column("gallery_id", String(ID_CHARS), primary_key=True),
    Column("page_id", String(ID_CHARS), primary_key=True),
    Column("number", Integer),
    Column("fetched", Moment, nullable=False, index=True),
    Column("content", JSON, nullable=False),
)
"""Pages read of incomplete stories. ``gallery_id`` is the hash of the story's identity (which may not be stored yet), ``page_id`` that
of the page's URL, ``content`` an ``items.GalleryPage``."""

REJECTED_GALLERIES = Table(
    "rejected_galleries",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("reason", String(SLUG_CHARS), nullable=False),
    Column("rejected", Moment, nullable=False, index=True),
)
"""Links of index pages that are not photo stories, with the reason; not fetched again for six hours. ``id``: hash of the identity."""

GALLERY_PICTURES = Table(
    "gallery_pictures",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("url", LONG_TEXT, nullable=False),
    Column("url_hash", String(ID_CHARS), nullable=False),
    Column("caption", LONG_TEXT),
    Column("width", NUMBER),
    Column("height", NUMBER),
    Column("format", LONG_TEXT),
    Column("page_url", LONG_TEXT),
    Column("perceptual_hash", String(HASH_CHARS)),
    Column("hidden_reason", String(SLUG_CHARS)),
    Column("edited_caption", LONG_TEXT),
    Index(None, "url_hash"),
    Index(None, "perceptual_hash"),
)
"""Pictures of a story by ``number``, including hidden ones. ``edited_caption``: an editor's replacement of ``caption`` (empty: none)."""

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
"""Topics, category and source of each photo story: the wall of a topic is read in order from an index."""

GALLERY_WORDS = Table(
    "gallery_words",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("words", JSON, nullable=False),
)
"""Words of a story's title and first sentence, as a unit vector (``dedup.cosine``)."""

GALLERY_KEYS = Table(
    "gallery_keys",
    METADATA,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("moment", Moment, nullable=False),
    Index(None, "key", "moment"),
    Index(None, "gallery_id"),
)
"""Keys for finding candidates of a fold: hashes of words, of picture URLs, and of quarters of perceptual hashes."""
