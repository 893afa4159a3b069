"""The assistant on pages of articles and events and in the API: used only on request by signed-in users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html
from model_endpoint import ModelEndpoint, model_endpoint

from newsportal.store.events import Assignment
from newsportal.store.store import Store

SUMMARY = "大桥垮塌，<script>alert(1)</script>两人受伤。"


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with model_endpoint() as endpoint:
        endpoint.says(SUMMARY)
        yield endpoint


@pytest.fixture
def store(newsroom: ModuleType) -> Iterator[Store]:
    """An event of two stories, the second in English."""
    with closing(empty_store()) as opened:
        first = newsroom.article("大桥垮塌", "青河大桥16日晚垮塌，两人受伤。" * 3, site="青河网")
        second = newsroom.article("Bridge rebuilt", "The bridge over the Qing will be rebuilt. " * 3, site="Herald", language="en", ago=30)
        ids = newsroom.write(opened, first) + newsroom.write(opened, second)
        assignments = [Assignment(id, "bridge", 0.5, ("青河",)) for id in ids]
        assert opened.events.assign(assignments, {"bridge": "[0,{},{},[]]"}, after=0, up_to=opened.last_seq())
        opened.ids = ids  # type: ignore[attr-defined]
        yield opened


@pytest.fixture
def start(serve: Any, store: Store, newsroom: ModuleType, endpoint: ModelEndpoint) -> Any:
    def client(role: str | None = "reader", **uses: bool) -> httpx.Client:
        settings = endpoint.settings
        settings["assistant"]["uses"] = uses
        client: httpx.Client = serve(store, None, newsroom.settings(**settings), role=role)
        return client

    return client


def buttons(page: str) -> list[str]:
    return html.document_fromstring(page).xpath("//section[@id='assistant']//button[@name='purpose']/@value")  # type: ignore[no-any-return]


def test_page_offers_buttons_without_calling_the_model(start: Any, store: Any, endpoint: ModelEndpoint) -> None:
    story, foreign = (f"/story/{id}" for id in store.ids)
    reader = start()
    assert buttons(reader.get(story).text) == ["summary"]
    assert buttons(reader.get(foreign).text) == ["summary", "translation"]
    assert endpoint.got == []
    answer = reader.post(f"{story}/{store.ids[0]}/assistant", data={"purpose": "summary", "next": story}, follow_redirects=True)
    page = answer.text
    assert "智能助手已生成，见下文。" in page
    assert "由机器生成（小模型" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;两人受伤。" in page
    assert "<script>alert" not in page
    assert buttons(page) == []
    assert len(endpoint.got) == 1
    audited = [entry.action for entry in reader.accounts.audit_log.entries()]  # type: ignore[attr-defined]
    assert "assistant.ask" in audited


def test_event_summary_lists_sources_and_editors_get_titles(start: Any, store: Any, endpoint: ModelEndpoint) -> None:
    reader, editor = start(), start("editor")
    assert buttons(reader.get("/event/bridge").text) == ["summary"]
    assert reader.post("/event/bridge/assistant", data={"purpose": "title"}).status_code == 404
    page = reader.post("/event/bridge/assistant", data={"purpose": "summary", "next": "/event/bridge"}, follow_redirects=True).text
    [section] = html.document_fromstring(page).xpath("//div[@data-assistant='summary']")
    assert section.xpath(".//a/@href") == [f"/story/{id}" for id in store.ids]
    endpoint.says("“青河大桥重建”")
    page = editor.post("/event/bridge/assistant", data={"purpose": "title", "next": "/event/bridge"}, follow_redirects=True).text
    [form] = html.document_fromstring(page).xpath("//div[@data-assistant='title']//form")
    assert (form.get("action"), form.xpath("button/@value")) == ("/event/bridge", ["青河大桥重建"])
    editor.post("/event/bridge", data={"action": "rename", "title": "青河大桥重建"})
    assert store.events.event("bridge").title == "青河大桥重建"


def test_event_page_reads_its_texts_once(start: Any, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, articles, read = start(), Store.articles, list[str]()
    monkeypatch.setattr(Store, "articles", lambda self, ids: (read.extend(ids), articles(self, ids))[1])
    assert buttons(reader.get("/event/bridge").text) == ["summary"]
    assert sorted(read) == sorted(store.ids)


def test_assistant_requires_sign_in_and_same_origin(start: Any, store: Any, endpoint: ModelEndpoint) -> None:
    path = f"/story/{store.ids[0]}/{store.ids[0]}/assistant"
    anonymous, reader = start(None), start()
    headers = {"origin": str(anonymous.base_url).rstrip("/")}
    assert anonymous.post(path, data={"purpose": "summary"}, headers=headers).headers["location"].startswith("/login")
    assert 'id="assistant"' not in anonymous.get(f"/story/{store.ids[0]}").text
    assert reader.post(path, data={"purpose": "summary"}, headers={"origin": "https://evil.example"}).status_code == 403
    assert reader.get(path).status_code == 405
    assert reader.post(path, data={"purpose": "nonsense"}).status_code == 404
    assert endpoint.got == []


def test_disabled_uses_are_not_offered(start: Any, serve: Any, store: Any, newsroom: ModuleType, endpoint: ModelEndpoint) -> None:
    story, path = f"/story/{store.ids[1]}", f"/story/{store.ids[1]}/{store.ids[1]}/assistant"
    reader = start(summaries=False)
    assert buttons(reader.get(story).text) == ["translation"]
    assert reader.post(path, data={"purpose": "summary"}).status_code == 404
    disabled = serve(store, None, newsroom.settings(), role="editor")
    assert 'id="assistant"' not in disabled.get(story).text + disabled.get("/event/bridge").text
    assert disabled.post(path, data={"purpose": "translation"}).status_code == 404


def test_failure_is_shown_with_its_remedy(start: Any, store: Any, endpoint: ModelEndpoint) -> None:
    story, reader = f"/story/{store.ids[0]}", start()
    endpoint.fails(401)
    page = reader.post(f"{story}/{store.ids[0]}/assistant", data={"purpose": "summary", "next": story}, follow_redirects=True).text
    assert "不接受密钥（401）：请管理员检查 assistant.key。" in page
    assert buttons(page) == ["summary"]


def test_api_returns_text_with_sources(start: Any, store: Any, endpoint: ModelEndpoint) -> None:
    reader = start()
    request = {"purpose": "summary", "language": "en"}
    data = reader.post("/api/v1/events/bridge/assistant", json=request).json()
    assert (data["purpose"], data["text"], data["model"], len(data["sources"])) == ("summary", SUMMARY, "小模型", 2)
    assert reader.post(f"/api/v1/articles/{store.ids[0]}/assistant", json=request).json()["sources"] == [store.article(store.ids[0]).url]
    assert reader.post("/api/v1/articles/nobody/assistant", json=request).status_code == 404
    endpoint.fails(404)
    refused = reader.post(f"/api/v1/articles/{store.ids[1]}/assistant", json=request)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "assistant")


def test_one_user_cannot_exhaust_the_shared_budget(
    start: Any, store: Any, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newsportal.portal.context.ASSISTANT_BURST", 1.0)
    reader, urls = start(), [f"/api/v1/articles/{id}/assistant" for id in store.ids]
    assert [reader.post(url, json={"purpose": "summary"}).status_code for url in (*urls, urls[0])] == [200, 429, 200]
