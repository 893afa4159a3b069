"""Stages 3 and 4, what is stored already: the URL filter by addresses, the duplicate stage by texts and titles.

The page's final address may be known although the link's was not (redirects, engines' links, other views).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import is_entry, name_of
from newsportal.dedup.canonical import identity, readable
from newsportal.dedup.declared import Content, Declared, agree, declared
from newsportal.dedup.judge import fold_keys
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.pipelines.base import ItemDone, Stage, retry

TAKEN = Message("note.canonical-taken")


class UrlFilterPipeline(Stage):
    """Gives the article its identity; leaves it if it is stored already. Identities are entered by the store stage alone."""

    async def process(self, article: Article) -> Article:
        own = article.link.identity or identity(article.url)
        said = declared(article.url, article.canonical) if article.link.identity is None else None
        known, name, claim = await retry(self._look_up, article, own, said)
        if known is not None:
            await retry(self.tracker.stored_urls.alias, {name_of(article.link), own}, known)
            await self.tracker.settle(article.link, "same")
            raise ItemDone(f"{article.url}: known as {known}")
        spelled = article.link.identity is not None and not is_entry(article.link)  # then every parameter may name the article
        return replace(article, identity=name, canonical=claim, url=article.url if spelled else readable(article.url))

    async def close_spider(self) -> None:
        """What is known is for the next crawl, too."""
        await asyncio.to_thread(self.tracker.stored_urls.keep)

    def _look_up(self, article: Article, own: str, said: Declared | None) -> tuple[str | None, str, str | None]:
        """The identity under which the article is stored, if it is; and those of :meth:`_named`."""
        known = self._stored_identity(article, own, said)
        return known, *(self._named(article, own, said) if known is None else (own, None))

    def _stored_identity(self, article: Article, own: str, declared: Declared | None) -> str | None:
        """The identity of the stored article that this one is: by its address, or a declared one where both show the same content."""
        if self.tracker.stored_urls.find_stored([own]):
            return own
        if article.link.identity is not None:
            return None
        ours = Content(article.title, article.text, article.published)
        for other in self.tracker.store.declared_by(own, *((declared.identity,) if declared else ())):
            if agree(ours, Content(other.title, other.text, other.published)):
                return other.identity
        return None

    def _named(self, article: Article, own: str, said: Declared | None) -> tuple[str, str | None]:
        """The identity of a new article, and what it claims beyond. An address that is another article's is neither."""
        if said is None:
            return own, None
        if self.tracker.stored_urls.find_stored([said.identity]):  # and their contents do not agree
            self.tracker.note(article.source, TAKEN)
            return own, None
        return (said.identity, None) if said.tied else (own, said.identity)


class DuplicatePipeline(Stage):
    """Decides which story an article repeats; nothing is thrown away. The store writes what it says, and in its transaction decides again
    if something came in between, so two writers still make one story."""

    async def process(self, article: Article) -> Article:
        article = replace(article, keys=fold_keys(article.title, article.text))
        if self.tracker.sources.duplicates.method != "judge":
            return article  # a paper's method compares in the order in which articles are stored
        return replace(article, decision=await retry(self.tracker.store.decide_fold, article, now=utcnow()))
