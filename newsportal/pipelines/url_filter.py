"""Stage 3, URL filter: the page's final address may be known although the link's was not (redirects, engines' links)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from newsportal.dedup.canonical import identity, readable
from newsportal.frontier.ledger import name_of
from newsportal.items import Article
from newsportal.pipelines.base import Left, Stage


class UrlFilterPipeline(Stage):
    """Gives the article its identity; leaves it if that is stored already. Identities are entered by the store stage alone."""

    async def process(self, article: Article) -> Article:
        linked = name_of(article.link)
        final = article.link.identity or identity(article.url)
        known = self.ledger.known
        stored = await asyncio.to_thread(known.known, [final])
        if stored:
            if linked != final:
                await asyncio.to_thread(self.ledger.store.add_alias, linked, final)
                await asyncio.to_thread(known.enter, [linked])
            await self.ledger.settle(article.link, "same")
            raise Left(f"{article.url}: known as {final}")
        return replace(article, identity=final, url=readable(article.url))

    async def close_spider(self) -> None:
        """What is known is for the next crawl, too."""
        await asyncio.to_thread(self.ledger.known.keep)
