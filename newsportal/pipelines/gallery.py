"""Photo stories pass the stages of articles untouched; this one gives them category, topics and keywords as articles get them, and writes
each with its pages and pictures in one transaction. A story that lacks pages is stored as well, and its link waits for the next visit."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from newsportal.dedup.canonical import identity
from newsportal.frontier.galleries import MAX_VAIN, NO_PICTURES, refuse
from newsportal.frontier.ledger import utcnow
from newsportal.items import Article, Gallery
from newsportal.messages import Message
from newsportal.pipelines.base import COLUMN, Left, Stage, retry
from newsportal.pipelines.classify import ClassifyPipeline

if TYPE_CHECKING:
    from newsportal.store.gallery_tables import SavedGallery


class GalleryPipeline(Stage):
    kind = Gallery

    def setup(self) -> None:
        self._classify = ClassifyPipeline(self.ledger)
        self._brought: dict[str, Counter[str]] = {}
        self._lacking: dict[str, Counter[str]] = {}

    async def process(self, gallery: Gallery) -> Gallery:
        """The story with its topics, once it is stored and its link has its fate."""
        if not gallery.shown and gallery.complete:  # logos and advertisements alone
            await refuse(self.ledger, gallery.link, NO_PICTURES)
            raise Left(f"{gallery.url}: no picture is left of it")
        gallery = await self._classified(gallery)
        saved = await retry(self.ledger.store.galleries.save, gallery, now=utcnow())
        await self._enter(gallery)
        waits = not saved.complete and gallery.later and saved.vain < MAX_VAIN
        self._note(gallery, saved, waits)
        await self.ledger.settle(gallery.link, COLUMN[saved.outcome], later=waits)
        return gallery

    async def _classified(self, gallery: Gallery) -> Gallery:
        """Its category, topics and keywords, by title, text and captions. In a thread, as for articles."""
        captions = dict.fromkeys(image.caption for image in gallery.shown if image.caption)
        text = "\n".join(filter(None, (gallery.text, *captions)))
        article = Article(gallery.url, gallery.link, gallery.fetched, gallery.identity, title=gallery.title, text=text)
        found = await self._classify.process(replace(article, category=gallery.category, language=gallery.language))
        return replace(
            gallery,
            category=found.category,
            category_by=found.category_by,
            category_score=found.category_score,
            category_reason=found.category_reason,
            topics=found.topics,
            topic_marks=found.topic_marks,
            keywords=found.keywords,
            language=found.language,
        )

    async def _enter(self, gallery: Gallery) -> None:
        """The story is known under the addresses of all its pages: an index page may lead to any of them."""
        name = gallery.identity or ""
        others = [other for other in dict.fromkeys(map(identity, (gallery.url, *gallery.pages))) if other != name]
        await asyncio.to_thread(self._alias, others, name)
        await asyncio.to_thread(self.ledger.known.enter, [name, *others])

    def _alias(self, others: list[str], name: str) -> None:
        for other in others:
            self.ledger.store.add_alias(other, name)

    def _note(self, gallery: Gallery, saved: SavedGallery, waits: bool) -> None:
        counts = self._brought.setdefault(gallery.link.source, Counter())
        counts["finished" if saved.outcome == "grown" and saved.complete else "complete" if saved.complete else "incomplete"] += 1
        counts["given up"] += not saved.complete and not waits
        if not saved.complete:
            self._lacking.setdefault(gallery.link.source, Counter())[gallery.failure or "missing-pages"] += 1

    async def close_spider(self) -> None:
        """What the columns do not tell: whether the stories are complete, and why not."""
        await self._classify.close_spider()
        for source, counts in self._brought.items():
            reasons = ", ".join(f"{reason} × {number}" for reason, number in sorted(self._lacking.get(source, Counter()).items()))
            told = [Message("note.complete", number=counts["complete"])]
            told += [Message("note.finished", number=counts["finished"])] if counts["finished"] else []
            told += [Message("note.incomplete", number=counts["incomplete"], reasons=reasons)] if counts["incomplete"] else []
            told += [Message("note.not-tried", number=counts["given up"])] if counts["given up"] else []
            self.ledger.note(source, Message("note.galleries", counts=tuple(told)))
