"""Stories hidden by editors disappear at once for everyone else, from all pages, feeds and the API, although the index lags behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from newsportal.portal.reading import front_cache
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.services.accounts import Right
from newsportal.store.events import Assignment
from newsportal.store.store import Store

QUERY = "渡口旧仓库"
TEXT = "改造为海事博物馆"
"""Text that is never part of a query: an answer that contains it shows the article."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index that follows the store only when a test calls it."""
    opened = open_index(f"sqlite:///{tmp_path / 'index.db'}")
    yield opened
    opened.close()


def paths(id: str, story: str, source: str, site: str, newsroom: ModuleType) -> tuple[str, ...]:
    return (
        "/", "/latest", "/latest?order=hottest", f"/latest?source={source}", f"/latest?site={site}", "/topic/旅游",
        "/feed.rss", "/feed.atom", "/feed.json", "/topic/旅游/feed.json", f"/search?q={QUERY}", f"/search?q={QUERY}&folds=open",
        f"/search?q={QUERY}&site={site}",
        f"/search/feed.json?q={QUERY}", f"/story/{story}", f"/story/{story}/{id}", f"/story/{story}/{id}/revisions",
        "/starred", "/events", f"/event/{story}", "/briefing", f"/briefing/{newsroom.NOW:%Y-%m-%d}",
        "/api/v1/events", f"/api/v1/events/{story}", "/api/v1/briefing",
        "/api/v1/stories", f"/api/v1/stories/{story}", f"/api/v1/articles/{id}",
        f"/api/v1/search?q={QUERY}", f"/api/v1/search?q={QUERY}&collapse=false", f"/api/v1/marks?story={story}", "/api/v1/starred",
    )  # fmt: skip


@pytest.mark.slow
def test_hidden_story_disappears_everywhere(
    serve: Any, own_store: Store, index: Index, newsroom: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_cache, "SLOW_SECONDS", 0)  # the cached front page is served while it is recomputed
    article = newsroom.article(QUERY + TEXT, f"{QUERY}{TEXT}。" + "".join(chr(0x5000 + 7 * n) for n in range(200)), topics=("旅游",), ago=5)
    id, other = newsroom.write(own_store, article, newsroom.article("渡口重开", "渡口今天重开，" * 20, topics=("旅游",), ago=4))
    event = [Assignment(story, id, 1.0) for story in (id, other)]
    assert own_store.events.assign(event, {id: "[2,{},[],[]]"}, after=0, up_to=own_store.last_seq())
    index.follow(own_store)
    reader: httpx.Client = serve(own_store, index, role="reader")
    reader.post("/marks", data={"star": id})
    checked = paths(id, id, "feed:晨光网", "晨光网", newsroom)
    assert {path for path in checked if not shows_article(reader, path)} == set()
    preview = {
        "channel": "webhook",
        "url": "https://a.example/",
        "about": "topic",
        "topic": "旅游",
        "when": "once",
        "per_hour": "6",
        "then": "preview",
    }
    assert TEXT in reader.post("/alerts/new", data=preview).text
    own_store.hide([id], by="林编辑", reason="侵权", now=newsroom.NOW)
    assert {path for path in checked if shows_article(reader, path)} == set(), "before the index is updated"
    assert TEXT not in reader.post("/alerts/new", data=preview).text
    with httpx.Client(base_url=reader.base_url, timeout=600) as anonymous:
        assert {path for path in checked if shows_article(anonymous, path)} == set()
    index.follow(own_store)
    assert {path for path in checked if shows_article(reader, path)} == set()
    person = reader.accounts.people.all()[0]  # type: ignore[attr-defined]
    _, secret = reader.accounts.tokens.add(person, "x", [Right.KEEP], now=newsroom.NOW)  # type: ignore[attr-defined]
    program = {"authorization": f"Bearer {secret}"}
    assert {path for path in checked if path.startswith("/api/") and shows_article(reader, path, program)} == set()


def shows_article(client: httpx.Client, path: str, headers: dict[str, str] | None = None) -> bool:
    """Return whether the answer shows the article, apart from the query itself."""
    answer = client.get(path, headers=headers)
    assert answer.status_code < 500, path
    return TEXT in answer.text.replace("<mark>", "").replace("</mark>", "")
