"""Stage 2, content: what the wrapper left open is found without templates."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from newsportal import dom
from newsportal.dedup.canonical import site_of
from newsportal.errors import NotApplicable
from newsportal.extractors import fragment
from newsportal.extractors.best import Best
from newsportal.extractors.pagination import Pager, find_pager, is_thread
from newsportal.extractors.rule import apply
from newsportal.extractors.turning import Read, is_front_page
from newsportal.frontier.ledger import ledger_of, utcnow
from newsportal.items import Article, Extraction, Link, Page
from newsportal.pipelines.base import Left, Stage
from newsportal.pipelines.quality import doubts
from newsportal.pipelines.turning import Downloads, Fetch, Interrupted, Turner, offline
from newsportal.text import clean

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newsportal.frontier.ledger import Ledger
    from newsportal.frontier.sites import SiteMemory


class ContentPipeline(Stage):
    """Runs the ``best`` extractor in a thread, on all pages of the article, and lets it learn the sites' own lines. A page without an
    article is counted with its reason, never passed on."""

    def __init__(self, ledger: Ledger, fetch: Fetch = offline) -> None:
        super().__init__(ledger)
        sources = (*ledger.sources.feeds, *ledger.sources.sitemaps, *ledger.sources.regions)
        self._rules = {source.key: source.article for source in sources if source.article}
        self._reader = Reader(ledger.sites)
        self._turner = Turner(ledger, fetch, self._read_page)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(ledger_of(crawler), Downloads(crawler))

    async def process(self, article: Article) -> Article:
        try:
            met = await asyncio.to_thread(self._reader.first, article)
            article, first = await self._turner.begin(article, met)
            found = await self._turner.joined(article, first, met)
        except NotApplicable as why:
            await self.ledger.fail(article.link, why.reason)
            raise Left(f"{article.url}: {why}") from why
        except Interrupted as why:
            raise Left(f"{article.url}: the crawl ends before its further pages are read") from why
        for column in doubts(article, found):
            self.ledger.count(article.source, column)
        return fill(article if len(found.pages) < 2 else replace(article, text=None, html=None, title=None), found)

    def _read_page(self, article: Article, page: Page) -> Read:
        """A further page: the source's rule goes first, as on the first page (``newsportal.pipelines.wrapper``)."""
        document = dom.document(page)
        one = self._reader.read(document, replace(article.link, summary=None, content=None), page)
        rule = self._rules.get(article.source)
        return one if rule is None else one._replace(found=_ruled(apply(rule, document, page.fetched), one.found))

    async def close_spider(self) -> None:
        """What was learnt of sites is for the next crawl."""
        await asyncio.to_thread(self.ledger.sites.keep, utcnow())


class Reader:
    """Reads pages with what is known of their sites. Blocking; may be called from several threads."""

    def __init__(self, sites: SiteMemory) -> None:
        self._sites = sites
        self._best = Best(sites.knowledge)

    def first(self, article: Article) -> Read:
        """An article's page, or what its feed carried. Raises ``NotApplicable``; ``no-title`` if neither page nor link has one."""
        met = self._page(article, article.page) if article.page else Read(article.url, _carried(article), Pager(()))
        if not (article.title or met.found.title or article.link.title):
            raise NotApplicable("no-title")
        if not (article.text or met.found.text):
            raise NotApplicable("no-body")
        return met._replace(found=_ruled(article, met.found))

    def read(self, document: dom.Document, link: Link, page: Page) -> Read:
        """One parse: the extraction and the pager read the same document. The pages of a thread are other people's posts."""
        pager = Pager((document.url,)) if is_thread(document.url) else find_pager(document)
        self._sites.recall(document.url)
        return Read(document.url, self._best(document, link, page.fetched), pager)

    def _page(self, article: Article, page: Page) -> Read:
        if is_front_page(article.url):
            raise NotApplicable("front-page")
        document = dom.document(page)
        try:
            met = self.read(document, article.link, page)
        except NotApplicable:
            if not article.link.content:
                raise
            return Read(article.url, _carried(article), Pager(()))
        if met.pager.first is None:  # a further page may repeat what its first page says, and is no witness
            self._best.learn(document, article.link, page.fetched, met.found)
        return met


def _carried(article: Article) -> Extraction:
    return fragment.read(article.link.content or "", article.url)


def _ruled(rule: Article | Extraction, found: Extraction) -> Extraction:
    """What a rule found of text and title comes before what was found without."""
    return replace(found, title=rule.title or found.title, text=rule.text or found.text, html=rule.html if rule.text else found.html)


def fill(article: Article, found: Extraction) -> Article:
    """What the wrapper found stays; the link's word comes last."""
    link = article.link
    return replace(
        article,
        title=clean(article.title or found.title or link.title or ""),
        text=article.text or found.text,
        html=article.html or found.html,
        published=article.published or found.published or link.published,
        author=article.author or found.author or link.author,
        origin=article.origin or found.origin,
        site=article.site or link.site or site_of(article.url),
        images=article.images or found.images,
        language=article.language or found.language,
        algorithm=article.algorithm or found.algorithm,
        pages=found.pages,
        canonical=found.canonical,
    )
