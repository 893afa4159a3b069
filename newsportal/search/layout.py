"""Tables of a SQLite index, and the rows of an article in them.

``docs``         fields for display and filters; the rowid encodes the time (:func:`first_rowid`), so newest first costs nothing
``texts``        the original text, compressed, for snippets and phrases
``words``        FTS5: title and body as words (jieba, search mode), names as characters and pairs, exact labels
``grams``        FTS5: characters and pairs of title and body, without positions
``title_grams``  the same of the title only
``offers``       completions of queries (:mod:`newsportal.search.suggesting`), with their numbers of articles

All names have a generation number: a rebuild creates the next generation beside the current one and replaces it in one transaction. FTS5
tables store no content, so an overwritten article remains in them as a rowid that ``docs`` no longer has.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields

from sqlalchemy import Connection

from newsportal.items import content_id
from newsportal.search.counting import TOPIC_SEPARATOR
from newsportal.search.docs import Doc, DocTerms
from newsportal.search.suggesting import Suggestion, suggestions_of

VERSION = 3  # increased if articles are segmented or stored differently: older indices are then rebuilt automatically
ROWIDS_PER_SECOND = 256  # rowids per second. Many pages have a day without a time; further articles get the next free rowids.
FTS_TABLES = ("words", "grams", "title_grams")
TABLES = ("docs", "texts", "offers", *FTS_TABLES)

CREATE_META = "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"

CREATE_TABLES = (
    "CREATE TABLE docs_{g} (rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, signature TEXT NOT NULL, story_id TEXT NOT NULL, url TEXT NOT NULL, "
    "title TEXT NOT NULL, site TEXT, author TEXT, category TEXT, topics TEXT NOT NULL, kind TEXT NOT NULL, "
    "published INTEGER, moment INTEGER NOT NULL)",
    "CREATE TABLE texts_{g} (rowid INTEGER PRIMARY KEY, packed BLOB NOT NULL)",
    "CREATE TABLE offers_{g} (plain TEXT NOT NULL, shown TEXT NOT NULL, topic INTEGER NOT NULL, docs INTEGER NOT NULL, "
    "PRIMARY KEY (plain, shown, topic)) WITHOUT ROWID",
    # the ascii tokenizer splits at blanks and keeps every other character: segmentation is ours
    "CREATE VIRTUAL TABLE words_{g} USING fts5(title, body, site, author, topic, category, labels, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE grams_{g} USING fts5(every, content='', columnsize=0, detail=none, tokenize='ascii')",
    "CREATE VIRTUAL TABLE title_grams_{g} USING fts5(every, content='', columnsize=0, detail=none, tokenize='ascii')",
)

HASH_BYTES = 64 * 2**20
"""Memory buffer of FTS5 before it writes a segment; the default of 1 MiB gives a small segment every fifty articles of a rebuild."""

MAX_SEGMENTS = 1_999  # segments that may wait to be merged while an index is built; FTS5's maximum
FTS_DEFAULTS = {"automerge": 4, "crisismerge": 16, "hashsize": 2**20}  # FTS5's defaults, for an index in use
BUILD_OPTIONS = {"automerge": 0, "crisismerge": MAX_SEGMENTS, "hashsize": HASH_BYTES}
"""An index being built is not searched: its segments are merged once, at the end."""


def insert_doc(connection: Connection, generation: int, doc: Doc) -> int:
    """Write an article at a free rowid close after its time; the range, from which a hash picks one, doubles with each try."""
    start, width, attempt = first_rowid(doc.moment), ROWIDS_PER_SECOND, 0
    query = f"SELECT 1 FROM docs_{generation} WHERE rowid = ?"  # noqa: S608
    while True:
        rowid = start + int(content_id(f"{doc.id}{doc.signature}{attempt}"), 16) % width
        if connection.exec_driver_sql(query, (rowid,)).first() is None:
            break
        width, attempt = width * 2, attempt + 1
    values = {column.name: getattr(doc, column.name) for column in fields(doc) if column.name != "text"}
    _insert(connection, f"docs_{generation}", {"rowid": rowid, **values})
    _insert(connection, f"texts_{generation}", {"rowid": rowid, "packed": pack(doc.text)})
    return rowid


def insert_terms(connection: Connection, generation: int, terms: Iterable[tuple[int, DocTerms]]) -> None:
    """Write the FTS5 tables and the completions of articles, by rowid."""
    counts: Counter[Suggestion] = Counter()
    rows: dict[str, list[dict[str, object]]] = {table: [] for table in FTS_TABLES}
    for rowid, words in terms:
        names = {str(place): _joined(found) for place, found in words.name_grams.items()}
        texts = {"title": " ".join(words.title), "body": " ".join(words.text), **names, "labels": " ".join(words.labels)}
        rows["words"].append({"rowid": rowid, **texts})
        rows["grams"].append({"rowid": rowid, "every": _joined(words.grams)})
        rows["title_grams"].append({"rowid": rowid, "every": _joined(words.title_grams)})
        counts.update(words.suggestions)
    for table in FTS_TABLES:
        _insert(connection, f"{table}_{generation}", *rows[table])
    _count(connection, generation, counts)


def _count(connection: Connection, generation: int, counts: Mapping[Suggestion, int]) -> None:
    table = f"offers_{generation}"
    statement = f"INSERT INTO {table} VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET docs = docs + excluded.docs"  # noqa: S608
    if rows := [(*map(encodable, offer[:2]), int(offer.topic), count) for offer, count in counts.items()]:
        connection.exec_driver_sql(statement, rows)


def _joined(words: Iterable[str]) -> str:
    return " ".join(sorted(words))


def encodable(text: str) -> str:
    """Replace lone surrogates, which no database accepts, by question marks."""
    return text.encode("utf-8", "replace").decode()


def set_options(connection: Connection, generation: int, options: Mapping[str, int]) -> None:
    for table in FTS_TABLES:
        for name, value in options.items():
            connection.exec_driver_sql(f"INSERT INTO {table}_{generation}({table}_{generation}, rank) VALUES ('{name}', {value})")  # noqa: S608


def _insert(connection: Connection, table: str, *rows: Mapping[str, object]) -> None:
    """Insert rows with the same columns in one statement."""
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        statement = f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks})"  # noqa: S608
        connection.exec_driver_sql(statement, [tuple(row.values()) for row in rows])


def delete_doc(connection: Connection, generation: int, id: str) -> None:
    """Remove an article from results. Its rowid is not reused, because the FTS5 tables still contain it."""
    statement = f"SELECT rowid, title, topics FROM docs_{generation} WHERE id = ?"  # noqa: S608
    if (found := connection.exec_driver_sql(statement, (id,)).one_or_none()) is None:
        return
    rowid, title, topics = found
    connection.exec_driver_sql(f"UPDATE docs_{generation} SET id = NULL, title = '' WHERE rowid = ?", (rowid,))  # noqa: S608
    connection.exec_driver_sql(f"DELETE FROM texts_{generation} WHERE rowid = ?", (rowid,))  # noqa: S608
    _count(connection, generation, dict.fromkeys(suggestions_of(title, filter(None, topics.split(TOPIC_SEPARATOR))), -1))


def first_rowid(microseconds: int) -> int:
    """Return the first rowid of a moment's second. Rowids of earlier moments are smaller; all moments before 1970 share one second."""
    return max(0, microseconds // 1_000_000) * ROWIDS_PER_SECOND + 1


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8")
