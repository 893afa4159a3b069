"""Read a single page into an item: the API behind ``newsportal.extract``, ``scrapy shell``, ``scrapy parse`` and page objects.

Pure: nothing is fetched, stored or learned, so the result for a page does not depend on earlier pages.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from newsportal.errors import NotApplicable
from newsportal.extractors import extractor, gallery
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.feeds import feed
from newsportal.extractors.forum import post_extractor
from newsportal.extractors.forum.thread import read_page
from newsportal.extractors.lists import hub
from newsportal.extractors.lists.pagination import find_pager
from newsportal.items import Article, Extraction, Gallery, Link, ListPage, Page, Thread
from newsportal.text import clean, dom

SOURCE: Final = "page"  # Source of items that were not found on a list page


def make_page(html: str | bytes, url: str, content_type: str | None = None) -> Page:
    """Return a page fetched now. ``str`` input is treated as UTF-8, whatever encoding it declares."""
    if isinstance(html, str):
        html, content_type = html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    return Page(url, bytes(memoryview(html)), datetime.now(UTC), content_type=content_type)  # TypeError for None or a path


def read_article(page: Page, link: Link | None = None, algorithm: str = "best", *, any_page: bool = False) -> Article:
    """Return the article of a page; its ``pages`` are the pages of a multi-page article. Raises ``NotApplicable``.

    ``any_page``: return the main content of any kind of page, and name the kind in ``extraction.kind``.
    """
    document = dom.document(page)
    found = extractor(algorithm, any_page=any_page)(document, link, page.fetched)
    article = fill(Article(page.url, link or Link(page.url, SOURCE), page.fetched), found)
    return replace(article, pages=tuple(find_pager(document).several_pages), extraction=found if any_page else None)


MAX_TEXT: Final = 400_000  # characters: four times the longest article of the development set; a feed of 50 entries stays readable
CUT: Final = "[…]"  # appended to a text that was cut


def fill(article: Article, found: Extraction) -> Article:
    """Fill the article's missing fields from the extraction, then the link. Texts over ``MAX_TEXT`` characters are cut; ``CUT`` follows."""
    link, text, html = article.link, article.text or found.text, article.html or found.html
    if text and len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT - len(CUT) - 1]}\n{CUT}"
    if html and len(html) > 2 * MAX_TEXT:
        html = f"{sanitise(html[:MAX_TEXT], article.url)}<p>{CUT}</p>"
    return replace(
        article,
        title=clean(article.title or found.title or link.title or ""),
        text=text,
        html=html,
        published=article.published or found.published or link.published,
        author=article.author or found.author or link.author,
        origin=article.origin or found.origin,
        site=article.site or link.site or found.site,
        images=article.images or found.images,
        language=article.language or found.language,
        algorithm=article.algorithm or found.algorithm,
        pages=found.pages,
        canonical=found.canonical,
    )


def read_list(page: Page, link: Link | None = None) -> ListPage:
    """Return the article links of a front page, channel or feed, with titles and dates. Raises ``NotApplicable`` for a broken feed."""
    try:
        found = feed.parse_feed(page.body, page.url, page.content_type, page.fetched)
    except NotApplicable as error:
        if error.reason != "not-a-feed":
            raise
    else:
        fields = [(entry.url, entry.title, entry.summary, entry.published or entry.updated, entry.author) for entry in found.entries]
        links = [Link(url, SOURCE, title, text, published=at, author=by) for url, title, text, at, by in fields if url]
        return ListPage(page.url, tuple(links))
    document = dom.document(page)
    refs = hub.links(document, now=page.fetched)
    links = [Link(ref.url, SOURCE, ref.text or None, ref.summary, published=ref.published) for ref in refs if ref.kind == "article"]
    lists = tuple(ref.url for ref in refs if ref.kind == "hub")
    return ListPage(page.url, tuple(links), lists, tuple(hub.next_pages(document)))


def read_thread(page: Page, link: Link | None = None) -> Thread:
    """Return the posts on one page of a forum thread. Raises ``NotApplicable``."""
    found = read_page(dom.document(page), post_extractor("best"), page.fetched)
    link = link or Link(page.url, SOURCE)
    return Thread(
        url=link.url,
        title=link.title or found.title or link.url,
        link=link,
        fetched=page.fetched,
        posts=found.posts,
        last_page=page.url,
        whole=found.next is None,
        language=found.language,
    )


def read_gallery(page: Page, link: Link | None = None) -> Gallery:
    """Return a photo story as far as this one page shows it. Raises ``NotApplicable``."""
    link = link or Link(page.url, SOURCE)
    story = gallery.assemble([gallery.read(dom.document(page), link=link, now=page.fetched)], link=link)
    return story.gallery(link, page.fetched, site=link.site)


READERS: Final[Mapping[str, Callable[[Page], Any]]] = MappingProxyType(
    {"article": read_article, "links": read_list, "thread": read_thread, "gallery": read_gallery}
)
