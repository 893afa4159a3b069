"""Stage 6, store: one transaction stores and folds the waiting articles; then their URLs are known, and their links done.

Forum threads skip the stages of articles; they get their topics here, and each is stored with its posts in one transaction.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from newsportal.classify import topics
from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import name_of
from newsportal.crawl.seen_filter import StoredUrls
from newsportal.dedup.canonical import identity
from newsportal.errors import StoreUnavailable
from newsportal.items import Article, Thread, TopicMark
from newsportal.messages import Message, join_messages
from newsportal.pipelines.base import COLUMN, Stage, retry
from newsportal.store.results import AddResult
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

MAX_BATCH: Final = 50  # Articles per transaction: a fifth of a second, during which other processes wait


@dataclass(frozen=True, slots=True)
class _Waiting:
    article: Article
    added: asyncio.Future[AddResult]


class BatchWriter:
    """Stores articles for the stages of one crawl, in its event loop, in batches."""

    def __init__(self, store: Store, stored_urls: StoredUrls) -> None:
        self._store, self._stored_urls = store, stored_urls
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Future[None] | None = None

    async def add(self, article: Article) -> AddResult:
        """Store an article, with retries, in a batch with others that wait. Raises only the errors of storing this article."""
        waiting = _Waiting(article, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())
        return await waiting.added

    async def _write(self) -> None:
        batch: list[_Waiting] = []
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
                if not await self._add_all(batch):
                    for entry in batch:
                        await self._add_all([entry])
        finally:  # if the loop ends with articles waiting, their callers are cancelled
            self._writing = None
            for entry in (*batch, *self._waiting):
                entry.added.cancel()

    async def _add_all(self, batch: Sequence[_Waiting]) -> bool:
        """Store a batch. Return False if one of several fails: then nothing is stored, and the caller adds them one by one."""
        try:
            added = await retry(self.add_and_enter, [entry.article for entry in batch])
        except Exception as error:  # noqa: BLE001  raised in the waiting stage
            if len(batch) > 1 and not isinstance(error, StoreUnavailable):
                logger.info("%d articles are stored one by one, since storing them together failed: %s", len(batch), error)
                return False
            for entry in batch:
                if not entry.added.done():  # the waiting task may be cancelled
                    entry.added.set_exception(error)
        else:
            for entry, answer in zip(batch, added, strict=True):
                if not entry.added.done():
                    entry.added.set_result(answer)
        return True

    def add_and_enter(self, articles: Sequence[Article]) -> list[AddResult]:
        added = self._store.add_all([(article, article.keys) for article in articles], now=utcnow())
        self._stored_urls.add({article.identity for article in articles if article.identity is not None})
        return added


class StorePipeline(Stage):
    """The only stage that stores articles. A link whose article could not be stored is neither settled nor known."""

    def setup(self) -> None:
        self._writer = BatchWriter(self.tracker.store, self.tracker.stored_urls)

    async def process(self, article: Article) -> Article:
        added = await self._writer.add(article)
        if article.identity is None:
            raise ValueError(f"{article.url}: the URL filter gave no identity")
        others = () if article.link.identity else (article.url, *article.pages)  # else other articles share this URL
        names = {name_of(article.link), *map(identity, others)}
        if article.canonical is not None:
            await retry(self.tracker.store.declare_url, article.canonical, article.identity)
        if names != {article.identity}:
            await retry(self.tracker.stored_urls.add_aliases, names, article.identity)
        await self.tracker.settle(article.link, COLUMN[added.outcome], written=True)
        if article.link.published is None and COLUMN[added.outcome] != "same":  # dates on list pages are counted already
            self.tracker.visit_counts.record_published(article.link.source, [article.published])
        return replace(article, page=None)


class ThreadPipeline(Stage):
    kind = Thread

    def setup(self) -> None:
        sources = self.tracker.sources
        self._rules = tuple(topic.rule for topic in sources.topics if topic.enabled)
        self._of_source = {forum.key: forum.topics for forum in sources.forums}
        self._counts: dict[str, Counter[str]] = {}

    async def process(self, thread: Thread) -> Thread:
        """Return the thread with its topics after storing it and settling its link."""
        first = thread.posts[0].text if thread.posts else None
        fixed = self._of_source.get(thread.link.source, ())
        matched = topics.match(self._rules, thread.title, first)
        marks = tuple(TopicMark(topic, topics.SOURCE if topic in fixed else topics.KEYWORDS) for topic in dict.fromkeys((*fixed, *matched)))
        thread = replace(thread, topics=tuple(mark.topic for mark in marks), topic_marks=marks)
        saved = await retry(self.tracker.store.threads.save, thread, now=utcnow())
        # a search engine may link to its URL
        await asyncio.to_thread(self.tracker.stored_urls.add_aliases, [identity(thread.url)], thread.identity or "")
        counts = self._counts.setdefault(thread.link.source, Counter())
        counts["posts"] += saved.posts
        counts["edited"] += saved.edited
        counts["threads"] += bool(saved.posts)
        if thread.failure:  # keep what was read; the next visit fetches the rest
            await self.tracker.fail(thread.link, thread.failure, later=thread.later)
        else:
            await self.tracker.settle(thread.link, COLUMN[saved.outcome])
        return thread

    async def close_spider(self) -> None:
        """Report the posts, which the columns do not count: a thread is one entry, however many posts it has."""
        for source, counts in self._counts.items():
            notes = [Message("note.posts", posts=counts["posts"], threads=counts["threads"])]
            notes += [Message("note.posts-edited", number=counts["edited"])] if counts["edited"] else []
            self.tracker.note(source, join_messages(*notes))
