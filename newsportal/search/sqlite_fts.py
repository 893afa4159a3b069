"""The search index in a separate SQLite file: FTS5 over words segmented in advance."""

import glob
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from newsportal.errors import SearchError, StoreError
from newsportal.search import finding, layout, suggesting
from newsportal.search.base import Query, Results, Status
from newsportal.search.docs import Doc, doc_of, rebuild_if_needed, segment_doc, segmenter_number, visible_articles
from newsportal.store.columns import build
from newsportal.store.dialects import open_engine, reading, write_ahead, writing
from newsportal.store.results import Change
from newsportal.store.store import Store

log = logging.getLogger(__name__)

BATCH = 200  # articles per transaction: readers and other writers hardly wait
REBUILD_BATCH = 2_000  # articles per transaction of a rebuild: about two seconds of writing; other writers wait up to thirty
MERGE_PAGES = 2_000  # pages merged per transaction: half a second


def get_meta(connection: Connection, name: str) -> int:
    """Return a number stored in the index: ``generation``, ``position``, ``version``, ``cuts``, ``last_generation``; 0 at first."""
    return int(connection.exec_driver_sql("SELECT value FROM meta WHERE name = ?", (name,)).scalar() or 0)


def set_meta(connection: Connection, name: str, value: int) -> None:
    connection.exec_driver_sql("INSERT INTO meta VALUES (?,?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value))


def new_generation(connection: Connection) -> int:
    """Create empty tables with an unused generation number."""
    generation = get_meta(connection, "last_generation") + 1
    set_meta(connection, "last_generation", generation)
    for statement in layout.CREATE_TABLES:
        connection.exec_driver_sql(statement.format(g=generation))
    return generation


def activate(connection: Connection, generation: int, position: int) -> None:
    """Make ``generation`` the searched one, and drop the others."""
    if not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = ?", (f"docs_{generation}",)).first():
        raise SearchError("another rebuild of the index ended meanwhile; its result is in use")
    set_meta(connection, "generation", generation)
    set_meta(connection, "position", position)
    set_meta(connection, "version", layout.VERSION)
    set_meta(connection, "cuts", segmenter_number())
    for other in range(1, get_meta(connection, "last_generation") + 1):
        if other != generation:
            for table in layout.TABLES:
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}_{other}")


