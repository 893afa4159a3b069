"""The tables of articles, stories and events, described in ``docs/storage.md``. A change needs a step in ``migrations/``."""

from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Column, Float, ForeignKey, Index, Integer, String, Table

from newsportal.items import PAGE_TEXTS
from newsportal.store.columns import LONG_BINARY, LONG_TEXT, METADATA, NAME_CHARS, SEQUENCE, Moment, id_column


def _content() -> list[Column[Any]]:
    """Return the columns that a newer version of a page, or an editor, may change: current in ``articles``, earlier in ``revisions``."""
    return [
        Column("revision", Integer, nullable=False),
        Column("fetched", Moment, nullable=False),
        Column("published", Moment),
        Column("title", LONG_TEXT, nullable=False),
        *(Column(name, LONG_TEXT) for name in PAGE_TEXTS),
        Column("summary", LONG_TEXT),
        Column("images", JSON, nullable=False),
        Column("text", LONG_TEXT, nullable=False),
        Column("html", LONG_TEXT),
        Column("corrected", Moment),
        *(Column(name, String(NAME_CHARS)) for name in ("corrected_by", "corrected_fields")),
    ]


CONTENT: Final = tuple(column.name for column in _content())

STORIES = Table(
    "stories",
    METADATA,
    id_column("id", primary_key=True),
    id_column("head_id", nullable=False),  # no foreign key: articles refer to stories, and a cycle could not be inserted
    Column("count", Integer, nullable=False),
    Column("sites", Integer, nullable=False),
    *(Column(name, Moment, nullable=False) for name in ("first_seen", "last_seen", "moment")),
    Column("heat", Float(53), nullable=False),
    Index(None, "moment", "id"),
    Index(None, "heat", "id"),
)
"""One row per story with its original and figures, so that lists read nothing else."""

ARTICLES = Table(
    "articles",
    METADATA,
    id_column("id", primary_key=True),
    id_column("story_id", ForeignKey("stories.id"), nullable=False),
    Column("identity", LONG_TEXT, nullable=False),
    Column("url", LONG_TEXT, nullable=False),
    Column("source", String(NAME_CHARS), nullable=False),
    Column("site", String(NAME_CHARS)),
    Column("publisher", String(NAME_CHARS), nullable=False),
    Column("category", String(NAME_CHARS)),
    Column("category_by", String(NAME_CHARS)),
    Column("category_score", Float(53)),
    Column("category_reason", LONG_TEXT),
    Column("keywords", JSON),
    Column("first_seen", Moment, nullable=False),
    Column("moment", Moment, nullable=False),
    Column("length", Integer, nullable=False),
    id_column("fold_of"),
    Column("fold_reason", LONG_TEXT),
    Column("fold_score", Float(53)),
    Column("hidden", Moment),
    Column("hidden_by", String(NAME_CHARS)),
    Column("hidden_reason", LONG_TEXT),
    *_content(),
    *(Index(None, column, "moment") for column in ("story_id", "source", "category", "category_by", "published")),
    *(Index(None, column) for column in ("moment", "corrected", "hidden")),
    Index(None, "length", "moment", "id", "hidden"),
    Index(None, "category_score", "moment", "id", "hidden", "category_by"),
)
"""``id``: hash of ``identity``; ``publisher``: the site, or the host of the URL; ``length``: characters of the text."""

EARLIEST_FIRST = (ARTICLES.c.moment, ARTICLES.c.length.desc(), ARTICLES.c.first_seen, ARTICLES.c.id)
"""Order of a story's versions: earliest first, then the longest (many pages only have a date)."""

TOPICS = Table(
    "article_topics",
    METADATA,
    id_column("article_id", ForeignKey("articles.id"), primary_key=True),
    Column("topic", String(NAME_CHARS), primary_key=True),
    Column("by", String(NAME_CHARS)),
    Column("score", Float(53)),
)

REVISIONS = Table(
    "revisions",
    METADATA,
    id_column("article_id", ForeignKey("articles.id"), primary_key=True),
    *[column if column.name != "revision" else Column("revision", Integer, primary_key=True, autoincrement=False) for column in _content()],
)

ALIASES = Table(
    "aliases",
    METADATA,
    id_column("id", primary_key=True),
    Column("identity", LONG_TEXT, nullable=False),
    id_column("article_id", ForeignKey("articles.id"), nullable=False),
    Column("seq", BigInteger),
    Index(None, "seq", "id"),
)
"""Other identities of an article (redirects, canonical links); ``id``: hash of ``identity``, ``seq``: last change before it was added."""

