"""One page read, and an article read over all its pages: what ``newsportal extract`` does with a saved page and with an address."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import typer

from newsportal import dom
from newsportal.dedup.canonical import identity
from newsportal.errors import EgressDenied, FetchFailed, NotApplicable
from newsportal.extractors import Extract
from newsportal.extractors.page_turns import NOWHERE
from newsportal.extractors.pagination import EXPECTED, MAX_FETCHED, MultiPage, PageRead, find_pager, is_thread
from newsportal.items import Extraction, Link, Page
from newsportal.text import clean

DELAY = 1.0
"""Seconds between two pages of one host, as in the crawl."""

PUBLIC_ONLY = "this command asks public http(s) addresses alone; save the page with a browser and name the file"
LATER = "try again later"
REMEDIES = {
    "egress-denied": PUBLIC_ONLY,
    "too-many": f"an article is read over {MAX_FETCHED} pages at most",
    **dict.fromkeys(("connection", "dns", "timeout", "http-429", "http-500", "http-502", "http-503", "http-504"), LATER),
}
"""What can be done about a page that is missing, where anything can."""


def alone(run: Extract, page: Page, link: Link | None) -> Extraction:
    """The article of one page; ``pages`` where its pager names further ones. Raises ``NotApplicable``."""
    read = _read(page, link, run)
    return replace(read.found, pages=tuple(url.removeprefix(NOWHERE) for url in read.pager.known))


def joined(run: Extract, fetch: Callable[[str], Page], page: Page, link: Link | None) -> Extraction:
    """The article from its first page on, over all pages that can be had; which cannot, and why, is said on standard error.

    Raises ``NotApplicable`` if ``page`` is none.
    """
    met = _read(page, link, run)
    if is_thread(page.url):
        return met.found
    first = _begin(run, fetch, met)
    pages, last = MultiPage(first, identity), first.url
    while urls := pages.wanted():
        last = urls[0]
        try:
            pages.take(met if identity(last) == identity(met.url) else _turned(run, fetch, last, pages.strays), last)
        except Exception as error:  # noqa: BLE001  whatever ends the article, the pages that came are the article
            pages.refuse(last, _why(error))
    for reason in pages.ends:
        if reason not in EXPECTED:
            _say(first.url, f"pages after {last} are left out" if reason == "too-many" else f"no pages from {last} on", reason)
    found = pages.result()
    return found if first is met else replace(found, canonical=found.canonical or first.url)


def _begin(run: Extract, fetch: Callable[[str], Page], met: PageRead) -> PageRead:
    """The article's first page where ``met`` is a later one and it can be had, as in the crawl; else ``met``."""
    url = met.pager.first
    if url is None or identity(url) == identity(met.url):
        return met
    try:
        first = _turned(run, fetch, url)
    except Exception as error:  # noqa: BLE001  the page that was asked for is an article
        _say(met.url, f"without its first page, {url}", _why(error))
        return met
    return first if first.pager.next is not None else met


def _turned(
    run: Extract, fetch: Callable[[str], Page], url: str, strays: Callable[[str, str], bool] = lambda url, asked: False
) -> PageRead:
    """The page at ``url``. Raises what ``fetch`` and ``run`` raise, and ``NotApplicable`` for a status that is no page, and for strays."""
    time.sleep(DELAY)
    page = fetch(url)
    if page.status != 200:
        raise NotApplicable(f"http-{page.status}")
    if strays(page.url, url):
        raise NotApplicable("elsewhere")
    return _read(page, None, run)


def _why(error: Exception) -> str:
    """A slug, the crawl's where it has one."""
    if isinstance(error, EgressDenied):
        return "egress-denied"
    return error.reason if isinstance(error, FetchFailed | NotApplicable) else f"error: {type(error).__name__}"


def _say(article: str, what: str, reason: str) -> None:
    remedy = REMEDIES.get(reason)
    typer.echo(clean(f"{article}: {what}: {reason}" + (f"; {remedy}" if remedy else "")), err=True)


def _read(page: Page, link: Link | None, run: Extract) -> PageRead:
    """One parse for both."""
    document = dom.document(page)
    return PageRead(page.url, run(document, link, page.fetched), find_pager(document))
