"""API of sources: the same changes as on the pages, with the same rights and checks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import empty_store

from newsportal.sources import load
from newsportal.store.results import SourceState

TEXT = """\
feeds:
  - name: 甲报   # 第一个
    url: https://a.example/feed?token=geheim
  - name: 乙报
    url: http://10.0.0.1/feed
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.fixture
def connect(serve: Any, path: Path) -> Iterator[Any]:
    store = empty_store(path.parent / "store.db")

    def start(role: str | None = "editor") -> httpx.Client:
        client: httpx.Client = serve(store, settings=load(path), role=role, reread_every=0)
        client.store = store  # type: ignore[attr-defined]
        client.base_url = client.base_url.join("/api/v1/")
        return client

    yield start
    store.close()


def test_source_is_created_changed_disabled_and_deleted(connect: Any, path: Path) -> None:
    client = connect()
    created = client.post("sources", json={"kind": "feeds", "values": {"name": "丙报", "url": "https://c.example/feed"}})
    assert (created.status_code, created.json()["key"]) == (201, "feed:丙报")
    seen = client.get("sources/feed:丙报").json()["digest"]
    assert client.patch("sources/feed:丙报", json={"values": {"interval": 30, "topics": None}, "digest": seen}).json()["changed"]
    assert load(path).feeds[2].interval == 30
    stale = client.patch("sources/feed:丙报", json={"values": {"interval": 60}, "digest": seen})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "conflict")
    assert client.put("sources/feed:丙报/enabled", json={"enabled": False}).status_code == 200
    assert not load(path).feeds[2].enabled
    assert not client.put("sources/feed:丙报/enabled", json={"enabled": False}).json()["changed"]
    assert client.delete("sources/feed:丙报", headers={"content-type": "application/json"}).status_code == 200
    assert client.get("sources/feed:丙报").status_code == 404
    assert client.post("sources/undo", json={}).status_code == 200
    assert len(load(path).feeds) == 3
    assert "# 第一个" in path.read_text("utf-8")


def test_concurrent_writes_report_their_own_result(connect: Any, path: Path) -> None:
    client = connect()
    names = [f"报{number}" for number in range(12)]

    def add(name: str) -> dict[str, Any]:
        return client.post("sources", json={"kind": "feeds", "values": {"name": name, "url": f"https://{name}.example/feed"}}).json()

    def change(name: str) -> dict[str, Any]:
        return client.patch(f"sources/feed:{name}", json={"values": {"interval": 45}}).json()

    with ThreadPoolExecutor(6) as threads:
        for write in (add, change):
            answers = list(threads.map(write, names))
            assert answers == [{"key": f"feed:{name}", "file": "sources.yaml", "changed": True} for name in names]
    assert {source.name for source in load(path).feeds if source.interval == 45} == set(names)


def test_answers_do_not_reveal_file_paths(connect: Any, path: Path) -> None:
    client = connect()
    calls = [
        client.put("sources/feed:甲报/enabled", json={"enabled": False}),
        client.post("sources/many", json={"keys": ["feed:乙报"], "action": "disable"}),
        client.post("sources/undo", json={}),
        client.post("sources/undo?steps=50", json={}),
        client.delete("sources/feed:乙报", headers={"content-type": "application/json"}),
    ]
    (path.parent / ".sources.yaml.lock").unlink()
    (path.parent / ".sources.yaml.lock").mkdir()
    calls.append(client.put("sources/feed:甲报/enabled", json={"enabled": True}))
    assert [answer.status_code for answer in calls] == [200, 200, 200, 409, 200, 503]
    assert [answer.text for answer in calls if str(path.parent) in answer.text] == []


def test_invalid_sources_are_refused_with_all_errors(connect: Any, path: Path) -> None:
    client = connect()
    answer = client.post("sources", json={"kind": "feeds", "values": {"name": "甲报", "url": "no", "colour": 1}})
    assert answer.status_code == 422
    data = answer.json()["error"]
    assert data["code"] == "not-valid"
    assert {problem["where"].partition(": ")[2] for problem in data["problems"]} == {"feeds[2].name", "feeds[2].url", "feeds[2].colour"}
    assert client.post("sources", json={"kind": "store", "values": {}}).status_code == 422
    variable = client.post("sources", json={"kind": "feeds", "values": {"name": "x", "url": "https://evil.example/${HOME}"}})
    assert variable.status_code == 403
    assert path.read_text("utf-8") == TEXT


def test_lists_of_sources_and_schedule(connect: Any) -> None:
    client = connect()
    page = client.get("sources?limit=1").json()
    (row,) = page["items"]
    assert row["state"] == "new"
    (other,) = client.get(f"sources?limit=1&cursor={page['next']}").json()["items"]
    assert {row["key"], other["key"]} == {"feed:甲报", "feed:乙报"}
    assert "geheim" not in client.get("sources").text
    assert client.get("sources?cursor=nonsense").status_code == 400
    assert [item["key"] for item in client.get("sources?q=乙").json()["items"]] == ["feed:乙报"]
    assert {item["reason"] for item in client.get("schedule").json()["items"]} == {"never visited"}


def test_visit_is_requested(connect: Any) -> None:
    client = connect()
    client.store.save_source_state(SourceState("feed:甲报"))
    answer = client.post("sources/feed:甲报/visit", json={})
    assert answer.status_code == 202
    assert answer.json()["crawls"] is False
    client.put("sources/feed:甲报/enabled", json={"enabled": False})
    assert client.post("sources/feed:甲报/visit", json={}).json()["error"]["code"] == "source-disabled"


@pytest.mark.parametrize("check", ["test", "propose"])
def test_background_check_is_private_to_its_user(connect: Any, check: str) -> None:
    client = connect()
    address, sent = ("sources/feed:乙报/test", {}) if check == "test" else ("sources/propose", {"addresses": ["10.0.0.1"]})
    started = client.post(address, json=sent)
    assert started.status_code == 202
    address = f"checks/{started.json()['id']}"
    deadline = time.monotonic() + 600
    while not (found := client.get(address).json())["done"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "private" in str(found), "refused by the egress guard"
    assert found["error"] is None
    assert connect().get(address).status_code == 404


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("reader", 403)])
def test_readers_have_no_access(connect: Any, path: Path, role: str | None, status: int) -> None:
    client = connect(role)
    client.headers["origin"] = str(client.base_url.join("/"))
    for address in ("sources", "sources/feed:甲报", "schedule", "checks/x"):
        assert client.get(address).status_code == status, address
    assert client.delete("sources/feed:甲报", headers={"content-type": "application/json"}).status_code == status
    assert client.post("sources", json={"kind": "feeds", "values": {}}).status_code == status
    assert path.read_text("utf-8") == TEXT
