"""The search index in a SQLite file of its own: FTS5 over words that are cut before they get there."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from newsportal.errors import SearchError, StoreError
from newsportal.search import building, finding, suggesting
from newsportal.search.base import Query, Results, Status
from newsportal.search.layout import META, VERSION
from newsportal.search.renewing import renew
from newsportal.store.dialects import open_engine, reading, write_ahead, writing
from newsportal.store.store import Store


class SqliteIndex:
    """An :class:`~newsportal.search.base.Index`. Searches see one state of the index from their begin to their end."""

    def __init__(self, uri: str) -> None:
        self._looked = False
        with _search_errors():
            self._engine = open_engine(uri)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables, or throw away those of another version: the next ``follow`` fills them from the store."""
        with _search_errors():
            write_ahead(self._engine)
        with self.writing() as connection:
            connection.exec_driver_sql(META)
            if building.meta(connection, "version") != VERSION:
                building.take_over(connection, building.new_generation(connection), position=0)

    def search(self, query: Query) -> Results:
        with self.reading() as connection:
            return finding.find(connection, building.meta(connection, "generation"), query)

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        with self.reading() as connection:
            generation = building.meta(connection, "generation")
            return suggesting.suggest(typed, limit, lambda prefix, most: finding.offered(connection, generation, prefix, most))

    def follow(self, store: Store) -> int:
        if not self._looked:  # once: two processes with different words of one's own must not rebuild in turns
            self._looked = True
            renew(self, store)
        return building.follow(self, store)

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        return building.rebuild(self, store, progress)

    def cut_otherwise(self) -> bool:
        return building.cut_otherwise(self)

    def position(self) -> int:
        with self.reading() as connection:
            return building.meta(connection, "position")

    def status(self) -> Status:
        with self.reading() as connection:
            generation, position = building.meta(connection, "generation"), building.meta(connection, "position")
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
    """The index speaks of search, and can always be made again."""
    try:
        yield
    except StoreError as error:
        raise SearchError(f"search index {error} (the index may be deleted at any time: it is built anew from the store)") from error
