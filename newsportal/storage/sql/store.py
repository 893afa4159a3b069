"""The SQL store: SQLite today, written in portable SQLAlchemy Core. Each method is one transaction around a function of its room.

Writes: :mod:`writing`. Articles and stories: :mod:`reading`, :mod:`lists`. The crawl's memory: :mod:`memory`. Dialects: :mod:`dialects`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from newsportal.items import Article, FoldKey, Link
from newsportal.report import Run
from newsportal.storage.article_lists import ArticleFilter, ArticlePage
from newsportal.storage.base import Added, Change, Marking, SourceState, StoredArticle, Story, StoryFilter, StoryPage, Tally
from newsportal.storage.corrections import Correction
from newsportal.storage.print_index import PrintIndex, printed
from newsportal.storage.sql import article_lists, categories, editing, lists, memory, names, reading, topic_marks, writing
from newsportal.storage.sql.corpora import SqlCorpora
from newsportal.storage.sql.dialects import open_engine
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.galleries import SqlGalleries
from newsportal.storage.sql.outbox import SqlOutbox
from newsportal.storage.sql.pictures import SqlPictures
from newsportal.storage.sql.prints import SqlPrints
from newsportal.storage.sql.readers import SqlReaders
from newsportal.storage.sql.records import SqlRecords
from newsportal.storage.sql.schema import prepare
from newsportal.storage.sql.subscriptions import SqlSubscriptions
from newsportal.storage.sql.threads import SqlThreads
from newsportal.storage.sql.visits import SqlVisits


class SqlStore:
    """A :class:`~newsportal.storage.base.Store` in a SQL database. Shared between threads; open one in each process."""

    def __init__(self, uri: str, *, create: bool = True, unfinished: bool = False) -> None:
        self._engine = open_engine(uri, create=create)
        self._prints = PrintIndex()
        self.corpora = SqlCorpora(self._engine)
        self.threads = SqlThreads(self._engine)
        self.pictures = SqlPictures(self._engine)
        self.readers = SqlReaders(self._engine)
        self.galleries = SqlGalleries(self._engine)
        self.visits = SqlVisits(self._engine)
        self.subscriptions = SqlSubscriptions(self._engine)
        self.outbox = SqlOutbox(self._engine)
        self.records = SqlRecords(self._engine)
        try:
            prepare(self._engine, unfinished=unfinished)
        except BaseException:
            self.close()
            raise

    def add(self, article: Article, keys: Sequence[FoldKey] = (), *, now: datetime) -> Added:
        new = printed(self._prints, article)
        self._read_prints()
        with write(self._engine) as connection:
            return writing.add(connection, article, keys, new, now)

    def add_all(self, articles: Sequence[tuple[Article, Sequence[FoldKey]]], *, now: datetime) -> list[Added]:
        made = [(article, keys, printed(self._prints, article)) for article, keys in articles]
        if not made:
            return []
        self._read_prints()
        with self._prints.unless_it_fails(), write(self._engine) as connection:
            return [writing.add(connection, article, keys, new, now) for article, keys, new in made]

    def _read_prints(self) -> None:
        while not self._prints.read:  # in pages, while others may write
            with read(self._engine) as connection:
                self._prints.catch_up(SqlPrints(connection))

    def known(self, identities: Collection[str]) -> set[str]:
        with read(self._engine) as connection:
            return reading.known(connection, identities)

    def identities(self, *, after: int = 0) -> Iterator[str]:
        connect = partial(read, self._engine)
        return names.names_since(connect, after) if after > 0 else names.all_names(connect)

    def declare(self, name: str, of: str) -> None:
        with write(self._engine) as connection:
            names.declare(connection, name, of)

    def declared_by(self, name: str) -> list[StoredArticle]:
        with read(self._engine) as connection:
            return reading.articles(connection, names.declared_by(connection, name))

    def add_alias(self, identity: str, of: str) -> None:
        with write(self._engine) as connection:
            writing.add_alias(connection, identity, of)

    def article(self, id: str) -> StoredArticle | None:
        found = self.articles([id])
        return found[0] if found else None

    def revisions(self, id: str) -> tuple[StoredArticle, ...]:
        with read(self._engine) as connection:
            return reading.revisions(connection, id)

    def articles(self, ids: Sequence[str]) -> list[StoredArticle]:
        with read(self._engine) as connection:
            return reading.articles(connection, ids)

    def all_articles(self, *, after: str | None = None) -> Iterator[StoredArticle]:
        last = after or ""
        while True:
            with read(self._engine) as connection:
                page = reading.article_page(connection, last)
            if not page:
                return
            yield from page
            last = page[-1].id

    def story(self, id: str, *, hidden: bool = False) -> Story | None:
        with read(self._engine) as connection:
            return reading.story(connection, id, hidden)

    def stories(self, which: StoryFilter) -> StoryPage:
        with read(self._engine) as connection:
            return lists.stories(connection, which)

    def listed(self, ids: Collection[str]) -> Mapping[str, Story]:
        with read(self._engine) as connection:
            return lists.listed(connection, ids)

    def fold(self, article_id: str, story_id: str, *, reason: str, now: datetime) -> None:
        with write(self._engine) as connection:
            writing.fold(connection, article_id, story_id, reason, now)

    def unfold(self, article_id: str, *, now: datetime) -> str:
        with write(self._engine) as connection:
            return writing.unfold(connection, article_id, now)

    def set_category(self, article_id: str, category: str | None, *, by: str, now: datetime, over: bool = False) -> None:
        with write(self._engine) as connection:
            categories.give(connection, article_id, category, by, now, over)

    def mark_topics(self, markings: Sequence[Marking], *, now: datetime) -> int:
        with write(self._engine) as connection:
            return topic_marks.mark(connection, markings, now)

    def correct(self, article_id: str, said: Correction, *, by: str, now: datetime, seen: int | None = None) -> int:
        with write(self._engine) as connection:
            return editing.correct(connection, article_id, said, by, seen, now)

    def withdraw(self, article_id: str, *, now: datetime, seen: int | None = None) -> int:
        with write(self._engine) as connection:
            return editing.withdraw(connection, article_id, seen, now)

    def hide(self, article_ids: Collection[str], *, by: str, reason: str, now: datetime) -> list[str]:
        with write(self._engine) as connection:
            return editing.hide(connection, article_ids, by, reason, now)

    def show(self, article_ids: Collection[str], *, now: datetime) -> list[str]:
        with write(self._engine) as connection:
            return editing.show(connection, article_ids, now)

    def pick(self, which: ArticleFilter) -> ArticlePage:
        with read(self._engine) as connection:
            return article_lists.articles(connection, which)

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        with read(self._engine) as connection:
            return reading.changes(connection, after, limit)

    def last_seq(self) -> int:
        with read(self._engine) as connection:
            return reading.last_seq(connection)

    def save_run(self, run: Run) -> None:
        with write(self._engine) as connection:
            memory.save_run(connection, run)

    def run(self, id: str) -> Run | None:
        with read(self._engine) as connection:
            return memory.run(connection, id)

    def runs(self, limit: int = 50) -> list[Run]:
        with read(self._engine) as connection:
            return memory.runs(connection, limit)

    def source_state(self, source: str) -> SourceState:
        with read(self._engine) as connection:
            return memory.source_state(connection, source)

    def source_states(self) -> list[SourceState]:
        with read(self._engine) as connection:
            return memory.source_states(connection)

    def save_source_state(self, state: SourceState) -> None:
        with write(self._engine) as connection:
            memory.save_source_state(connection, state)

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        with read(self._engine) as connection:
            return memory.site_lines(connection, site)

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, most: int) -> None:
        with write(self._engine) as connection:
            memory.save_site_lines(connection, sites, now, most)

    def defer(self, links: Sequence[Link], *, now: datetime) -> None:
        with write(self._engine) as connection:
            memory.defer(connection, links, now)

    def deferred(self, source: str) -> list[Link]:
        with read(self._engine) as connection:
            return memory.deferred(connection, source)

    def waits_since(self, name: str) -> datetime | None:
        with read(self._engine) as connection:
            return memory.waits_since(connection, name)

    def settle(self, names: Collection[str]) -> None:
        with write(self._engine) as connection:
            memory.settle(connection, names)

    def tally(self) -> Tally:
        with read(self._engine) as connection:
            return reading.tally(connection)

    def stories_since(self, topic: str, since: datetime) -> int:
        with read(self._engine) as connection:
            return reading.stories_since(connection, topic, since)

    def close(self) -> None:
        self._engine.dispose()
