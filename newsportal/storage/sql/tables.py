"""The tables of the SQL stores. ``docs/storage.md`` tells what each is for; ``migrations/`` makes them (a test compares the two).

Moments are whole microseconds since 1970 (UTC): every database sorts and compares them alike, and no time zone is lost on the way.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Dialect, Float, ForeignKey, Index, Integer, MetaData, String, Table, TypeDecorator

from newsportal.storage.columns import EPOCH as EPOCH
from newsportal.storage.columns import ID_CHARS as ID_CHARS
from newsportal.storage.columns import MICROSECOND as MICROSECOND
from newsportal.storage.columns import NAME_CHARS as NAME_CHARS
from newsportal.storage.sql.dialects import LONG_BINARY, LONG_TEXT, SEQUENCE


class Moment(TypeDecorator[datetime]):
    """An aware datetime as microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + MICROSECOND * int(value)


METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id(name: str, *arguments: Any, **options: Any) -> Column[str]:
    return Column(name, String(ID_CHARS), *arguments, **options)


def _content() -> list[Column[Any]]:
    """The columns named in ``columns.CONTENT``."""
    return [
        Column("revision", Integer, nullable=False),
        Column("fetched", Moment, nullable=False),
        Column("published", Moment),
        Column("title", LONG_TEXT, nullable=False),
        Column("author", LONG_TEXT),
        Column("origin", LONG_TEXT),
        Column("language", LONG_TEXT),
        Column("algorithm", LONG_TEXT),
        Column("summary", LONG_TEXT),
        Column("images", JSON, nullable=False),
        Column("text", LONG_TEXT, nullable=False),
        Column("html", LONG_TEXT),
        Column("corrected", Moment),
        *(Column(name, String(NAME_CHARS)) for name in ("corrected_by", "corrected_fields")),
    ]


