"""Sources found on real pages: minimum scores that only rise (figures in docs/finding-sources.md)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from newsportal.items import Page
from newsportal.net.archive import open_index
from newsportal.services.discovery import finders
from newsportal.services.discovery.search import find
from newsportal.text import dom

pytestmark = [pytest.mark.data, pytest.mark.slow]

NOW = datetime.now(UTC)
LINKS = 0.96
"""Minimum share of articles among the links proposed as articles on real front pages."""


@pytest.fixture(scope="module")
def fetch(data: Path) -> Iterator[Callable[[str], Page]]:
    with open_index(data / "web" / "dev.warc.gz") as archive:

        def get(url: str) -> Page:
            found = archive.get(url)
            if found is None:
                return Page(url, b"", NOW, 404)
            headers = {name.lower(): value for name, value in found.headers}
            return Page(url, found.body, NOW, found.status, headers.get("content-type"))

        yield get


@pytest.fixture(scope="module")
def web(data: Path) -> dict[str, list[object]]:
    return json.loads((data / "web" / "dev.index.json").read_text("utf-8"))  # type: ignore[no-any-return]


def test_feed_of_every_front_page_is_found(fetch: Callable[[str], Page], web: dict[str, list[str]]) -> None:
    missed = [url for url in web["hubs"][::3] if find(url, fetch)[0][0].kind != "feeds"]
    assert missed == []


def test_article_page_yields_source_of_its_site(fetch: Callable[[str], Page], web: dict[str, list[dict[str, str]]]) -> None:
    articles = [article["url"] for article in web["articles"]][::10]
    missed = [url for url in articles if urlsplit(find(url, fetch)[0][0].address).hostname != urlsplit(url).hostname]
    assert missed == []


def test_links_proposed_as_articles_are_articles(data: Path) -> None:
    proposed = articles = 0
    for path in sorted((data / "hub").glob("*.json")):
        gold = json.loads(path.read_text("utf-8"))
        page = Page(gold["base"], gzip.decompress(path.with_suffix(".html.gz").read_bytes()), NOW)
        found = finders.region_of(page, dom.document(page))
        kinds = {link["url"].partition("#")[0]: link["kind"] for link in gold["links"]}
        found_kinds = [kinds.get(link.url.partition("#")[0]) for link in found.links] if found else []
        proposed += len(found_kinds)
        articles += sum(kind in ("article", "gallery") for kind in found_kinds)
    assert proposed > 500
    assert articles / proposed >= LINKS


def test_feeds_are_recognised(data: Path, fetch: Callable[[str], Page], web: dict[str, list[dict[str, str]]]) -> None:
    feeds = [path for path in sorted((data / "feeds").iterdir()) if path.name != "index.json"]
    missed = [path.name for path in feeds if finders.feed_of(Page("https://a.example/f", path.read_bytes(), NOW)) is None]
    assert missed == []
    pages = [fetch(article["url"]) for article in web["articles"][::5]]
    assert [page.url for page in pages if finders.feed_of(page) or finders.sitemap_of(page)] == []
