"""Values that the portal's own pages never send: each request is answered without a crash."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from newsportal.items import Article, Link
from newsportal.portal.api.paging import cursor_of
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.sources import load
from newsportal.store.store import Store

HUGE = "9" * 5000
"""More digits than Python converts to an integer."""

SOURCES = """
topics: [{name: 旅游}]
feeds: [{name: 甲, url: https://a.example/feed}]
"""


@pytest.fixture(scope="module")
def admin(serve: Callable[..., httpx.Client], newsroom: ModuleType, store: Store, index: Index, folder: Path) -> httpx.Client:
    file = folder / "sources.yaml"
    file.write_text(SOURCES, encoding="utf-8")
    store.corpora.create("categories", now=newsroom.NOW)
    return serve(store, index, load(file), role="admin")


@pytest.mark.parametrize("path", ["/corpora/categories", "/schedule", "/sources", "/search?q=a", "/audit", "/monitor"])
@pytest.mark.parametrize("number", [HUGE, "-1", "0", "²", "١", "1e9"], ids=["huge", "negative", "zero", "superscript", "arabic", "float"])
def test_invalid_page_number(admin: httpx.Client, path: str, number: str) -> None:
    for name in ("page", "before", "days"):
        assert admin.get(path, params={name: number, "q": "a"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "cursor"),
    [
        ("/api/v1/audit", cursor_of(10**30)),
        ("/api/v1/audit", cursor_of(-(10**30))),
        ("/api/v1/search?q=a", cursor_of(10**30)),
        ("/api/v1/sources", cursor_of(10**30)),
        ("/api/v1/sources", cursor_of(-5)),
        ("/api/v1/schedule", cursor_of(10**30)),
        ("/api/v1/starred", cursor_of("0001-01-01T00:00:00+14:00", "a")),
        ("/api/v1/starred", cursor_of("9999-12-31T23:59:59-14:00", "a")),
        ("/api/v1/stories", "9" * 400),
        ("/api/v1/stories", f"{10**30}~a"),
        ("/api/v1/editing/articles", f"{10**14}~a"),
        ("/api/v1/editing/articles", f"{-(10**14)}~a"),
    ],
)
def test_invalid_cursor(admin: httpx.Client, path: str, cursor: str) -> None:
    answer = admin.get(path, params={"cursor": cursor, **({"q": "a"} if "search" in path else {})})
    assert answer.status_code in (200, 400), answer.text


@pytest.mark.parametrize("published", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)], ids=["first", "last"])
def test_extreme_publication_dates(
    serve: Callable[..., httpx.Client], newsroom: ModuleType, fresh: Store, tmp_path: Path, published: datetime
) -> None:
    url = "https://a.example/1"
    article = Article(url=url, link=Link(url, "feed:a"), fetched=newsroom.NOW, identity=url, title="峡谷", text="峡谷的消息。" * 20)
    added = fresh.add(replace(article, published=published), [], now=newsroom.NOW)
    with closing(open_index(f"sqlite:///{tmp_path / 'index.db'}")) as index:
        index.follow(fresh)
        client = serve(fresh, index, role="editor")
        story = f"/story/{added.story_id}"
        for path in ("/", "/latest", "/feed.rss", "/search?q=峡谷", story, f"{story}/{added.id}/edit", f"{story}/{added.id}/fold"):
            assert client.get(path).status_code == 200, path
