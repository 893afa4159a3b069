"""Stage 2, content: what the wrapper left open is found without templates."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

from newsportal import dom
from newsportal.dedup.canonical import site_of
from newsportal.errors import NotApplicable
from newsportal.extractors import extractor, fragment
from newsportal.items import Article, Extraction, Page
from newsportal.pipelines.base import Left, Stage
from newsportal.text import clean


class ContentPipeline(Stage):
    """Runs the ``best`` extractor in a thread. A page without an article is counted with its reason, never passed on."""

    async def process(self, article: Article) -> Article:
        try:
            found = await asyncio.to_thread(read, article)
        except NotApplicable as why:
            await self.ledger.fail(article.link, why.reason)
            raise Left(f"{article.url}: {why}") from why
        return fill(article, found)


def read(article: Article) -> Extraction:
    """Extract an article's page, or what its feed carried. Raises ``NotApplicable``; ``no-title`` if neither page nor link has one."""
    found = _page(article, article.page) if article.page else fragment.read(article.link.content or "", article.url)
    if not (article.title or found.title or article.link.title):
        raise NotApplicable("no-title")
    if not (article.text or found.text):
        raise NotApplicable("no-body")
    return found


def _page(article: Article, page: Page) -> Extraction:
    if is_front_page(article.url):
        raise NotApplicable("front-page")
    try:
        return extractor("best")(dom.document(page), article.link, article.fetched)
    except NotApplicable:
        if not article.link.content:
            raise
        return fragment.read(article.link.content, article.url)


def is_front_page(url: str) -> bool:
    """Whether ``url`` is a host's front page: dead links are sent there, and feeds without addresses of their own point at it."""
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


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
    )
