"""Forum threads pass the stages of articles untouched; this one gives them topics and writes each with its posts in one transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

from newsportal.classify import topics
from newsportal.crawl.link_tracker import utcnow
from newsportal.dedup.canonical import identity
from newsportal.items import Thread, TopicMark
from newsportal.messages import Message, joined
from newsportal.pipelines.base import COLUMN, Stage, retry


class ThreadPipeline(Stage):
    kind = Thread

    def setup(self) -> None:
        sources = self.tracker.sources
        self._rules = tuple(topic.rule for topic in sources.topics if topic.enabled)
        self._of_source = {forum.key: forum.topics for forum in sources.forums}
        self._brought: dict[str, Counter[str]] = {}

    async def process(self, thread: Thread) -> Thread:
        """The thread with its topics, once it is stored and its link has its fate."""
        first = thread.posts[0].text if thread.posts else None
        named = self._of_source.get(thread.link.source, ())
        matched = topics.match(self._rules, thread.title, first)
        marks = tuple(TopicMark(topic, topics.SOURCE if topic in named else topics.KEYWORDS) for topic in dict.fromkeys((*named, *matched)))
        thread = replace(thread, topics=tuple(mark.topic for mark in marks), topic_marks=marks)
        saved = await retry(self.tracker.store.threads.save, thread, now=utcnow())
        # a search engine may lead to its address
        await asyncio.to_thread(self.tracker.stored_urls.alias, [identity(thread.url)], thread.identity or "")
        counts = self._brought.setdefault(thread.link.source, Counter())
        counts["posts"] += saved.posts
        counts["edited"] += saved.edited
        counts["threads"] += bool(saved.posts)
        if thread.failure:  # what was read is kept; the rest is asked for on the next visit
            await self.tracker.fail(thread.link, thread.failure, later=thread.later)
        else:
            await self.tracker.settle(thread.link, COLUMN[saved.outcome])
        return thread

    async def close_spider(self) -> None:
        """What the columns do not tell: a thread is one entry, however many posts it has."""
        for source, counts in self._brought.items():
            notes = [Message("note.posts", posts=counts["posts"], threads=counts["threads"])]
            notes += [Message("note.posts-edited", number=counts["edited"])] if counts["edited"] else []
            self.tracker.note(source, joined(*notes))