DECLARED = Table(
    "declared_urls", METADATA, id_column("id", primary_key=True), id_column("article_id", ForeignKey("articles.id"), primary_key=True)
)
"""URLs that articles declare as their own (``rel=canonical``), unverified; ``id``: hash of the identity."""

FOLD_KEYS = Table(
    "fold_keys",
    METADATA,
    id_column("key", primary_key=True),
    id_column("article_id", ForeignKey("articles.id"), primary_key=True),
    Column("moment", Moment, nullable=False),
    Index(None, "key", "moment"),
)
"""``key``: hash of the fold key; ``moment``: of the article."""

UNFOLDED = Table(
    "unfolded", METADATA, id_column("article_id", ForeignKey("articles.id"), primary_key=True), id_column("story_id", primary_key=True)
)
"""Pairs separated by an editor: never folded by key again."""

PRINTS = Table(
    "fingerprints",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    id_column("article_id", ForeignKey("articles.id"), nullable=False, unique=True),
    Column("moment", Moment, nullable=False),
    Column("added", Moment, nullable=False),
    Column("length", Integer, nullable=False),
    Column("title", LONG_TEXT, nullable=False),
    Column("shingles", LONG_BINARY, nullable=False),
    sqlite_autoincrement=True,  # numbers are never reused: indexes depend on them
)
"""Fingerprint of an article's current text (``dedup.fingerprints``); a revised text gets a new number."""

LABELS = Table(
    "story_labels",
    METADATA,
    id_column("story_id", ForeignKey("stories.id"), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("value", String(NAME_CHARS), primary_key=True),
    Column("moment", Moment, nullable=False),
    Column("heat", Float(53), nullable=False),
    Index(None, "kind", "value", "moment", "story_id"),
    Index(None, "kind", "value", "heat", "story_id"),
)
"""Topics, category, sites and sources of a story's versions: the lists of a topic are read in order from an index."""

CHANGES = Table(
    "changes",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("kind", String(8), nullable=False),
    id_column("id", nullable=False),
    Column("at", Moment, nullable=False),
    sqlite_autoincrement=True,  # numbers are never reused
)

EVENTS = Table(
    "events",
    METADATA,
    id_column("id", primary_key=True),
    id_column("head_id"),
    Column("title", LONG_TEXT),
    Column("pinned", Moment),
    Column("stories", Integer, nullable=False),
    Column("sites", Integer, nullable=False),
    Column("first", Moment, nullable=False),
    Column("last", Moment, nullable=False),
    Column("heat", Float(53), nullable=False),
    Column("change_seq", BigInteger, nullable=False),
    Column("vector", LONG_BINARY, nullable=False),
    *(Index(None, column, "id") for column in ("heat", "last", "change_seq", "pinned")),
)
"""``head_id``: the story with most sites; ``title``: an editor's, replacing that story's; ``heat``: sum of its stories' heats;
``change_seq``: number of its last change; ``vector``: state of the algorithm."""

EVENT_STORIES = Table(
    "event_stories",
    METADATA,
    id_column("story_id", ForeignKey("stories.id"), primary_key=True),
    id_column("event_id", ForeignKey("events.id"), nullable=False),
    Column("score", Float(53), nullable=False),
    Column("words", JSON, nullable=False),
    Column("by", String(NAME_CHARS)),
    Index(None, "event_id"),
)
"""``words``: reason for the assignment; ``by``: the editor who made it."""

EVENT_EDITS = Table(
    "event_edits",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    id_column("event_id", nullable=False),
    Column("at", Moment, nullable=False),
    Column("by", String(NAME_CHARS), nullable=False),
    Column("moves", JSON, nullable=False),
    Column("undone", BigInteger),
    Index(None, "event_id", "number"),
    sqlite_autoincrement=True,
)
"""``moves``: story -> (old, new) event; ``title`` and ``pinned``: old and new value. ``undone``: the edit that reverted it."""

EVENT_REDIRECTS = Table("event_redirects", METADATA, id_column("id", primary_key=True), id_column("event_id", nullable=False))
"""An event whose last story was moved, and the event that it was moved to."""

EVENT_POSITION = Table("event_position", METADATA, Column("name", String(8), primary_key=True), Column("seq", BigInteger, nullable=False))
"""Last change of the log whose stories were assigned (``log``), number of the last change of an event (``changed``), and the last of these
changes whose event was revised (``revised``)."""
