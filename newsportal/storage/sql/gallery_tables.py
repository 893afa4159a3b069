"""The tables of photo stories. A photo story is an article as well (lists, topics and the search need know nothing else); here are its
pages, while it is not complete, and its pictures."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, String, Table

from newsportal.storage.galleries_rows import PRINT_CHARS, SLUG_CHARS
from newsportal.storage.sql.dialects import LONG_TEXT, NUMBER
from newsportal.storage.sql.tables import ID_CHARS, METADATA, NAME_CHARS, Moment

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
"""``id`` is the article's. ``pictures`` counts those shown, ``pages`` those read, ``vain`` the visits in a row that brought nothing;
``addresses`` are its pages'. ``text`` is the story's own, without the captions; the article's text has both."""

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

REFUSED = Table(
    "gallery_refused",
    METADATA,
    Column("name", String(ID_CHARS), primary_key=True),
    Column("reason", String(SLUG_CHARS), nullable=False),
    Column("seen", Moment, nullable=False, index=True),
)
"""Links of index pages that led to no photo story, and why: they are left alone for six hours. ``name`` is the hash of the identity."""

PICTURES = Table(
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

LABELLED = Table(
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

WORDS = Table(
    "gallery_words",
    METADATA,
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("words", JSON, nullable=False),
)
"""The words of a story's title and first sentence, as a vector of length 1 (``dedup.cosine``)."""

KEYS = Table(
    "gallery_keys",
    METADATA,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("gallery_id", String(ID_CHARS), ForeignKey("galleries.id"), primary_key=True),
    Column("moment", Moment, nullable=False),
    Index(None, "key", "moment"),
    Index(None, "gallery_id"),
)
"""By what stories are found that may be one: hashes of words, of pictures' addresses, and of parts of their prints."""
