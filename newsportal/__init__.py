"""newsportal: name your topics and sources in one file; a minute later you have your own topic news portal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from newsportal.items import Article

__version__ = "0.1.0"


def extract(html: str | bytes, url: str, algorithm: str = "best") -> Article:
    """Return the main content of a page of any kind: title, text, date, author, pictures; ``extraction.kind`` is the kind of page (article,
    thread, product …). Raises ``newsportal.errors.NotApplicable`` if there is none, ``ValueError`` for an invalid URL."""
    from newsportal.extractors.pages import make_page, read_article

    return read_article(make_page(html, url), algorithm=algorithm, any_page=True)


def markdown(article: Article) -> str:
    """Return the article as Markdown with its title as heading; headings, lists, tables, code, links and pictures are kept."""
    from newsportal.extractors.article.markdown import markdown_of

    return markdown_of(article.html or "", article.title)
