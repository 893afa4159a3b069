"""The store over a database of documents (MongoDB, Elasticsearch). Each method is one question or one transaction around a function of
its room; :mod:`newsportal.storage.base` says what it promises.

Writes: :mod:`writing`. Articles and stories: :mod:`articles`, :mod:`lists`. The crawl's memory: :mod:`memory`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from newsportal.items import Article, FoldKey, Link
from newsportal.report import Run
from newsportal.storage.article_lists import ArticleFilter, ArticlePage
from newsportal.storage.base import Added, Change, Marking, SourceState, StoredArticle, Story, StoryFilter, StoryPage, Tally
from newsportal.storage.corrections import Correction
from newsportal.storage.documents import article_lists, articles, editing, lists, memory, names, topic_marks, writing
from newsportal.storage.documents.corpora import DocumentCorpora
from newsportal.storage.documents.galleries import DocumentGalleries
from newsportal.storage.documents.opening import open_documents
from newsportal.storage.documents.outbox import OUTBOX, POSITIONS, DocumentOutbox
from newsportal.storage.documents.pictures import DocumentPictures
from newsportal.storage.documents.pieces import PIECES
from newsportal.storage.documents.prints import Prints, Written
from newsportal.storage.documents.readers import DocumentReaders
from newsportal.storage.documents.records import DocumentRecords
from newsportal.storage.documents.room_tables import ROOM_TABLES
from newsportal.storage.documents.subscriptions import DocumentSubscriptions
from newsportal.storage.documents.tables import CORE_TABLES
from newsportal.storage.documents.threads import DocumentThreads
from newsportal.storage.documents.visits import DocumentVisits
from newsportal.storage.documents.writing import New
from newsportal.storage.print_index import PrintIndex, printed

TABLES: Final = (*CORE_TABLES, *ROOM_TABLES, OUTBOX, POSITIONS, PIECES)
"""All that a store keeps."""


class DocumentStore:
    """A :class:`~newsportal.storage.base.Store` in a database of documents. Shared between threads; open one in each process."""

    def __init__(self, uri: str, *, create: bool = True, unfinished: bool = False) -> None:
        self._documents = documents = open_documents(uri, TABLES, create=create, unfinished=unfinished)
        self.corpora = DocumentCorpora(documents)
        self.galleries = DocumentGalleries(documents)
        self.pictures = DocumentPictures(documents)
        self.readers = DocumentReaders(documents)
        self.threads = DocumentThreads(documents)
        self.outbox = DocumentOutbox(documents)
        self.records = DocumentRecords(documents)
        self.visits = DocumentVisits(documents)
        self.subscriptions = DocumentSubscriptions(documents)
        self._prints = PrintIndex()
        self._written = Written()

    def add(self, article: Article, keys: Sequence[FoldKey] = (), *, now: datetime) -> Added:
        return self.add_all([(article, keys)], now=now)[0]

    def add_all(self, articles: Sequence[tuple[Article, Sequence[FoldKey]]], *, now: datetime) -> list[Added]:
        made = [New(article, keys, printed(self._prints, article)) for article, keys in articles]
        if not made:
            return []
        while not self._prints.read:  # in pages, while others may write
            self._prints.catch_up(Prints(self._documents, self._written))
        with self._prints.unless_it_fails():
            with self._documents.writing() as transaction:
                prints = Prints(transaction, self._written)
                writing.look_ahead(transaction, made)
                added = [writing.add(transaction, prints, new, now) for new in made]
                written = prints.written
            self._written = written
        return added

    def known(self, identities: Collection[str]) -> set[str]:
        return names.known(self._documents, identities)

    def identities(self, *, after: int = 0) -> Iterator[str]:
        return names.names_since(self._documents, after) if after > 0 else names.all_names(self._documents)

    def declare(self, name: str, of: str) -> None:
        with self._documents.writing() as transaction:
            names.declare(transaction, name, of)

    def declared_by(self, name: str) -> list[StoredArticle]:
        return self.articles(names.declared_by(self._documents, name))

    def add_alias(self, identity: str, of: str) -> None:
        with self._documents.writing() as transaction:
            names.add_alias(transaction, identity, of)

    def article(self, id: str) -> StoredArticle | None:
        found = self.articles([id])
        return found[0] if found else None

    def revisions(self, id: str) -> tuple[StoredArticle, ...]:
        return articles.revisions(self._documents, id)

    def articles(self, ids: Sequence[str]) -> list[StoredArticle]:
        return articles.articles(self._documents, ids)

    def all_articles(self, *, after: str | None = None) -> Iterator[StoredArticle]:
        return articles.all_articles(self._documents, after)

    def story(self, id: str, *, hidden: bool = False) -> Story | None:
        return articles.story(self._documents, id, hidden)

    def stories(self, which: StoryFilter) -> StoryPage:
        return lists.stories(self._documents, which)

    def listed(self, ids: Collection[str]) -> Mapping[str, Story]:
        return lists.listed(self._documents, ids)

    def fold(self, article_id: str, story_id: str, *, reason: str, now: datetime) -> None:
        with self._documents.writing() as transaction:
            writing.fold(transaction, article_id, story_id, reason, now)

    def unfold(self, article_id: str, *, now: datetime) -> str:
        with self._documents.writing() as transaction:
            return writing.unfold(transaction, article_id, now)

    def set_category(self, article_id: str, category: str | None, *, by: str, now: datetime, over: bool = False) -> None:
        with self._documents.writing() as transaction:
            writing.give_category(transaction, article_id, category, by, now, over)

    def mark_topics(self, markings: Sequence[Marking], *, now: datetime) -> int:
        with self._documents.writing() as transaction:
            return topic_marks.mark(transaction, markings, now)

    def correct(self, article_id: str, said: Correction, *, by: str, now: datetime, seen: int | None = None) -> int:
        with self._documents.writing() as transaction:
            return editing.correct(transaction, article_id, said, by, seen, now)

    def withdraw(self, article_id: str, *, now: datetime, seen: int | None = None) -> int:
        with self._documents.writing() as transaction:
            return editing.withdraw(transaction, article_id, seen, now)

    def hide(self, article_ids: Collection[str], *, by: str, reason: str, now: datetime) -> list[str]:
        with self._documents.writing() as transaction:
            return editing.hide(transaction, article_ids, by, reason, now)

    def show(self, article_ids: Collection[str], *, now: datetime) -> list[str]:
        with self._documents.writing() as transaction:
            return editing.show(transaction, article_ids, now)

    def pick(self, which: ArticleFilter) -> ArticlePage:
        return article_lists.articles(self._documents, which)

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        return articles.changes(self._documents, after, limit)

    def last_seq(self) -> int:
        return articles.last_seq(self._documents)

    def save_run(self, run: Run) -> None:
        with self._documents.writing() as transaction:
            memory.save_run(transaction, run)

    def run(self, id: str) -> Run | None:
        return memory.run(self._documents, id)

    def runs(self, limit: int = 50) -> list[Run]:
        return memory.runs(self._documents, limit)

    def source_state(self, source: str) -> SourceState:
        return memory.source_state(self._documents, source)

    def source_states(self) -> list[SourceState]:
        return memory.source_states(self._documents)

    def save_source_state(self, state: SourceState) -> None:
        with self._documents.writing() as transaction:
            memory.save_source_state(transaction, state)

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        return memory.site_lines(self._documents, site)

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, most: int) -> None:
        with self._documents.writing() as transaction:
            memory.save_site_lines(transaction, sites, now, most)

    def defer(self, links: Sequence[Link], *, now: datetime) -> None:
        if links:
            with self._documents.writing() as transaction:
                memory.defer(transaction, links, now)

    def deferred(self, source: str) -> list[Link]:
        return memory.deferred(self._documents, source)

    def waits_since(self, name: str) -> datetime | None:
        return memory.waits_since(self._documents, name)

    def settle(self, names: Collection[str]) -> None:
        if names:
            with self._documents.writing() as transaction:
                memory.settle(transaction, names)

    def tally(self) -> Tally:
        with self._documents.together():
            return articles.tally(self._documents)

    def stories_since(self, topic: str, since: datetime) -> int:
        return articles.stories_since(self._documents, topic, since)

    def close(self) -> None:
        self._documents.close()
