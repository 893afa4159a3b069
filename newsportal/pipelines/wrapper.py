"""Stage 1, wrapper: the source's own rules for its pages (``article:`` in sources.yaml) come before everything template-free."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from newsportal import dom
from newsportal.extractors.rule import apply
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.pipelines.base import Stage

if TYPE_CHECKING:
    from newsportal.frontier.ledger import Ledger


class WrapperPipeline(Stage):
    """Applies a source's rule. A rule that finds no body leaves the page to the next stage and is noted in the report."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        sources = (*ledger.sources.feeds, *ledger.sources.sitemaps, *ledger.sources.regions)
        self._rules = {source.key: source.article for source in sources if source.article}

    async def process(self, article: Article) -> Article:
        rule = self._rules.get(article.source)
        if rule is None or article.page is None:
            return article
        found = await asyncio.to_thread(apply, rule, dom.document(article.page), article.fetched)
        if found.text is None:
            self.ledger.note(article.source, Message("note.rule-finds-nothing"))
        return replace(
            article,
            title=found.title,
            text=found.text,
            html=found.html,
            published=found.published,
            author=found.author,
            algorithm=found.algorithm if found.text else None,
        )
