"""Stage 4, duplicate: decides which story an article repeats, by the texts and titles that are stored. Nothing is thrown away.

The store writes what it says; in its transaction it decides again if something came in between, so two writers still make one story.
"""

from __future__ import annotations

from dataclasses import replace

from newsportal.crawl.link_tracker import utcnow
from newsportal.dedup.judge import fold_keys
from newsportal.items import Article
from newsportal.pipelines.base import Stage, retry


class DuplicatePipeline(Stage):
    async def process(self, article: Article) -> Article:
        article = replace(article, keys=fold_keys(article.title, article.text))
        if self.tracker.sources.duplicates.method != "judge":
            return article  # a paper's method compares in the order in which articles are stored
        return replace(article, decision=await retry(self.tracker.store.decide_fold, article, now=utcnow()))
