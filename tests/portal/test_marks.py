"""Marks of signed-in readers: in lists and stories, as a list and as a feed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.search import open_index
from newsportal.services.accounts import marks
from newsportal.store import open_store
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

HTML = {"accept": "text/html"}
EMPTY = {"content-type": "application/x-www-form-urlencoded"}
"""Headers of a form without fields, as sent by browsers."""


@pytest.fixture
def store(filled: Any, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{copy(filled.store, tmp_path)}")) as opened:
        yield opened


@pytest.fixture
def reader(serve, store: Store, filled: Any, tmp_path: Path) -> Iterator[httpx.Client]:
    with closing(open_index(f"sqlite:///{copy(filled.index, tmp_path)}")) as index:
        yield serve(store, index, role="reader")


@pytest.fixture
def ids(filled: Any) -> dict[str, str]:
    return filled.ids


def page_of(client: httpx.Client, path: str) -> lxml_html.HtmlElement:
    answer = client.get(path, follow_redirects=True)
    assert answer.status_code == 200, path
    return lxml_html.document_fromstring(answer.text)


def titles(page: lxml_html.HtmlElement) -> list[str]:
    return [node.text_content().strip() for node in page.xpath("//main//*[contains(@class, 'headline')]")]


def send_mark(client: httpx.Client, name: str, value: str, path: str = "/latest") -> httpx.Response:
    return client.post("/marks", data={name: value, "next": path}, headers=HTML)


def button(page: lxml_html.HtmlElement, story: str, kind: str) -> tuple[str, str]:
    [found] = page.xpath(f"(//button[@class='{kind}' and @value='{story}'])[1]")
    assert found.get("form") == page.xpath("//form[@action='/marks']/@id")[0]
    return found.get("name"), found.get("aria-pressed")


@pytest.mark.parametrize("path", ["/", "/latest", "/topic/旅游", "/search?q=峡谷", "/story/{bridge}", "/?boards=ranked"])
def test_marks_are_shown_and_changed_in_every_list(reader: httpx.Client, ids: dict[str, str], path: str) -> None:
    bridge, ranked = ids["bridge"], "ranked" in path
    if ranked:
        reader.cookies.set("boards", "ranked")
    path = path.format(bridge=bridge)
    assert button(page_of(reader, path), bridge, "star") == ("star", "false")
    assert send_mark(reader, "star", bridge, path).headers["location"] == quote(path, safe="/?=")
    assert send_mark(reader, "read", bridge, path).status_code == 303
    page = page_of(reader, path)
    assert button(page, bridge, "star") == ("unstar", "true")
    assert button(page, bridge, "tick") == ("unread", "true")
    if not path.startswith("/story"):
        [dimmed] = page.xpath(f"(//*[contains(@class, 'read') and .//a[contains(@href, '{bridge}')]])[1]")
        assert "read" in dimmed.get("class").split()
    send_mark(reader, "unstar", bridge)
    send_mark(reader, "unread", bridge)
    assert button(page_of(reader, path), bridge, "star") == ("star", "false")


def test_marks_require_sign_in(serve, store: Store, ids: dict[str, str]) -> None:
    client = serve(store)
    assert not page_of(client, "/latest").xpath("//*[@class='marks']|//form[@id='marks']")
    client.headers["origin"] = str(client.base_url)
    answer = send_mark(client, "star", ids["bridge"])
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2F&ended=1")
    assert client.get("/starred").headers["location"] == "/login?next=%2Fstarred"
    assert client.get("/searches").headers["location"] == "/login?next=%2Fsearches"


def test_cross_site_and_invalid_marks_are_refused(reader: httpx.Client, ids: dict[str, str]) -> None:
    forged = reader.post("/marks", data={"star": ids["bridge"]}, headers={"origin": "https://evil.example"})
    assert forged.status_code == 403
    assert send_mark(reader, "star", "none").status_code == 404
    assert send_mark(reader, "like", ids["bridge"]).status_code == 400
    assert send_mark(reader, "star", ids["bridge"], "//evil.example").headers["location"] == "/"
    assert reader.post("/marks/all?topic=没有", data={"next": "/"}).status_code == 404
    assert reader.get("/marks").status_code in (404, 405)


def test_script_requests_get_no_page(reader: httpx.Client, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"accept": "application/json"}
    assert reader.post("/marks", data={"star": ids["bridge"]}, headers=headers).status_code == 204
    monkeypatch.setattr(marks, "MAX_STARRED", 1)
    other = ids["沿江三省"]
    assert reader.post("/marks", data={"star": other}, headers=headers).status_code == 409
    assert send_mark(reader, "star", other).status_code == 303
    assert "收藏已满" in page_of(reader, "/latest").text_content()


def test_unread_filter_and_mark_all_read_with_undo(reader: httpx.Client, ids: dict[str, str]) -> None:
    every = titles(page_of(reader, "/topic/旅游"))
    send_mark(reader, "read", ids["bridge"])
    left = titles(page_of(reader, "/topic/旅游?show=unread"))
    assert len(left) == len(every) - 1
    assert not any(title.startswith("云岭峡谷") for title in left)
    answer = reader.post("/marks/all?topic=旅游", data={"next": "/topic/旅游?show=unread"})
    page = page_of(reader, answer.headers["location"])
    assert titles(page) == []
    assert "都已读过" in page.text_content()
    assert titles(page_of(reader, "/latest?show=unread"))  # other topics are unchanged
    [undo] = page.xpath("//*[contains(@class, 'flash')]//form/@action")
    assert reader.post(undo, headers=EMPTY).status_code == 303
    assert titles(page_of(reader, "/topic/旅游?show=unread")) == left
    reader.post("/marks/all", data={"next": "/latest"})
    assert titles(page_of(reader, "/latest?show=unread")) == []


def test_unread_filter_pages_past_read_stories(fresh: Store, serve, newsroom) -> None:
    stories = [newsroom.write(fresh, newsroom.article(f"第{n}号", f"正文{n}" * 20, ago=n * 10))[0] for n in range(95)]
    client = serve(fresh, role="reader")
    [person] = client.accounts.people.all()  # type: ignore[attr-defined]
    for story in stories[:70]:
        client.accounts.marks.set_read(person.id, story, True, now=newsroom.NOW)  # type: ignore[attr-defined]
    seen, path = [], "/latest?show=unread"
    while path:
        page = page_of(client, path)
        seen += titles(page)
        path = next(iter(page.xpath("//a[@rel='next']/@href")), "")
    assert seen == [f"第{n}号" for n in range(70, 95)]


def test_starred_stories_have_a_secret_feed(reader: httpx.Client, store: Store, ids: dict[str, str], newsroom) -> None:
    client, other = reader, next(story.id for story in store.stories(StoryFilter(limit=50)).stories if story.count == 1)
    assert "还没有收藏" in page_of(client, "/starred").text_content()
    send_mark(client, "star", other)
    store.fold(other, ids["bridge"], reason="by hand", now=newsroom.NOW)
    send_mark(client, "star", ids["bridge"])
    page = page_of(client, "/starred")
    assert len(titles(page)) == 1
    addresses = page.xpath("//p[@class='feeds']/a/@href")
    with httpx.Client(base_url=client.base_url, timeout=600) as stranger:
        for address in addresses:
            assert stranger.get(address).status_code == 200
        entries = stranger.get(addresses[2]).json()["items"]
        assert len(entries) == 1
        assert "private" in stranger.get(addresses[0]).headers["cache-control"]
        assert stranger.get("/starred/feed.rss").status_code == 404
        assert stranger.get("/starred/feed.rss?key=x").status_code == 404
        assert client.post("/starred/key", headers=EMPTY).status_code == 303
        assert stranger.get(addresses[0]).status_code == 404
    assert page_of(client, "/starred").xpath("//p[@class='feeds']/a/@href")[0] != addresses[0]


def test_starred_list_is_paged(fresh: Store, serve, newsroom) -> None:
    stories = [newsroom.write(fresh, newsroom.article(f"第{n}号", f"正文{n}" * 20, ago=n * 10))[0] for n in range(65)]
    client = serve(fresh, role="reader")
    [person] = client.accounts.people.all()  # type: ignore[attr-defined]
    for story in stories:
        client.accounts.marks.star(person.id, story, True, now=newsroom.NOW)  # type: ignore[attr-defined]
    seen, path = [], "/starred"
    while path:
        page = page_of(client, path)
        seen += titles(page)
        path = next(iter(page.xpath("//a[@rel='next']/@href")), "")
    assert len(seen) == len(set(seen)) == 65
    for cursor in ("x", "1.2.3", "99999999999.000000.a", "' OR 1=1 --"):
        assert titles(page_of(client, f"/starred?before={cursor}")) is not None


def test_searches_are_saved_renamed_and_removed(reader: httpx.Client) -> None:
    page = page_of(reader, "/search?q=峡谷&topic=旅游&when=month")
    [query] = page.xpath("//form[@class='save-search']/input[@name='query']/@value")
    [alert] = page.xpath("//form[@class='save-search']/a[contains(@href, '/alerts/new')]/@href")
    terms = page_of(reader, f"{alert}&channel=webhook").xpath("string(//input[@name='search']/@value)")
    assert terms == '峡谷 topic:"旅游"', "an alert keeps the filters"
    assert titles(page_of(reader, f"/search?q={terms}"))[0].startswith("云岭峡谷")
    answer = reader.post("/searches", data={"query": query, "name": "峡谷游 <b>"})
    assert "已保存" in page_of(reader, answer.headers["location"]).text_content()
    page = page_of(reader, "/searches")
    [link] = page.xpath("//ul[@class='saved-searches']//h2/a")
    assert link.text == "峡谷游 <b>"
    assert titles(page_of(reader, link.get("href")))[0].startswith("云岭峡谷")
    assert len(reader.get(page.xpath("//span[@class='feeds']/a[3]/@href")[0]).json()["items"]) == 1
    [search] = page.xpath("//input[@name='search']/@value")
    reader.post("/searches/rename", data={"search": search, "name": "新名"})
    reader.post("/searches/rename", data={"search": search, "name": " "})
    assert page_of(reader, "/searches").xpath("string(//ul[@class='saved-searches']//h2)") == "新名"
    reader.post("/searches/remove", data={"search": search})
    page = page_of(reader, "/searches")
    assert not page.xpath("//ul[@class='saved-searches']")
    reader.post(page.xpath("//*[contains(@class, 'flash')]//form/@action")[0], headers=EMPTY)
    assert page_of(reader, "/searches").xpath("string(//ul[@class='saved-searches']//h2)") == "新名"
    assert reader.post("/searches/remove", data={"search": "x"}).status_code == 404
    assert reader.post("/searches/rename", data={"search": "x", "name": "新名"}).status_code == 404
    actions = [entry.action for entry in reversed(reader.accounts.audit_log.entries(action="search"))]  # type: ignore[attr-defined]
    assert actions == ["search.keep", "search.rename", "search.remove", "search.keep"]
    assert reader.post("/searches", data={"query": "q="}).status_code == 400


def test_undo_is_refused_when_searches_are_full(reader: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MAX_SEARCHES", 1)
    reader.post("/searches", data={"query": "q=峡谷", "name": "一"})
    [search] = page_of(reader, "/searches").xpath("//input[@name='search']/@value")
    page = page_of(reader, reader.post("/searches/remove", data={"search": search}).headers["location"])
    reader.post("/searches", data={"query": "q=海港", "name": "二"})
    answer = reader.post(page.xpath("//*[contains(@class, 'flash')]//form/@action")[0], headers=EMPTY)
    assert "已满" in page_of(reader, answer.headers["location"]).text_content()
    assert page_of(reader, "/searches").xpath("string(//ul[@class='saved-searches']//h2)") == "二"


def test_saved_searches_are_private(serve, store: Store) -> None:
    first, second = serve(store, role="reader"), serve(store, role="reader")
    second.cookies.clear()
    first.post("/searches", data={"query": "q=峡谷", "name": "我的"})
    assert "我的" in page_of(first, "/searches").text_content()
    assert second.get("/searches").status_code == 303