def _changes(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT total_changes()").scalar_one())


CHECK_EVERY = 1_000  # articles removed before the share of removed ones is checked again. Chosen, not measured.


class SqliteIndex:
    """An :class:`~newsportal.search.base.Index`. A search sees one snapshot of the index."""

    def __init__(self, uri: str) -> None:
        self._checked, self._forgotten = False, 0
        with _search_errors():
            self._engine = open_engine(uri)
        try:
            with _search_errors():
                write_ahead(self._engine)
            with self.reading() as connection:
                if sa.inspect(connection).has_table("meta") and get_meta(connection, "version") == layout.VERSION:
                    return
            with self.writing() as connection:
                connection.exec_driver_sql(layout.CREATE_META)
                if get_meta(connection, "version") != layout.VERSION:
                    activate(connection, new_generation(connection), position=0)
        except BaseException:
            self.close()
            raise

    def search(self, query: Query) -> Results:
        with self.reading() as connection:
            return finding.find(connection, get_meta(connection, "generation"), query)

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        with self.reading() as connection:
            generation = get_meta(connection, "generation")
            return suggesting.suggest(typed, limit, lambda prefix, most: finding.find_suggestions(connection, generation, prefix, most))

    def follow(self, store: Store) -> int:
        """Implement ``Index.follow``. If two processes run at once, the second one continues from the position of the first."""
        # once: two processes with different user words must not rebuild alternately
        if not self._checked or (self._forgotten >= CHECK_EVERY and self._mostly_forgotten()):
            self._checked = True
            rebuild_if_needed(self, store)
        read = 0
        while True:
            with self.reading() as connection:
                position, generation = get_meta(connection, "position"), get_meta(connection, "generation")
            last = store.last_seq()
            behind = last - position > REBUILD_BATCH  # a new or long unused index: larger batches give fewer segments to merge
            changes = store.changes(position, REBUILD_BATCH if behind else BATCH)
            if not changes:
                return read
            if self._index_batch(store, changes, position, generation):
                read += len(changes)
                if behind:
                    log.warning("the search index follows the store: %s of %s changes", changes[-1].seq, last)

    def _index_batch(self, store: Store, changes: Sequence[Change], position: int, generation: int) -> bool:
        """Index one batch with its position in one transaction; return False if another process was faster."""
        ids = list(dict.fromkeys(change.id for change in changes))
        docs = {article.id: doc_of(article) for article in visible_articles(store.articles(ids))}
        with self.reading() as connection:
            statement = f"SELECT signature FROM docs_{generation} WHERE id = ?"  # noqa: S608  the generation is our own number
            present = {id: connection.exec_driver_sql(statement, (id,)).scalar() for id in ids}
        words = {id: segment_doc(doc) for id, doc in docs.items() if present[id] != doc.signature}
        with self.writing() as connection:
            if (get_meta(connection, "position"), get_meta(connection, "generation")) != (position, generation):
                return False
            fresh = []
            for id in ids:
                doc, cut_words = docs.get(id), words.get(id)
                if present[id] is not None and (doc is None or cut_words is not None):
                    layout.delete_doc(connection, generation, id)
                    self._forgotten += 1
                if doc is not None and cut_words is not None:
                    fresh.append((layout.insert_doc(connection, generation, doc), cut_words))
                elif doc is not None:  # only its story changed
                    connection.exec_driver_sql(f"UPDATE docs_{generation} SET story_id = ? WHERE id = ?", (doc.story_id, id))  # noqa: S608
            layout.insert_terms(connection, generation, fresh)
            set_meta(connection, "position", changes[-1].seq)
        return True

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        """Implement ``Index.rebuild``. Articles are stored first; their words are then written in order of time, which suits FTS5."""
        position = store.last_seq()
        with self.writing() as connection:
            generation = new_generation(connection)
            layout.set_options(connection, generation, layout.BUILD_OPTIONS)
        articles = visible_articles(store.all_articles())
        while docs := [doc_of(article) for article in islice(articles, REBUILD_BATCH)]:
            with self.writing() as connection:
                for doc in docs:
                    layout.insert_doc(connection, generation, doc)
        done = 0
        for rows in self._in_order(generation):
            words = [(rowid, segment_doc(doc)) for rowid, doc in rows]
            with self.writing() as connection:
                layout.insert_terms(connection, generation, words)
            done += len(words)
            if progress:
                progress(done)
        for table in layout.FTS_TABLES:
            self._merge(f"{table}_{generation}")
        with self.writing() as connection:
            layout.set_options(connection, generation, layout.FTS_DEFAULTS)
            activate(connection, generation, position)
        self.follow(store)
        return done

    def _merge(self, table: str) -> None:
        """Merge all segments into one, in steps: other writers hardly wait."""
        pages = -MERGE_PAGES  # negative: start with all segments
        while True:
            with self.writing() as connection:
                before = _changes(connection)
                connection.exec_driver_sql(f"INSERT INTO {table}({table}, rank) VALUES ('merge', {pages})")  # noqa: S608
                if _changes(connection) - before < 2:  # FTS5 reports that nothing was left to merge
                    return
            pages = MERGE_PAGES

    def _in_order(self, generation: int) -> Iterator[list[tuple[int, Doc]]]:
        """Yield the articles of a new generation by rowid, that is by time."""
        last = 0
        statement = (
            f"SELECT d.*, t.packed FROM docs_{generation} d JOIN texts_{generation} t ON t.rowid = d.rowid "  # noqa: S608
            "WHERE d.rowid > ? ORDER BY d.rowid LIMIT ?"
        )
        while True:
            with self.reading() as connection:
                rows = connection.exec_driver_sql(statement, (last, REBUILD_BATCH)).mappings().all()
            if not rows:
                return
            yield [(row["rowid"], build(Doc, {**row, "text": layout.unpack(row["packed"])})) for row in rows]
            last = rows[-1]["rowid"]

    def needs_rebuild(self) -> bool:
        with self.reading() as connection:
            outdated = get_meta(connection, "cuts") != segmenter_number()
        return outdated or self._mostly_forgotten()

    def _mostly_forgotten(self) -> bool:
        """Return whether most rows are of removed articles. Their words remain in the FTS5 tables until a rebuild."""
        self._forgotten = 0
        with self.reading() as connection:
            counts = f"SELECT count(*), count(id) FROM docs_{get_meta(connection, 'generation')}"  # noqa: S608  our own number
            rows, articles = connection.exec_driver_sql(counts).one()
        return bool(rows - articles > max(articles, CHECK_EVERY))

    def position(self) -> int:
        with self.reading() as connection:
            return get_meta(connection, "position")

    def status(self) -> Status:
        with self.reading() as connection:
            generation, position = get_meta(connection, "generation"), get_meta(connection, "position")
            count = connection.exec_driver_sql(f"SELECT count(*) FROM docs_{generation} WHERE id IS NOT NULL").scalar_one()  # noqa: S608
        file = self._engine.url.database
        size = sum(part.stat().st_size for part in Path(file).parent.glob(f"{glob.escape(Path(file).name)}*")) if file else None
        return Status(position, count, size, f"SQLite FTS5, {file or 'in memory'}")

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with _search_errors(), reading(self._engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with _search_errors(), writing(self._engine) as connection:
            yield connection


@contextmanager
def _search_errors() -> Iterator[None]:
    """Convert errors of the store to ``SearchError``, and add that the index can be rebuilt."""
    try:
        yield
    except StoreError as error:
        raise SearchError(
            f"search index {error} (the index may be deleted at any time, or another file named as index: it is rebuilt)"
        ) from error
