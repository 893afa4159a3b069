"""A store as a finder: what the crawl's whole rule (texts, then fold keys) makes of documents, measured like any other."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.dedup import exact
from newsportal.dedup.document import NEW, Document, Verdict
from newsportal.items import Article, Link
from newsportal.store import open_store
from newsportal.store.store import Store

DAWN = datetime(1970, 1, 1, tzinfo=UTC)


class Stored:
    """Documents as articles of a store; they are seen when they say they were published."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or open_store("sqlite://")
        self._ids: dict[str, str] = {}
        self._now = DAWN

    def judge(self, document: Document) -> Verdict:
        """The article that the store folded this one on."""
        self._now = max(self._now, document.published or self._now)
        url = document.url or f"https://{document.id}.invalid/"
        link = Link(url=url, source="evaluate")
        article = Article(
            url=url, link=link, fetched=self._now, identity=document.id, title=document.title, text=document.text,
            published=document.published,
        )  # fmt: skip
        added = self._store.add(article, exact.keys(document.title, document.text), now=self._now)
        self._ids[added.id] = document.id
        kept = self._store.article(added.id)
        if kept is None or kept.fold_of is None:
            return NEW
        return Verdict(self._ids[kept.fold_of], kept.fold_reason, kept.fold_score or 0.0)
