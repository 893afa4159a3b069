"""API of marks and saved searches: the same as on the pages, private to their owner."""

from __future__ import annotations

from types import ModuleType

import httpx
import pytest

from newsportal.services.accounts import marks
from newsportal.store.store import Store

API = "/api/v1"


@pytest.fixture
def reader(serve, fresh: Store, newsroom: ModuleType) -> httpx.Client:
    ids = [newsroom.write(fresh, newsroom.article(f"第{n}号", f"正文{n}" * 20, ago=n, topics=("旅游",)))[0] for n in range(1, 6)]
    client: httpx.Client = serve(fresh, role="reader")
    client.ids = ids  # type: ignore[attr-defined]
    return client


def test_marks_are_set_and_returned(reader: httpx.Client) -> None:
    first, second, *_ = reader.ids  # type: ignore[attr-defined]
    assert reader.put(f"{API}/marks/{first}", json={"starred": True}).json() == {
        "story_id": first,
        "title": "第1号",
        "read": False,
        "starred": True,
    }
    assert reader.put(f"{API}/marks/{first}", json={"read": True}).json()["starred"]
    data = reader.get(f"{API}/marks", params={"story": [first, second, "none"]}).json()
    assert [(mark["story_id"], mark["read"], mark["starred"]) for mark in data] == [(first, True, True), (second, False, False)]
    assert reader.put(f"{API}/marks/none", json={"read": True}).status_code == 404


def test_starred_stories_are_paged_and_limited(reader: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for story in reader.ids:  # type: ignore[attr-defined]
        reader.put(f"{API}/marks/{story}", json={"starred": True})
    seen, cursor = [], None
    while True:
        page = reader.get(f"{API}/starred", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        seen += [item["story_id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(reader.ids)  # type: ignore[attr-defined]
    assert reader.get(f"{API}/starred?cursor=x").status_code == 400
    monkeypatch.setattr(marks, "MAX_STARRED", 5)
    reader.put(f"{API}/marks/{seen[0]}", json={"starred": True})
    reader.put(f"{API}/marks/{seen[0]}", json={"starred": False})
    monkeypatch.setattr(marks, "MAX_STARRED", 4)
    full = reader.put(f"{API}/marks/{seen[0]}", json={"starred": True})
    assert (full.status_code, full.json()["error"]["code"]) == (409, "too-many-starred")


def test_mark_all_read_and_undo(reader: httpx.Client) -> None:
    params = {"story": reader.ids}  # type: ignore[attr-defined]
    assert reader.post(f"{API}/marks/all-read", json={"topic": "旅游"}).status_code == 204
    assert all(mark["read"] for mark in reader.get(f"{API}/marks", params=params).json())
    assert reader.post(f"{API}/marks/all-read/undo", json={"topic": "旅游"}).status_code == 204
    assert not any(mark["read"] for mark in reader.get(f"{API}/marks", params=params).json())
    assert reader.post(f"{API}/marks/all-read", json={"topic": "没有"}).status_code == 404


def test_searches_are_saved_renamed_and_removed(reader: httpx.Client) -> None:
    created = reader.post(f"{API}/searches", json={"name": "峡谷", "query": "q=峡谷&topic=旅游&page=7&x=y"})
    assert created.status_code == 201
    assert created.json()["query"] == "q=%E5%B3%A1%E8%B0%B7&topic=%E6%97%85%E6%B8%B8"
    place = f"{API}/searches/{created.json()['id']}"
    assert reader.patch(place, json={"name": "新名"}).json()["name"] == "新名"
    assert reader.patch(place, json={"name": "\u200b "}).status_code == 400
    assert [search["name"] for search in reader.get(f"{API}/searches").json()] == ["新名"]
    assert reader.post(f"{API}/searches", json={"name": "空", "query": "q="}).status_code == 400
    reader.headers["content-type"] = "application/json"  # every change declares its content type
    assert reader.delete(place).status_code == 204
    assert [reader.delete(place).status_code, reader.patch(place, json={"name": "x"}).status_code] == [404, 404]


def test_marks_require_sign_in(serve, fresh: Store) -> None:
    client = serve(fresh)
    client.headers["origin"] = str(client.base_url)
    for method, path in (
        ("GET", "/starred"),
        ("GET", "/searches"),
        ("PUT", "/marks/a"),
        ("POST", "/searches"),
        ("POST", "/marks/all-read"),
    ):
        answer = client.request(method, f"{API}{path}", json={} if method != "GET" else None)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not-signed-in"), path
