"""Stage 1, wrapper: the source's own rules for its pages (``article:`` in sources.yaml) come before everything template-free."""

from __future__ import annotations

from dataclasses import replace

from newsportal.crawl.article_reader import ArticleReader
from newsportal.errors import NotApplicable
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.pipelines.base import Stage


class WrapperPipeline(Stage):
    """Applies a source's rule. A rule that finds no body leaves the page to the next stage and is noted in the report."""

    def setup(self) -> None:
        self._reader = ArticleReader(self.tracker.sources, self.tracker.sites, self.tracker.readers.call)

    async def process(self, article: Article) -> Article:
        found = article.wrapped
        try:
            if self._reader.has_rule(article):
                found = await self.tracker.readers.run(self._reader.wrapped, article)
        except NotApplicable:  # the page is none: the next stage counts it
            return article
        if found is None:
            return article
        if found.text is None:
            self.tracker.note(article.source, Message("note.rule-finds-nothing"))
        return replace(
            article,
            wrapped=found,
            title=found.title,
            text=found.text,
            html=found.html,
            published=found.published,
            author=found.author,
            algorithm=found.algorithm if found.text else None,
        )
