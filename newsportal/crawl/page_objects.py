"""Page objects for any Scrapy project, through scrapy-poet (``pip install "newsportal[poet]"``)::

    ADDONS = {"newsportal.crawl.page_objects.PageObjects": 500}

    def parse_article(self, response, article: Article): ...   # or links: ListPage, thread: Thread, gallery: Gallery

A subclass with ``@handle_urls("site.example")`` and ``@field`` methods overrides single fields for one site.
"""

from dataclasses import replace
from typing import Any, ClassVar

from scrapy.settings import BaseSettings
from scrapy_poet import Addon
from web_poet import WebPage, handle_urls
from web_poet.fields import get_fields_dict
from web_poet.utils import ensure_awaitable

from newsportal.crawl.addon import register
from newsportal.extractors.pages import READERS, make_page
from newsportal.items import Article, Gallery, ListPage, Thread

FALLBACK = 100  # for every site (""), below web-poet's default of 500: a project's own page objects take precedence


class PageObjects(Addon):  # type: ignore[misc]
    """The add-on: scrapy-poet with the page objects of this module."""

    def update_settings(self, settings: BaseSettings) -> None:
        super().update_settings(settings)
        register()


class NewsPage(WebPage):  # type: ignore[misc]
    """Base of the page objects. Raises ``NotApplicable`` for a page of another kind."""

    reader: ClassVar[str]

    async def to_item(self) -> Any:
        response = self.response
        page = make_page(bytes(response.body), str(response.url), response.headers.get("Content-Type"))
        overrides = {name: await ensure_awaitable(getattr(self, name)) for name in get_fields_dict(self)}
        return replace(READERS[self.reader](page), **overrides)


@handle_urls("", to_return=Article, priority=FALLBACK)
class ArticlePage(NewsPage):
    reader = "article"


@handle_urls("", to_return=ListPage, priority=FALLBACK)
class LinksPage(NewsPage):
    reader = "links"


@handle_urls("", to_return=Thread, priority=FALLBACK)
class ThreadPage(NewsPage):
    reader = "thread"


@handle_urls("", to_return=Gallery, priority=FALLBACK)
class GalleryPage(NewsPage):
    reader = "gallery"
