"""The tables of a SQLite index and the rows of one article in them.

``docs``         what a hit shows and is filtered by; its rowid tells the time (:func:`first_place`), so newest first costs nothing
``texts``        the original text, packed, for snippets and phrases
``words``        FTS5: title and body as words (jieba, search mode), the names as characters and pairs, exact labels
``grams``        FTS5: the characters and pairs of title and body, without places
``title_grams``  the same of the title alone

All carry a generation number: a rebuild makes the next generation beside the present one and swaps them in one transaction.
FTS5 tables keep no content, so what is written over stays in them as a rowid that ``docs`` does not show any more.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields

from sqlalchemy import Connection

from newsportal.items import content_id
from newsportal.search.match import label
from newsportal.search.words import grams, index_words
from newsportal.storage.base import StoredArticle
from newsportal.storage.galleries import is_gallery
from newsportal.storage.tables import EPOCH, MICROSECOND
from newsportal.storage.threads import is_thread

VERSION = 2
"""Raised when texts are cut or kept in another way: an older index is then built anew by itself."""

PLACES = 256
"""Rowids a second. Many pages give a day without a time; what does not fit moves on a little."""

TABLES = ("docs", "texts", "words", "grams", "title_grams")

META = "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"

CREATE = (
    "CREATE TABLE docs_{g} (rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, signature TEXT NOT NULL, story_id TEXT NOT NULL, url TEXT NOT NULL, "
    "title TEXT NOT NULL, site TEXT, author TEXT, category TEXT, topics TEXT NOT NULL, kind TEXT NOT NULL, "
    "published INTEGER, moment INTEGER NOT NULL)",
    "CREATE TABLE texts_{g} (rowid INTEGER PRIMARY KEY, packed BLOB NOT NULL)",
    # the ascii tokenizer splits at blanks and takes every other character as it is: the cuts are ours
    "CREATE VIRTUAL TABLE words_{g} USING fts5(title, body, site, author, topic, category, labels, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE grams_{g} USING fts5(every, content='', columnsize=0, detail=none, tokenize='ascii')",
    "CREATE VIRTUAL TABLE title_grams_{g} USING fts5(every, content='', columnsize=0, detail=none, tokenize='ascii')",
)

TOPIC_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class Doc:
    """One article as it is indexed; cutting it into words is done before any lock is taken."""

    id: str
    signature: str
    story_id: str
    url: str
    title: str
    site: str | None
    author: str | None
    category: str | None
    topics: str
    kind: str
    published: int | None
    moment: int
    text: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows of the FTS5 tables for one article."""

    words: Mapping[str, str]
    grams: str
    title_grams: str


def doc_of(article: StoredArticle) -> Doc:
    """What the index keeps of ``article``. ``signature`` tells whether its words must be indexed again."""
    moment = (article.moment - EPOCH) // MICROSECOND
    published = (article.published - EPOCH) // MICROSECOND if article.published else None
    topics = TOPIC_BREAK.join(article.topics)
    kind = "thread" if is_thread(article.source) else "gallery" if is_gallery(article.source) else "article"
    shown = (article.url, article.title, article.site, article.author, article.category, topics, kind, published, moment, article.text)
    return Doc(article.id, content_id(repr(shown)), article.story_id, *shown)


def cut(doc: Doc) -> Cut:
    """Cut an article into words: the expensive part (jieba), once an article."""
    labels = [label("topic", topic) for topic in doc.topics.split(TOPIC_BREAK) if topic]
    labels += [label(kind, value) for kind, value in (("site", doc.site), ("category", doc.category)) if value]
    labels.append(label("kind", doc.kind))
    names = {"site": doc.site, "author": doc.author, "topic": doc.topics, "category": doc.category}
    words = {"title": " ".join(index_words(doc.title)), "body": " ".join(index_words(doc.text)), "labels": " ".join(labels)}
    in_title = grams(doc.title)
    return Cut(
        words | {column: _joined(grams(name or "")) for column, name in names.items()},
        _joined(in_title | grams(doc.text)),
        _joined(in_title),
    )


def _joined(words: set[str]) -> str:
    return " ".join(sorted(words))


def create(connection: Connection, generation: int) -> None:
    for statement in CREATE:
        connection.exec_driver_sql(statement.format(g=generation))


def drop(connection: Connection, generation: int) -> None:
    for table in TABLES:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}_{generation}")


def insert_doc(connection: Connection, generation: int, doc: Doc) -> int:
    """Write ``docs`` and ``texts``; answers the rowid."""
    rowid = _free_place(connection, generation, doc)
    shown = {column.name: getattr(doc, column.name) for column in fields(doc) if column.name != "text"}
    _insert(connection, f"docs_{generation}", {"rowid": rowid, **shown})
    _insert(connection, f"texts_{generation}", {"rowid": rowid, "packed": pack(doc.text)})
    return rowid


def insert_cut(connection: Connection, generation: int, rowid: int, words: Cut) -> None:
    """Write the FTS5 tables."""
    _insert(connection, f"words_{generation}", {"rowid": rowid, **words.words})
    _insert(connection, f"grams_{generation}", {"rowid": rowid, "every": words.grams})
    _insert(connection, f"title_grams_{generation}", {"rowid": rowid, "every": words.title_grams})


def _insert(connection: Connection, table: str, row: Mapping[str, object]) -> None:
    marks = ", ".join("?" * len(row))
    connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))  # noqa: S608


def forget(connection: Connection, generation: int, id: str) -> None:
    """No hit shows the article any more. Its rowid is never given again, since the FTS5 tables still know it."""
    found = connection.exec_driver_sql(f"SELECT rowid FROM docs_{generation} WHERE id = ?", (id,)).scalar()  # noqa: S608
    if found is not None:
        connection.exec_driver_sql(f"UPDATE docs_{generation} SET id = NULL, title = '' WHERE rowid = ?", (found,))  # noqa: S608
        connection.exec_driver_sql(f"DELETE FROM texts_{generation} WHERE rowid = ?", (found,))  # noqa: S608


def first_place(microseconds: int) -> int:
    """The first rowid of a moment's second. Rowids of earlier moments are smaller; before 1970 all share one second."""
    return max(0, microseconds // 1_000_000) * PLACES + 1


def _free_place(connection: Connection, generation: int, doc: Doc) -> int:
    """A rowid not taken, as near behind the moment as its hash finds one: wider every try."""
    start, width, attempt = first_place(doc.moment), PLACES, 0
    while True:
        rowid = start + int(content_id(f"{doc.id}{doc.signature}{attempt}"), 16) % width
        if connection.exec_driver_sql(f"SELECT 1 FROM docs_{generation} WHERE rowid = ?", (rowid,)).first() is None:  # noqa: S608
            return rowid
        width, attempt = width * 2, attempt + 1


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8")
