"""Spiders without a selector: callbacks ask for what a page holds.

scrapy crawl news -a url=https://news.example/ -O news.jsonl
"""

import scrapy
from web_poet import field, handle_urls

from newsportal.crawl.page_objects import ArticlePage
from newsportal.items import Article, Gallery, ListPage, Thread


class NewsSpider(scrapy.Spider):
    """All articles that a front page, channel or feed names."""

    name = "news"

    def __init__(self, url: str, **kwargs):
        super().__init__(start_urls=[url], **kwargs)

    def parse(self, response, links: ListPage):
        for link in links.links:
            yield response.follow(link.url, self.parse_article)

    def parse_article(self, response, article: Article):
        yield article


class ThreadSpider(NewsSpider):
    """A thread of a forum, with its posts."""

    name = "thread"

    def parse(self, response, thread: Thread):
        yield thread


class GallerySpider(NewsSpider):
    """The pictures of a photo story's page."""

    name = "gallery"

    def parse(self, response, gallery: Gallery):
        yield gallery


@handle_urls("quoted.example", to_return=Article)
class QuotedPage(ArticlePage):
    """One field of one site is read by a selector; all others as everywhere."""

    @field
    def author(self):
        return self.css(".byline::text").get()
