"""Reads the pages of articles: the source's own rule, the extractor with what is known of the site, and the pager, of one parse."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from newsportal.errors import NotApplicable
from newsportal.extractors.article import tidy
from newsportal.extractors.article.best import Best
from newsportal.extractors.article.rule import apply
from newsportal.extractors.lists.pagination import Pager, PageRead, find_pager, is_front_page, is_thread
from newsportal.items import Article, Extraction, Link, Page
from newsportal.text import dom

if TYPE_CHECKING:
    from newsportal.crawl.record import SiteMemory
    from newsportal.sources import Sources


class ArticleReader:
    """Blocking; may be called from several threads."""

    def __init__(self, sources: Sources, sites: SiteMemory) -> None:
        places = (*sources.feeds, *sources.sitemaps, *sources.regions)
        self._rules = {place.key: place.article for place in places if place.article}
        self._sites = sites
        chosen = [(place.key, place.extractor) for place in places] + [(engine.key, engine.extractor) for engine in sources.engines]
        self._extractors = {key: sites.extractor(choice.method, choice.options) for key, choice in chosen if choice}
        self._usual = sites.extractor(sources.extractor.method, sources.extractor.options)

    def first(self, article: Article) -> PageRead:
        """An article's page, or what its feed carried. Raises ``NotApplicable``; ``no-title`` if neither page nor link has one."""
        read = self._page(article, article.page) if article.page else _carried(article)
        if not (article.title or read.found.title or article.link.title):
            raise NotApplicable("no-title")
        if not (article.text or read.found.text):
            raise NotApplicable("no-body")
        return read

    def further(self, link: Link, page: Page) -> PageRead:
        """A further page: the link's words are the first page's. Raises ``NotApplicable``."""
        document = dom.document(page)
        read = self._read(document, replace(link, summary=None, content=None), page.fetched)
        return _ruled(read, self._wrapped(link.source, document, page.fetched))

    def wrapped(self, article: Article) -> Extraction | None:
        """What the source's own rule finds on the article's page; ``None`` without a rule or a page."""
        if article.page is None or article.source not in self._rules:
            return None
        return article.wrapped or self._wrapped(article.source, dom.document(article.page), article.fetched)

    def _wrapped(self, source: str, document: dom.Document, fetched: datetime) -> Extraction | None:
        rule = self._rules.get(source)
        return None if rule is None else apply(rule, document, fetched)

    def _read(self, document: dom.Document, link: Link, fetched: datetime) -> PageRead:
        """The extraction and the pager. The pages of a thread are other people's posts."""
        pager = Pager((document.url,)) if is_thread(document.url) else find_pager(document)
        self._sites.recall(document.url)
        return PageRead(document.url, self._extractors.get(link.source, self._usual)(document, link, fetched), pager)

    def _page(self, article: Article, page: Page) -> PageRead:
        if is_front_page(article.url):
            raise NotApplicable("front-page")
        document = dom.document(page)
        try:
            read = self._read(document, article.link, page.fetched)
        except NotApplicable:
            if not article.link.content:
                raise
            read = _carried(article)
        else:
            used = self._extractors.get(article.source, self._usual)
            if isinstance(used, Best) and read.pager.first is None:  # a further page may repeat what its first page says: no witness
                used.learn(document, article.link, page.fetched, read.found)
        return _ruled(read, article.wrapped or self._wrapped(article.source, document, page.fetched))


def _carried(article: Article) -> PageRead:
    return PageRead(article.url, tidy.read_fragment(article.link.content or "", article.url), Pager(()))


def _ruled(read: PageRead, rule: Extraction | None) -> PageRead:
    """What the rule found of text and title comes before what was found without."""
    if rule is None:
        return read
    found = read.found
    found = replace(found, title=rule.title or found.title, text=rule.text or found.text, html=rule.html if rule.text else found.html)
    return read._replace(found=found, wrapped=rule)
