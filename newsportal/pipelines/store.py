"""Stage 6, store: one transaction that keeps the article and folds it, with those that wait as well; then its URL is known. Only now is the
link done."""

from __future__ import annotations

from dataclasses import replace

from newsportal.dedup.canonical import identity
from newsportal.frontier.links import name_of
from newsportal.items import Article
from newsportal.pipelines.base import COLUMN, Stage, retry
from newsportal.pipelines.batch_writer import BatchWriter


class StorePipeline(Stage):
    """The only stage that writes articles. A link whose article could not be written is neither settled nor known."""

    def setup(self) -> None:
        self._writer = BatchWriter(self.ledger.store)

    async def process(self, article: Article) -> Article:
        added = await self._writer.add(article)
        await self._enter(article)
        await self.ledger.settle(article.link, COLUMN[added.outcome], written=True)
        if article.link.published is None and COLUMN[added.outcome] != "same":  # what the list said is counted already
            self.ledger.told.published(article.link.source, [article.published])
        return replace(article, page=None)

    async def _enter(self, article: Article) -> None:
        if article.identity is None:
            raise ValueError(f"{article.url}: the URL filter gave no identity")
        others = () if article.link.identity else (article.url, *article.pages)  # else other articles have this URL's identity, too
        names = {name_of(article.link), *map(identity, others)} - {article.identity}
        if article.canonical is not None:
            await retry(self.ledger.store.declare, article.canonical, article.identity)
        for name in names:
            await retry(self.ledger.store.add_alias, name, article.identity)
        await retry(self.ledger.known.enter, [article.identity, *names])