STORIES = Table(
    "stories",
    METADATA,
    _id("id", primary_key=True),
    _id("head_id", nullable=False),  # no foreign key: articles point here, and a circle could not be inserted
    Column("count", Integer, nullable=False),
    Column("sites", Integer, nullable=False),
    Column("first_seen", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
    Column("moment", Moment, nullable=False),
    Column("heat", Float(53), nullable=False),
    Index(None, "moment", "id"),
    Index(None, "heat", "id"),
)
"""One row a story: its original and its figures, so that a list reads nothing else."""

ARTICLES = Table(
    "articles",
    METADATA,
    _id("id", primary_key=True),
    _id("story_id", ForeignKey("stories.id"), nullable=False),
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
    _id("fold_of"),
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
"""``id`` is the hash of ``identity``; ``publisher`` the site, else the host of the URL; ``length`` the characters of the text."""

EARLIEST_FIRST = (ARTICLES.c.moment, ARTICLES.c.length.desc(), ARTICLES.c.first_seen, ARTICLES.c.id)
"""The order of a story's versions: the earliest first; of several at one moment (many pages tell a day alone) the fullest."""

TOPICS = Table(
    "article_topics",
    METADATA,
    _id("article_id", ForeignKey("articles.id"), primary_key=True),
    Column("topic", String(NAME_CHARS), primary_key=True),
    Column("by", String(NAME_CHARS)),
    Column("score", Float(53)),
)

REVISIONS = Table(
    "revisions",
    METADATA,
    _id("article_id", ForeignKey("articles.id"), primary_key=True),
    *[column if column.name != "revision" else Column("revision", Integer, primary_key=True, autoincrement=False) for column in _content()],
)

ALIASES = Table(
    "aliases",
    METADATA,
    _id("id", primary_key=True),
    Column("identity", LONG_TEXT, nullable=False),
    _id("article_id", ForeignKey("articles.id"), nullable=False),
    Column("seq", BigInteger),
    Index(None, "seq", "id"),
)
"""Other identities of an article (redirects, canonical links); ``id`` is the hash of ``identity``, ``seq`` the last change before it."""

DECLARED = Table(
    "declared_names",
    METADATA,
    _id("id", primary_key=True),
    _id("article_id", ForeignKey("articles.id"), primary_key=True),
)
"""Addresses that articles declare to be theirs (``rel=canonical``) and nobody has proved; ``id`` is the hash of the identity."""

FOLD_KEYS = Table(
    "fold_keys",
    METADATA,
    _id("key", primary_key=True),
    _id("article_id", ForeignKey("articles.id"), primary_key=True),
    Column("moment", Moment, nullable=False),
    Index(None, "key", "moment"),
)
"""``key`` is the hash of the fold key, ``moment`` the article's."""

UNFOLDED = Table(
    "unfolded",
    METADATA,
    _id("article_id", ForeignKey("articles.id"), primary_key=True),
    _id("story_id", primary_key=True),
)
"""Pairs that an editor took apart: never folded by key again."""

PRINTS = Table(
    "prints",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    _id("article_id", ForeignKey("articles.id"), nullable=False, unique=True),
    Column("moment", Moment, nullable=False),
    Column("seen", Moment, nullable=False),
    Column("length", Integer, nullable=False),
    Column("title", LONG_TEXT, nullable=False),
    Column("runs", LONG_BINARY, nullable=False),
    sqlite_autoincrement=True,  # a number is never given twice: indexes go by it
)
"""The fingerprint of an article's present text (``dedup.fingerprints``); a revised text gets a new number."""

LABELS = Table(
    "story_labels",
    METADATA,
    _id("story_id", ForeignKey("stories.id"), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("value", String(NAME_CHARS), primary_key=True),
    Column("moment", Moment, nullable=False),
    Column("heat", Float(53), nullable=False),
    Index(None, "kind", "value", "moment", "story_id"),
    Index(None, "kind", "value", "heat", "story_id"),
)
"""Every topic, category, site and source that some version of a story has: the lists of a topic are read in order from an index."""

CHANGES = Table(
    "changes",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("kind", String(8), nullable=False),
    _id("id", nullable=False),
    Column("at", Moment, nullable=False),
    sqlite_autoincrement=True,  # a number is never given twice
)

RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(NAME_CHARS), primary_key=True),
    Column("started", Moment, nullable=False, index=True),
    Column("report", JSON, nullable=False),
)

SOURCES = Table(
    "source_states",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("state", JSON, nullable=False),
)

SITE_LINES = Table(
    "site_lines",
    METADATA,
    Column("site", String(NAME_CHARS), primary_key=True),
    Column("seen", Moment, nullable=False, index=True),
    Column("pages", JSON, nullable=False),
)
"""Hashed lines of a site's pages, the oldest first: ``[[url, base64], …]``."""

DEFERRED = Table(
    "deferred_links",
    METADATA,
    _id("id", primary_key=True),
    Column("source", String(NAME_CHARS), nullable=False),
    Column("since", Moment, nullable=False),
    Column("position", Integer, nullable=False),
    Column("link", JSON, nullable=False),
    Index(None, "source", "since", "position"),
)
"""Links that wait; ``id`` is the hash of the identity or URL, ``position`` the place within one call of ``defer``."""

CORPORA = Table(
    "corpora",
    METADATA,
    _id("id", primary_key=True),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("created", Moment, nullable=False),
    Column("note", LONG_TEXT, nullable=False),
    Column("active", Integer),
)
"""``id`` is the hash of ``name``; ``active`` the version of the model in use."""


def _label() -> list[Column[Any]]:
    """A label that a document has (``labelled``) or had (``former_labels``); none: an editor left the document out."""
    return [
        Column("label", String(NAME_CHARS)),
        Column("label_source", String(16), nullable=False),
        Column("label_by", String(NAME_CHARS)),
        Column("label_at", Moment, nullable=False),
    ]


LABELLED = Table(
    "labelled",
    METADATA,
    _id("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    _id("id", primary_key=True),
    _id("article_id"),  # no foreign key: an article may go although somebody labelled it
    Column("name", LONG_TEXT),
    Column("title", LONG_TEXT),
    Column("text", LONG_TEXT),
    Column("number", Integer, nullable=False),
    *_label(),
    Index(None, "corpus_id", "label"),
    Index(None, "article_id"),
)
"""Texts that classifiers learn from. A stored article has its title and text in ``articles`` alone."""

FORMER_LABELS = Table(
    "former_labels",
    METADATA,
    _id("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    _id("id", primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_label(),
)

MODELS = Table(
    "models",
    METADATA,
    _id("corpus_id", ForeignKey("corpora.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("algorithm", String(64), nullable=False),
    Column("created", Moment, nullable=False),
    Column("activated", Moment),
    Column("facts", JSON, nullable=False),
    Column("size", Integer, nullable=False),
    Column("held_out", LONG_BINARY, nullable=False),
    Column("model", LONG_BINARY),
)
"""``held_out``: ids of documents, ten bytes each; ``model`` is empty once it was let go; ``activated``: when it was put to use last."""
