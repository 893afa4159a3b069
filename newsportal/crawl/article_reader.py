"""Read article pages: the source's own rule, the extractor with the site's learned lines, and the pager, from one parse of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from newsportal.errors import NotApplicable
from newsportal.extractors import Extract, Learner
from newsportal.extractors.article import tidy
from newsportal.extractors.article.best import Best
from newsportal.extractors.article.rule import ArticleRule, apply
from newsportal.extractors.article.site import PageLines
from newsportal.extractors.lists.pagination import Pager, PageRead, find_pager, is_front_page, is_thread
from newsportal.items import Article, Extraction, Link, Page
from newsportal.sources.places import ArticlePlace
from newsportal.text import dom

if TYPE_CHECKING:
    from newsportal.crawl.record import SiteMemory
    from newsportal.sources import Sources


@dataclass(frozen=True, slots=True)
class PageReader:
    """The settings for reading pages of a source; plain values that can be sent to another process."""

    extract: Extract
    rule: ArticleRule | None = None

    def read_first(self, article: Article) -> PageRead:
        read = self._page(article, article.page) if article.page else _read_feed_text(article)
        if not (article.title or read.found.title or article.link.title):
            raise NotApplicable("no-title")
        if not (article.text or read.found.text):
            raise NotApplicable("no-body")
        return read

    def read_further(self, link: Link, page: Page) -> PageRead:
        document = dom.document(page)
        read = self._read(document, replace(link, summary=None, content=None), page.fetched)
        return _apply_precedence(read, self._wrapped(document, page.fetched))

    def _wrapped(self, document: dom.Document, fetched: datetime) -> Extraction | None:
        return None if self.rule is None else apply(self.rule, document, fetched)

    def _read(self, document: dom.Document, link: Link, fetched: datetime) -> PageRead:
        """Return the extraction and the pager. Threads are not followed: their further pages hold other people's posts."""
        pager = Pager((document.url,)) if is_thread(document.url) else find_pager(document)
        return PageRead(document.url, self.extract(document, link, fetched), pager)

    def _page(self, article: Article, page: Page) -> PageRead:
        if is_front_page(article.url):
            raise NotApplicable("front-page")
        document = dom.document(page)
        try:
            read = self._read(document, article.link, page.fetched)
        except NotApplicable:
            if not article.link.content:
                raise
            read = _read_feed_text(article)
        else:
            if isinstance(self.extract, Best) and read.pager.first is None:  # later pages may repeat the first one's text: not learned
                self.extract.learn(document, article.link, page.fetched, read.found)
        return _apply_precedence(read, article.wrapped or self._wrapped(document, page.fetched))


class ArticleReader:
    """Blocking, thread-safe. ``call(function, *args)`` runs work on a single page in place or in another process
    (:mod:`newsportal.crawl.reader_pool`). Extractors that learn more than the lines of a site's pages run in place."""

    def __init__(self, sources: Sources, sites: SiteMemory, call: Callable[..., Any] = lambda function, *args: function(*args)) -> None:
        places = [source for source in sources.all() if isinstance(source, ArticlePlace)]
        self._rules = {place.key: place.article for place in places if place.article}
        self._sites = sites
        self._call = call
        choices = [(place.key, place.extractor) for place in places] + [(engine.key, engine.extractor) for engine in sources.engines]
        self._extractors = {key: sites.extractor(choice.method, choice.options) for key, choice in choices if choice}
        self._default = sites.extractor(sources.extractor.method, sources.extractor.options)

    def read_first(self, article: Article) -> PageRead:
        """Read an article's page, or its feed entry's text. Raises ``NotApplicable``; ``no-title`` if neither page nor link has one."""
        return self._read(article.source, (article.page or article).url, PageReader.read_first, article)

    def read_further(self, link: Link, page: Page) -> PageRead:
        """Read a further page; the link's summary and content belong to the first. Raises ``NotApplicable``."""
        return self._read(link.source, page.url, PageReader.read_further, link, page)

    def has_rule(self, article: Article) -> bool:
        """Return whether the source has a rule that was not yet applied to the article's page."""
        return article.wrapped is None and article.page is not None and article.source in self._rules

    def apply_rule(self, article: Article) -> Extraction:
        """Apply the source's rule to the article's page; requires :meth:`has_rule`."""
        extraction: Extraction = self._call(apply_rule, self._rules[article.source], article.page)
        return extraction

    def _read(self, source: str, url: str, read: Callable[..., PageRead], *args: Any) -> PageRead:
        extract, rule = self._extractors.get(source, self._default), self._rules.get(source)
        reader = PageReader(extract, rule)
        if not isinstance(extract, Learner):
            result: PageRead = self._call(read, reader, *args)
            return result
        if not isinstance(extract, Best):
            return read(reader, *args)
        self._sites.recall(url)
        result, learnt = self._call(_read_of_site, read, self._sites.knowledge.pages_of(url), rule, url, *args)
        if learnt is not None:
            self._sites.knowledge.remember(url, learnt)
        return result


def _read_of_site(
    read: Callable[..., PageRead], pages: Mapping[str, PageLines], rule: ArticleRule | None, url: str, *args: Any
) -> tuple[PageRead, PageLines | None]:
    """Return the extraction, given the lines of other ``pages`` of the site, and the lines of this page if they changed."""
    best = Best()
    for page, lines in pages.items():
        best.knowledge.remember(page, lines)
    result, after = read(PageReader(best, rule), *args), best.knowledge.pages_of(url).get(url)
    return result, None if after is pages.get(url) else after


def apply_rule(rule: ArticleRule, page: Page) -> Extraction:
    return apply(rule, dom.document(page), page.fetched)


def _read_feed_text(article: Article) -> PageRead:
    return PageRead(article.url, tidy.read_fragment(article.link.content or "", article.url), Pager(()))


def _apply_precedence(read: PageRead, rule: Extraction | None) -> PageRead:
    """Let the rule's text and title take precedence over those of the extractor."""
    if rule is None:
        return read
    found = read.found
    found = replace(found, title=rule.title or found.title, text=rule.text or found.text, html=rule.html if rule.text else found.html)
    return read._replace(found=found, wrapped=rule)
