"""Stages 3 and 4, duplicates: the URL filter by URLs, the duplicate stage by texts and titles.

The final URL of a page may be stored although its link's URL was not (redirects, links of search engines, other views).
"""

import asyncio
from dataclasses import replace

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import is_entry, name_of
from newsportal.dedup.canonical import display_url, identity
from newsportal.dedup.declared import Content, DeclaredIdentity, declared_identity, same_article
from newsportal.dedup.judge import fold_keys
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.pipelines.base import ItemDone, Stage, retry

TAKEN = Message("note.canonical-taken")


class UrlFilterPipeline(Stage):
    """Determines the article's identity, and drops stored articles. Only the store stage enters identities into the filter."""

    async def process(self, article: Article) -> Article:
        name = article.link.identity or identity(article.url)
        canonical = declared_identity(article.url, article.canonical) if article.link.identity is None else None
        stored, new_name, claim = await retry(self._look_up, article, name, canonical)
        if stored is not None:
            await retry(self.tracker.stored_urls.add_aliases, {name_of(article.link), name}, stored)
            await self.tracker.settle(article.link, "same")
            raise ItemDone(f"{article.url}: known as {stored}")
        spelled = article.link.identity is not None and not is_entry(article.link)  # then every parameter may name the article
        return replace(article, identity=new_name, canonical=claim, url=article.url if spelled else display_url(article.url))

    async def close_spider(self) -> None:
        """Save the filter for the next crawl."""
        await asyncio.to_thread(self.tracker.stored_urls.save)

    def _look_up(self, article: Article, name: str, canonical: DeclaredIdentity | None) -> tuple[str | None, str, str | None]:
        """Return the identity under which the article is stored, if it is, and the identities of :meth:`_named`."""
        stored = self._stored_identity(article, name, canonical)
        return stored, *(self._named(article, name, canonical) if stored is None else (name, None))

    def _stored_identity(self, article: Article, name: str, canonical: DeclaredIdentity | None) -> str | None:
        """Return the identity of the stored article that is the same: by URL, or by a declared URL if both have the same content."""
        if self.tracker.stored_urls.find_stored([name]):
            return name
        if article.link.identity is not None:
            return None
        ours = Content(article.title, article.text, article.published)
        for other in self.tracker.store.declared_by(name, *((canonical.identity,) if canonical else ())):
            if same_article(ours, Content(other.title, other.text, other.published)):
                return other.identity
        return None

    def _named(self, article: Article, name: str, canonical: DeclaredIdentity | None) -> tuple[str, str | None]:
        """Return the identity of a new article, and the canonical URL it claims besides. A URL of another article is neither."""
        if canonical is None:
            return name, None
        if self.tracker.stored_urls.find_stored([canonical.identity]):  # and their contents differ
            self.tracker.note(article.source, TAKEN)
            return name, None
        return (canonical.identity, None) if canonical.trusted else (name, canonical.identity)


class DuplicatePipeline(Stage):
    """Decides which story an article repeats; no article is discarded. The store repeats the decision in its transaction if another article
    was stored in between, so that two writers still create one story."""

    async def process(self, article: Article) -> Article:
        article = replace(article, keys=fold_keys(article.title, article.text))
        if self.tracker.sources.duplicates.method != "judge":
            return article  # a paper's method compares articles in the order of storing
        return replace(article, decision=await retry(self.tracker.store.decide_fold, article, now=utcnow()))
