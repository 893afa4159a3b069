"""The stored articles as pages in a WARC file, which ``crawl --replay`` and every tool for Web archives can read.

The pages are rebuilt from what is stored (title, body, date, author, language), each under its own address; the bytes that the site
served are what ``crawl --archive`` keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape
from pathlib import Path

from newsportal.archive import Exchange, Writer
from newsportal.storage.base import StoredArticle

HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


def write_warc(articles: Iterable[StoredArticle], path: Path) -> None:
    """Written beside ``path`` and moved there when it is complete. Raises ``ArchiveError``."""
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    try:
        with Writer(part) as writer:
            for article in articles:
                body = page(article).encode("utf-8", "replace")
                writer.write(Exchange(article.url, 200, HEADERS, body, when=article.fetched))
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


def page(article: StoredArticle) -> str:
    """An article as a plain HTML page from which an extractor reads the same article again."""
    language = f' lang="{escape(article.language)}"' if article.language else ""
    head = "\n".join(_head(article))
    body = article.html or "\n".join(f"<p>{escape(line)}</p>" for line in article.text.split("\n"))
    article_html = f"<article>\n<h1>{escape(article.title)}</h1>\n{body}\n</article>"
    return f"<!doctype html>\n<html{language}>\n<head>\n{head}\n</head>\n<body>\n{article_html}\n</body>\n</html>\n"


def _head(article: StoredArticle) -> Iterator[str]:
    yield '<meta charset="utf-8">'
    yield f"<title>{escape(article.title)}</title>"
    yield f'<link rel="canonical" href="{escape(article.url)}">'
    if article.author:
        yield f'<meta name="author" content="{escape(article.author)}">'
    if article.published:
        yield f'<meta property="article:published_time" content="{article.published.isoformat()}">'
    if article.site:
        yield f'<meta property="og:site_name" content="{escape(article.site)}">'
