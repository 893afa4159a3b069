"""One page read, and an article read over all its pages: what ``newsportal extract`` does with a saved page and with an address."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from newsportal import dom
from newsportal.dedup.canonical import identity
from newsportal.errors import NewsportalError
from newsportal.extractors import Extract
from newsportal.extractors.page_turns import NOWHERE
from newsportal.extractors.pagination import find_pager, is_thread
from newsportal.extractors.turning import Read, Turning
from newsportal.items import Extraction, Link, Page

DELAY = 1.0
"""Seconds between two pages of one host, as in the crawl."""


def alone(run: Extract, page: Page, link: Link | None) -> Extraction:
    """The article of one page; ``pages`` where its pager names further ones. Raises ``NotApplicable``."""
    found, pager = _read(page, link, run)[1:]
    return replace(found, pages=tuple(url.removeprefix(NOWHERE) for url in pager.known))


def joined(run: Extract, fetch: Callable[[str], Page], page: Page, link: Link | None) -> Extraction:
    """The article over all pages that can be had. Raises ``NotApplicable`` if the first is none; further ones that fail end it."""
    first = _read(page, link, run)
    if is_thread(page.url):
        return first.found
    turning = Turning(first, identity)
    while (url := turning.wanted()) is not None:
        time.sleep(DELAY)
        try:
            further = fetch(url)
            if further.status == 200 and not turning.strays(further.url):
                turning.take(_read(further, None, run))
            else:
                turning.lose("elsewhere" if further.status == 200 else f"http-{further.status}")
        except NewsportalError as why:
            turning.lose(str(why))
    return turning.result()


def _read(page: Page, link: Link | None, run: Extract) -> Read:
    """One parse for both."""
    document = dom.document(page)
    return Read(page.url, run(document, link, page.fetched), find_pager(document))
