"""Cached pages for readers without an account: identical bytes, nothing personal, never older than the store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import ModuleType
from typing import Any

import httpx
import pytest

from newsportal.portal import response_cache
from newsportal.sources import Sources
from newsportal.store.results import StoryFilter, StoryPage
from newsportal.store.store import Store

Serve = Callable[..., httpx.Client]


class CountingStore:
    """Store that counts queries of lists."""

    def __init__(self, store: Store) -> None:
        self._store, self.lists = store, 0

    def stories(self, query: StoryFilter) -> StoryPage:
        self.lists += 1
        return self._store.stories(query)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def store(own_store: Store) -> CountingStore:
    return CountingStore(own_store)


@pytest.fixture
def client(serve: Serve, store: CountingStore) -> httpx.Client:
    return serve(store)


def get_anonymously(client: httpx.Client, path: str, **headers: str) -> httpx.Response:
    client.cookies.clear()
    return client.get(path, headers=headers)


@pytest.mark.parametrize("path", ["/", "/latest", "/topic/%E6%97%85%E6%B8%B8", "/photos"])
def test_second_request_is_served_from_cache(client: httpx.Client, store: CountingStore, path: str) -> None:
    first = get_anonymously(client, path)
    before = store.lists
    repeated = get_anonymously(client, path)
    assert (repeated.status_code, repeated.content) == (200, first.content)
    assert store.lists == before
    names = ("cache-control", "vary", "content-language", "content-security-policy", "content-type", "etag", "set-cookie")
    assert {name: repeated.headers.get(name) for name in names} == {name: first.headers.get(name) for name in names}


def test_new_story_invalidates_the_cache(client: httpx.Client, own_store: Store, newsroom: ModuleType) -> None:
    before = get_anonymously(client, "/latest")
    newsroom.write(own_store, newsroom.article("刚刚来的消息", "正文" * 40))
    after = get_anonymously(client, "/latest", **{"if-none-match": before.headers["etag"]})
    assert after.status_code == 200
    assert "刚刚来的消息" in after.text
    assert after.headers["etag"] != before.headers["etag"]


def test_etag_match_returns_304(client: httpx.Client) -> None:
    first = get_anonymously(client, "/")
    repeated = get_anonymously(client, "/", **{"if-none-match": f'"other", {first.headers["etag"]}'})
    assert (repeated.status_code, repeated.content) == (304, b"")
    assert "Cookie" in repeated.headers["vary"]
    assert repeated.headers["etag"] == first.headers["etag"]
    assert "visited=" in repeated.headers["set-cookie"]  # the visit is still recorded


def test_preferences_and_languages_are_cached_separately(client: httpx.Client) -> None:
    assert 'lang="zh-CN"' in get_anonymously(client, "/latest").text
    assert 'lang="en"' in get_anonymously(client, "/latest", **{"accept-language": "en"}).text
    assert 'data-theme="dark"' in get_anonymously(client, "/latest", cookie="theme=dark").text
    assert 'data-theme="auto"' in get_anonymously(client, "/latest").text


def test_answer_that_sets_a_preference_is_not_cached(client: httpx.Client) -> None:
    assert "lang=en" in get_anonymously(client, "/latest?lang=en").headers["set-cookie"]
    repeated = get_anonymously(client, "/latest?lang=en")
    assert "lang=en" in repeated.headers["set-cookie"]
    assert "etag" not in repeated.headers


def test_pages_of_signed_in_users_are_not_cached(serve: Serve, store: CountingStore) -> None:
    editor = serve(store, role="editor")
    personal = editor.get("/latest")
    assert "editor" in personal.text
    assert "etag" not in personal.headers
    assert "no-store" in personal.headers["cache-control"]
    public = httpx.get(editor.base_url.join("/latest"), headers={"accept-language": "zh-CN"}, timeout=600)
    assert '<summary class="user-name"' not in public.text
    assert '<summary class="user-name"' in editor.get("/latest").text


@pytest.mark.parametrize("cookie", ["session=made-up", "reader=" + "0" * 32, "notice=%5B%22Saved%22%2Cnull%5D", "profile=off"])
def test_other_cookies_bypass_the_cache(client: httpx.Client, store: CountingStore, cookie: str) -> None:
    get_anonymously(client, "/latest")
    before = store.lists
    answer = get_anonymously(client, "/latest", cookie=cookie)
    assert store.lists > before
    assert "etag" not in answer.headers
    assert "Saved" not in get_anonymously(client, "/latest").text


def test_page_of_returning_visitor_is_personal(client: httpx.Client, newsroom: ModuleType) -> None:
    get_anonymously(client, "/")
    long_ago = int((newsroom.NOW - timedelta(days=20)).timestamp())
    personal = get_anonymously(client, "/", cookie=f"visited=0.{long_ago}")
    assert 'class="since"' in personal.text
    assert 'class="since"' not in get_anonymously(client, "/").text


def test_request_of_signed_in_user_clears_the_cache(serve: Serve, store: CountingStore) -> None:
    editor = serve(store, role="editor")
    page = editor.base_url.join("/latest")
    httpx.get(page, timeout=600)
    before = store.lists
    assert editor.post("/logout", data={"next": "/"}).status_code == 303
    httpx.get(page, timeout=600)
    assert store.lists > before


def test_cached_page_expires(client: httpx.Client, store: CountingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    get_anonymously(client, "/latest")
    before = store.lists
    monkeypatch.setattr(response_cache, "SECONDS", 0.0)
    get_anonymously(client, "/latest")
    assert store.lists > before


def test_cache_size_is_limited(client: httpx.Client, store: CountingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "MAX_BYTES", 100)
    get_anonymously(client, "/latest")
    before = store.lists
    assert get_anonymously(client, "/latest").status_code == 200
    assert store.lists > before


def test_page_too_large_for_cache_is_served(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = get_anonymously(client, "/latest", **{"accept-encoding": "identity"}).text
    monkeypatch.setattr(response_cache, "MAX_RESPONSE", 100)
    monkeypatch.setattr(response_cache, "SECONDS", 0.0)
    assert get_anonymously(client, "/latest", **{"accept-encoding": "identity"}).text == page


def test_missing_page_is_not_cached(client: httpx.Client) -> None:
    assert get_anonymously(client, "/story/ffff").status_code == 404
    assert "etag" not in get_anonymously(client, "/story/ffff").headers


def test_members_only_portal_caches_nothing(serve: Serve, store: CountingStore) -> None:
    settings = Sources.model_validate({"portal": {"reading": "members"}, "store": "sqlite://", "alerts": {"enabled": False}})
    member = serve(store, None, settings, role="reader")
    assert "etag" not in member.get("/latest").headers
    assert httpx.get(member.base_url.join("/latest"), timeout=600).status_code == 303
