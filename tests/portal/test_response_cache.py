"""Pages that readers without an account share: the same bytes, nobody's own, and none older than the store."""

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


class Asked:
    """A store that counts what lists it is asked for."""

    def __init__(self, store: Store) -> None:
        self._store, self.lists = store, 0

    def stories(self, which: StoryFilter) -> StoryPage:
        self.lists += 1
        return self._store.stories(which)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def store(shelf: Store) -> Asked:
    return Asked(shelf)


@pytest.fixture
def client(serve: Serve, store: Asked) -> httpx.Client:
    return serve(store)


def of_a_stranger(client: httpx.Client, path: str, **headers: str) -> httpx.Response:
    client.cookies.clear()
    return client.get(path, headers=headers)


@pytest.mark.parametrize("path", ["/", "/latest", "/topic/%E6%97%85%E6%B8%B8", "/photos"])
def test_the_next_reader_gets_the_same_page_and_nobody_asks_the_store(client: httpx.Client, store: Asked, path: str) -> None:
    first = of_a_stranger(client, path)
    asked = store.lists
    again = of_a_stranger(client, path)
    assert (again.status_code, again.content) == (200, first.content)
    assert store.lists == asked
    kept = ("cache-control", "vary", "content-language", "content-security-policy", "content-type", "etag", "set-cookie")
    assert {name: again.headers.get(name) for name in kept} == {name: first.headers.get(name) for name in kept}


def test_a_new_story_is_seen_at_once(client: httpx.Client, shelf: Store, newsroom: ModuleType) -> None:
    before = of_a_stranger(client, "/latest")
    newsroom.write(shelf, newsroom.article("刚刚来的消息", "正文" * 40))
    after = of_a_stranger(client, "/latest", **{"if-none-match": before.headers["etag"]})
    assert after.status_code == 200
    assert "刚刚来的消息" in after.text
    assert after.headers["etag"] != before.headers["etag"]


def test_who_has_the_very_page_is_told_so(client: httpx.Client) -> None:
    first = of_a_stranger(client, "/")
    again = of_a_stranger(client, "/", **{"if-none-match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert "Cookie" in again.headers["vary"]
    assert again.headers["etag"] == first.headers["etag"]
    assert "visited=" in again.headers["set-cookie"]  # he was here


def test_choices_and_languages_are_pages_of_their_own(client: httpx.Client) -> None:
    assert 'lang="zh-CN"' in of_a_stranger(client, "/latest").text
    assert 'lang="en"' in of_a_stranger(client, "/latest", **{"accept-language": "en"}).text
    assert 'data-theme="dark"' in of_a_stranger(client, "/latest", cookie="theme=dark").text
    assert 'data-theme="auto"' in of_a_stranger(client, "/latest").text


def test_what_sets_a_choice_is_not_shared(client: httpx.Client) -> None:
    assert "lang=en" in of_a_stranger(client, "/latest?lang=en").headers["set-cookie"]
    again = of_a_stranger(client, "/latest?lang=en")
    assert "lang=en" in again.headers["set-cookie"]
    assert "etag" not in again.headers


def test_nobody_gets_a_page_of_somebody_signed_in(serve: Serve, store: Asked) -> None:
    editor = serve(store, role="editor")
    mine = editor.get("/latest")
    assert "editor" in mine.text
    assert "etag" not in mine.headers
    assert "no-store" in mine.headers["cache-control"]
    theirs = httpx.get(editor.base_url.join("/latest"), headers={"accept-language": "zh-CN"}, timeout=600)
    assert '<summary class="who"' not in theirs.text
    assert '<summary class="who"' in editor.get("/latest").text


@pytest.mark.parametrize("cookie", ["session=made-up", "reader=" + "0" * 32, "notice=%5B%22Saved%22%2Cnull%5D", "profile=off"])
def test_any_other_cookie_makes_a_page_ones_own(client: httpx.Client, store: Asked, cookie: str) -> None:
    of_a_stranger(client, "/latest")
    asked = store.lists
    answer = of_a_stranger(client, "/latest", cookie=cookie)
    assert store.lists > asked
    assert "etag" not in answer.headers
    assert "Saved" not in of_a_stranger(client, "/latest").text


def test_a_reader_who_was_here_before_is_told_what_is_new_to_him(client: httpx.Client, newsroom: ModuleType) -> None:
    of_a_stranger(client, "/")
    long_ago = int((newsroom.NOW - timedelta(days=20)).timestamp())
    his = of_a_stranger(client, "/", cookie=f"visited=0.{long_ago}")
    assert 'class="since"' in his.text
    assert 'class="since"' not in of_a_stranger(client, "/").text


def test_what_somebody_signed_in_sends_lets_go_of_all(serve: Serve, store: Asked) -> None:
    editor = serve(store, role="editor")
    page = editor.base_url.join("/latest")
    httpx.get(page, timeout=600)
    asked = store.lists
    assert editor.post("/logout", data={"next": "/"}).status_code == 303
    httpx.get(page, timeout=600)
    assert store.lists > asked


def test_a_page_grows_no_older_than_some_seconds(client: httpx.Client, store: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_stranger(client, "/latest")
    asked = store.lists
    monkeypatch.setattr(response_cache, "SECONDS", 0.0)
    of_a_stranger(client, "/latest")
    assert store.lists > asked


def test_no_more_is_kept_than_fits(client: httpx.Client, store: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "MAX_BYTES", 100)
    of_a_stranger(client, "/latest")
    asked = store.lists
    assert of_a_stranger(client, "/latest").status_code == 200
    assert store.lists > asked


def test_a_page_that_is_too_large_is_told_all_the_same(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = of_a_stranger(client, "/latest", **{"accept-encoding": "identity"}).text
    monkeypatch.setattr(response_cache, "MAX_RESPONSE", 100)
    monkeypatch.setattr(response_cache, "SECONDS", 0.0)
    assert of_a_stranger(client, "/latest", **{"accept-encoding": "identity"}).text == whole


def test_what_is_missing_is_not_shared(client: httpx.Client) -> None:
    assert of_a_stranger(client, "/story/ffff").status_code == 404
    assert "etag" not in of_a_stranger(client, "/story/ffff").headers


def test_where_members_alone_read_nothing_is_shared(serve: Serve, store: Asked) -> None:
    settings = Sources.model_validate({"portal": {"reading": "members"}, "store": "sqlite://", "alerts": {"enabled": False}})
    member = serve(store, None, settings, role="reader")
    assert "etag" not in member.get("/latest").headers
    assert httpx.get(member.base_url.join("/latest"), timeout=600).status_code == 303
