"""Articles as pages in a WARC file, which ``crawl --replay`` and every tool for Web archives can read, and back.

The pages are rebuilt from what is stored (title, body, date, author, language), each under its own address; the bytes that the site
served are what ``crawl --archive`` keeps. Before each page stands a metadata record with the article in the form of JSON lines, from which
it comes back as it was; of other people's archives the pages are read by the extractor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any, Final

from newsportal.errors import ArchiveError, NotApplicable
from newsportal.extractors import extractor
from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import Page
from newsportal.net.archive import Exchange, Record, Writer, key, records
from newsportal.net.egress.decompress import TooLarge, decompress
from newsportal.store.results import StoredArticle
from newsportal.text import clean
from newsportal.text.dom import document

ARTICLE: Final = "application/vnd.newsportal.article+json"  # the type of records that hold an article in the form of JSON lines
LONGEST: Final = 64 * 1024 * 1024  # bytes of a page once it is unpacked: four times the longest that is downloaded
READ: Final = ("title", "text", "html", "published", "author", "origin", "language", "algorithm")  # what the extractor finds on a page
HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


def write_warc(articles: Iterable[StoredArticle], path: Path, form: Callable[[StoredArticle], dict[str, Any]]) -> None:
    """Written beside ``path`` and moved there when it is complete. Raises ``ArchiveError``."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        with Writer(part) as writer:
            for article in articles:
                metadata = json.dumps(form(article), ensure_ascii=False).encode("utf-8", "replace")
                writer.note(article.url, ARTICLE, metadata, article.fetched)
                body = page(article).encode("utf-8", "replace")
                writer.write(Exchange(article.url, 200, HEADERS, body, when=article.fetched))
        part.replace(path)
    except OSError as error:
        raise ArchiveError(f"{path}: cannot be written: {error.strerror or error}; make room or rights, or name another file") from error
    finally:
        with suppress(OSError):
            part.unlink()


def read(path: Path) -> Iterator[tuple[int, Any]]:
    """(number, row) of each article, counted from 1. A page without an article on it is a ``ValueError``. Raises ``ReplayError``."""
    described: set[str] = set()  # addresses whose article a metadata record holds
    number = 0
    for record in records(path):
        if record.kind == "metadata" and record.content_type == ARTICLE:
            described.add(key(record.url))
            number += 1
            yield number, _noted(record)
        elif record.kind == "response" and record.status == 200 and "html" in record.content_type and key(record.url) not in described:
            number += 1
            yield number, _read(record)


def _noted(record: Record) -> Any:
    try:
        return json.loads(record.body)
    except (ValueError, RecursionError) as error:
        return ValueError(f"{record.url}: {error}")


def _read(record: Record) -> Any:
    try:
        body = decompress(record.body, record.encodings, LONGEST)
    except TooLarge as error:
        return ValueError(f"{record.url}: {error}")
    except ValueError:  # not packed: some crawlers leave the header
        body = record.body
    try:
        found = extractor("best")(document(Page(record.url, body, record.when, 200, record.content_type)), None, record.when)
    except NotApplicable as error:
        return ValueError(f"{record.url}: no article on it: {error}")
    values: dict[str, Any] = {name: getattr(found, name) for name in READ if getattr(found, name) is not None}
    images = [{name: value for name, value in asdict(image).items() if value is not None} for image in found.images]
    return {"url": record.url, "fetched": record.when, **values, "images": images}


def page(article: StoredArticle) -> str:
    """An article as a plain HTML page from which an extractor reads the same article again."""
    language = f' lang="{escape(article.language)}"' if article.language else ""
    head = "\n".join(_head(article))
    body = sanitise(article.html, article.url) if article.html else "\n".join(f"<p>{escape(line)}</p>" for line in article.text.split("\n"))
    article_html = f"<article>\n<h1>{escape(clean(article.title))}</h1>\n{body}\n</article>"
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
