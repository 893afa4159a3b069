"""Reading history: recorded only with the reader's consent, and erased on request."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.errors import StoreUnavailable
from newsportal.store.store import Store

SAME_ORIGIN = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def reader(serve, own_store: Store) -> httpx.Client:
    client = serve(own_store)
    client.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"
    return client


def record_view(client: httpx.Client, article: object, places: object, **headers: str) -> httpx.Response:
    body = json.dumps({"article": article, "places": places})
    return client.post("/seen", content=body, headers={**SAME_ORIGIN, "content-type": "application/json", **headers})


def stored_views(store: Store) -> list[Any]:
    return list(store.readers.views())


def test_seen_images_are_recorded_under_a_random_id(reader: httpx.Client, own_store: Store) -> None:
    answer = record_view(reader, own_store.ids["album-bridge"], [1, 2, 5])
    assert answer.status_code == 204
    cookie = answer.headers["set-cookie"]
    name = re.match(r"reader=([0-9a-f]{32});", cookie)[1]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    record_view(reader, own_store.ids["album-bridge"], [2, 3])
    (view,) = stored_views(own_store)
    assert (view.reader, view.story, view.seen, view.pictures) == (name, own_store.ids["album-bridge"], 4, 9)


def test_article_counts_as_one_image(reader: httpx.Client, own_store: Store) -> None:
    record_view(reader, own_store.ids["bridge"], [1])
    (view,) = stored_views(own_store)
    assert (view.seen, view.pictures) == (1, 1)
    assert "已读" in reader.get("/profile").text


def test_two_browsers_are_two_readers(serve, own_store: Store) -> None:
    for client in (serve(own_store), serve(own_store)):
        record_view(client, own_store.ids["album-bridge"], [1], **{"user-agent": "Mozilla/5.0"})
    assert len({view.reader for view in stored_views(own_store)}) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"dnt": "1"},
        {"sec-gpc": "1"},
        {"sec-purpose": "prefetch;prerender"},
        {"user-agent": "Googlebot/2.1"},
        {"user-agent": "Baiduspider"},
        {"cookie": "profile=off"},
    ],
)
def test_opt_outs_and_bots_are_not_recorded(reader: httpx.Client, own_store: Store, headers: dict[str, str]) -> None:
    answer = record_view(reader, own_store.ids["album-bridge"], [1], **headers)
    assert answer.status_code == 204
    assert "set-cookie" not in answer.headers
    assert stored_views(own_store) == []


def test_pages_do_not_set_the_reader_cookie(reader: httpx.Client, own_store: Store) -> None:
    for path in ("/", "/photos", "/for-you", "/profile", f"/story/{own_store.ids['album-bridge']}", f"/story/{own_store.ids['bridge']}"):
        names = [cookie.partition("=")[0] for cookie in reader.get(path).headers.get_list("set-cookie")]
        assert names == (["visited"] if path == "/" else []), path  # time of the last visit, stored only in the browser
    assert stored_views(own_store) == []


@pytest.mark.parametrize("article", ["0" * 20, "ffffffffffffffffffff"])
def test_unknown_story_is_not_found(reader: httpx.Client, own_store: Store, article: str) -> None:
    answer = record_view(reader, article, [1])
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers


INVALID_VIEWS = (
    *(b"", b"{", b"[]", b"null", b"1", b"\xff", b"[" * 16_000),
    *(b'{"article": 1, "places": [1]}', b'{"article": "ab"}', b'{"article": "ab", "places": {"1": 2}}'),
    *(b'{"article": "../../x", "places": [1]}', b'{"article": "ab", "places": [true]}', b'{"article": "ab", "places": [1.5]}'),
    *(b'{"article": "ab", "places": ["1"]}', b'{"article": "\\ud800", "places": [1]}'),
    b'{"article": "ab", "places": [' + b"9" * 10_000 + b"]}",
)


@pytest.mark.parametrize("body", INVALID_VIEWS)
def test_invalid_view_is_refused(reader: httpx.Client, own_store: Store, body: bytes) -> None:
    answer = reader.post("/seen", content=body, headers={**SAME_ORIGIN, "content-type": "application/json"})
    assert answer.status_code in (400, 404)
    assert stored_views(own_store) == []


def test_image_numbers_are_limited_to_the_story(reader: httpx.Client, own_store: Store) -> None:
    record_view(reader, own_store.ids["album-bridge"], [0, -1, 10, 99, 10**30])
    assert stored_views(own_store) == []
    record_view(reader, own_store.ids["album-bridge"], list(range(-500, 1500)))
    (view,) = stored_views(own_store)
    assert (view.seen, view.pictures) == (9, 9)


def test_views_are_rate_limited(reader: httpx.Client, own_store: Store) -> None:
    from newsportal.portal.access import BURST, RateLimit

    state = reader.app.state  # type: ignore[attr-defined]
    state.portal = replace(state.portal, pace=RateLimit(clock=lambda: 0.0))  # independent of the machine's speed
    stories = [id for name, id in own_store.ids.items() if name.startswith("album-more")]
    assert all(state.portal.pace.allows("127.0.0.1") for _ in range(int(BURST) - 20))
    for number in range(30):
        reader.cookies.clear()
        record_view(reader, stories[number % len(stories)], [1])
    assert len(stored_views(own_store)) == 20


@pytest.mark.parametrize("name", ["", "x" * 32, "0" * 31, "0" * 33, "A" * 32, "../../etc", "0" * 5000])
def test_invalid_reader_id_is_replaced(reader: httpx.Client, own_store: Store, name: str) -> None:
    record_view(reader, own_store.ids["album-bridge"], [1], cookie=f"reader={name}")
    (view,) = stored_views(own_store)
    assert re.fullmatch("[0-9a-f]{32}", view.reader)
    assert view.reader != name


def test_history_is_shown_removed_and_cleared(reader: httpx.Client, own_store: Store) -> None:
    for name in ("album-bridge", "album-plain", "bridge"):
        record_view(reader, own_store.ids[name], [1, 2])
    page = lxml_html.document_fromstring(reader.get("/profile").text)
    lines = [" ".join(line.text_content().split()) for line in page.xpath("//ol[@class='viewed-stories']/li")]
    assert len(lines) == 3
    assert any("云岭峡谷步行观景桥开放首日" in line and "看过 2 张，共 9 张" in line for line in lines)
    removed = page.xpath("//form[@action='/profile/remove']//button[contains(@aria-label, '没有人告诉尺寸')]/@value")[0]
    reader.post("/profile/remove", data={"story": removed}, headers=SAME_ORIGIN)
    assert len(stored_views(own_store)) == 2
    assert "没有人告诉尺寸" not in reader.get("/profile").text
    answer = reader.post("/profile/clear", headers={**SAME_ORIGIN, "content-type": "application/x-www-form-urlencoded"})
    assert 'reader=""' in answer.headers["set-cookie"]
    assert stored_views(own_store) == []
    assert "还没有记录" in reader.get("/profile").text


def test_history_of_others_cannot_be_cleared(serve, reader: httpx.Client, own_store: Store) -> None:
    record_view(reader, own_store.ids["album-bridge"], [1])
    other = serve(own_store)
    other.post("/profile/clear", headers={**SAME_ORIGIN, "content-type": "application/x-www-form-urlencoded"})
    other.post("/profile/remove", data={"story": own_store.ids["album-bridge"]}, headers=SAME_ORIGIN)
    assert len(stored_views(own_store)) == 1
    assert "看过" not in lxml_html.document_fromstring(other.get("/profile").text).xpath("string(//ol)")


def test_switched_off_history_is_erased(reader: httpx.Client, own_store: Store) -> None:
    record_view(reader, own_store.ids["album-bridge"], [1])
    name = reader.cookies["reader"]
    reader.post("/profile/switch", data={"profile": "off"}, headers=SAME_ORIGIN)
    assert stored_views(own_store) == []
    assert "reader" not in reader.cookies
    record_view(reader, own_store.ids["album-bridge"], [1])
    record_view(reader, own_store.ids["album-bridge"], [1], cookie=f"reader={name}")  # from a page opened before
    assert stored_views(own_store) == []
    assert "已关闭" in reader.get("/profile").text
    reader.post("/profile/switch", data={"profile": "on"}, headers=SAME_ORIGIN)
    record_view(reader, own_store.ids["album-bridge"], [1])
    (view,) = stored_views(own_store)
    assert view.reader != name


def test_busy_store_loses_the_view_but_serves_pages(serve, own_store: Store, caplog: pytest.LogCaptureFixture) -> None:
    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(own_store, name) if name != "readers" else self

        def record_view(self, *_: object, **__: object) -> bool:
            raise StoreUnavailable("locked")

    client = serve(Busy())
    with caplog.at_level(logging.WARNING):
        assert record_view(client, own_store.ids["album-bridge"], [1], **{"user-agent": "Mozilla/5.0"}).status_code == 204
    assert "not recorded" in caplog.text
    assert client.get("/health").json()["not_recorded"] == {"seen": 1}


def test_pages_mention_do_not_track(reader: httpx.Client) -> None:
    assert "要求不被跟踪" in reader.get("/profile", headers={"sec-gpc": "1"}).text
    assert "要求不被跟踪" in reader.get("/for-you", headers={"dnt": "1"}).text


def test_disabled_recommendation_records_nothing(serve, own_store: Store, newsroom: ModuleType) -> None:
    client = serve(own_store, settings=newsroom.settings(recommendation={"enabled": False}))
    record_view(client, own_store.ids["album-bridge"], [1], **{"user-agent": "Mozilla/5.0"})
    assert stored_views(own_store) == []
    for path in ("/", f"/story/{own_store.ids['album-bridge']}", f"/story/{own_store.ids['bridge']}", "/settings"):
        text = client.get(path).text
        assert "/for-you" not in text, path
        assert "seen.js" not in text, path
        assert "/profile" not in text, path
        assert "/profile" in client.get(path, headers={"cookie": f"reader={'0' * 32}"}).text, "earlier records can still be cleared"
    assert client.get("/for-you").status_code == 404
    assert "不记录" in client.get("/profile").text
