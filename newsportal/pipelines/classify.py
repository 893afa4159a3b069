"""Stage 5, classify: topics by keywords, by the source and by the search that found the article; the source's category and language."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from newsportal.classify import topics
from newsportal.items import Article
from newsportal.pipelines.base import Stage

if TYPE_CHECKING:
    from newsportal.frontier.ledger import Ledger


class ClassifyPipeline(Stage):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        sources = ledger.sources
        enabled = [(topic.name, topic.keywords) for topic in sources.topics if topic.enabled]
        self._rules = tuple(topics.rule(name, words.must, words.any, words.not_) for name, words in enabled)
        self._languages = {feed.key: feed.language for feed in sources.feeds if feed.language}
        self._of_source = {source.key: source.topics for source in (*sources.feeds, *sources.regions)}

    async def process(self, article: Article) -> Article:
        link = article.link
        named = (*self._of_source.get(link.source, ()), *((link.topic,) if link.topic else ()))
        matched = topics.match(self._rules, article.title, article.text, link.summary)
        return replace(
            article,
            topics=tuple(dict.fromkeys((*article.topics, *named, *matched))),
            category=article.category or link.category,
            language=self._languages.get(link.source, article.language),
        )
