"""API of topics, corpora and models: the same functions and rights as the pages."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from shutil import copy
from typing import Any

import httpx
import pytest

from newsportal.sources import load
from newsportal.store import open_store
from newsportal.store.store import Store

SOURCES = """\
store: sqlite:///news.db
topics:
  - {name: 旅游, keywords: [旅游, 峡谷]}
"""


@pytest.fixture
def store(tmp_path: Path, filled: Any) -> Iterator[Store]:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    copy(filled.store, tmp_path / "news.db")
    opened = open_store(load(tmp_path / "sources.yaml").store)
    yield opened
    opened.close()


@pytest.fixture
def editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path) -> httpx.Client:
    client = serve(store, None, load(tmp_path / "sources.yaml"), role="editor", reread_every=0)
    client.base_url = httpx.URL(f"{str(client.base_url).rstrip('/')}/api/v1/")
    return client


def test_topics_are_read_previewed_and_changed(editor: httpx.Client, tmp_path: Path) -> None:
    (topic,) = editor.get("topics/settings").json()
    assert (topic["name"], topic["any"]) == ("旅游", ["旅游", "峡谷"])
    found = editor.post("topics/preview", json={"name": "旅游", "any": ["观景桥"]}).json()
    assert found["stories"] == len(found["newest"]) > 0
    assert found["newest"][0]["words"] == ["观景桥"]
    changed = editor.put("topics/settings/旅游", json={"name": "出行", "any": ["观景桥"]}, params={"digest": topic["digest"]})
    assert changed.json()["name"] == "出行"
    stale = editor.put("topics/settings/出行", json={"name": "出行"}, params={"digest": topic["digest"]})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "conflict")
    assert editor.put("topics/settings/新", json={"name": "新"}).status_code == 200
    assert editor.put("topics/settings/无", json={"name": "别的"}).status_code == 404
    invalid = editor.put("topics/settings/新", json={"name": "a/b", "engines": ["none"]})
    assert (invalid.status_code, invalid.json()["error"]["code"]) == (422, "not-valid")
    assert editor.post("topics/settings/新/move", json={"direction": "up"}).json() == ["新", "出行"]
    assert editor.post("topics/settings/无/move", json={"direction": "up"}).status_code == 404
    assert editor.post("topics/settings/新/move", json={"direction": "left"}).status_code == 422
    assert editor.request("DELETE", "topics/settings/新", json={}).status_code == 204
    assert editor.request("DELETE", "topics/settings/新", json={}).status_code == 404
    assert [topic.name for topic in load(tmp_path / "sources.yaml").topics] == ["出行"]


def test_corpora_are_imported_labelled_and_exported(editor: httpx.Client, store: Store) -> None:
    lines = "\n".join(
        json.dumps({"text": f"第{number}篇", "label": "甲" if number % 2 else "乙"}, ensure_ascii=False) for number in range(4)
    )
    sent = {"content": lines.encode(), "headers": {"content-type": "application/x-ndjson"}}
    assert editor.post("corpora/新闻/documents", **sent).json()["added"] == 4
    assert editor.post("corpora/新闻/documents", **sent).json()["same"] == 4
    invalid = editor.post("corpora/新闻/documents", content=b"{broken\n{}\n", headers={"content-type": "application/x-ndjson"})
    assert invalid.status_code == 422
    assert "Line 1: not valid JSON" in invalid.json()["error"]["message"]
    assert "Line 2: label must be" in invalid.json()["error"]["message"]
    (corpus,) = editor.get("corpora").json()
    assert (corpus["name"], corpus["documents"], corpus["labels"]) == ("新闻", 4, 2)
    rows = [json.loads(line) for line in editor.get("corpora/新闻/documents").text.splitlines()]
    assert editor.put(f"corpora/新闻/documents/{rows[0]['id']}/label", json={"label": "丙"}).status_code == 204
    assert editor.put("corpora/新闻/documents/none/label", json={"label": "丙"}).status_code == 404
    changed = store.corpora.document("新闻", rows[0]["id"])
    assert changed is not None
    assert (changed.label.label, changed.label.source) == ("丙", "editor")
    assert editor.request("DELETE", "corpora/新闻", json={}).status_code == 204
    assert editor.get("corpora/新闻/documents").status_code == 404


@pytest.mark.slow
def test_model_is_trained_inspected_and_used(editor: httpx.Client, store: Store) -> None:
    words = {"体育": "主场前锋后卫球迷", "财经": "股市央行基金利率"}
    documents = [(label, f"{text}的消息" * 8 + str(number)) for label, text in words.items() for number in range(30)]
    lines = "\n".join(json.dumps({"text": text, "label": label}) for label, text in documents)
    editor.post("corpora/新闻/documents", content=lines.encode(), headers={"content-type": "application/x-ndjson"})
    assert editor.post("models/新闻/train", json={"algorithm": "none"}).status_code == 422
    started = editor.post("models/新闻/train", json={"algorithm": "chi_cosine"})
    assert started.status_code == 202
    assert editor.post("models/新闻/train", json={}).json()["error"]["code"] == "busy"
    until = time.monotonic() + 600
    while (job := editor.get(f"jobs/{started.json()['id']}").json())["state"] == "running" and time.monotonic() < until:
        time.sleep(0.2)
    assert (job["state"], job["failure"]) == ("done", None)
    (version,) = editor.get("models/新闻").json()
    assert (version["version"], version["stored"], version["active"]) == (1, True, True)
    assert version["report"]["labels"]
    assert editor.post("models/新闻/1/use", json={}).status_code == 204
    assert editor.post("models/新闻/7/use", json={}).status_code == 404
    assert [(label["label"], label["documents"]) for label in editor.get("corpora/新闻/labels").json()] == [("体育", 30), ("财经", 30)]
    mistakes = editor.get("models/新闻/1/mistakes").json()
    assert mistakes["evaluated"] == version["held_out"]
    assert mistakes["wrong"] >= len(mistakes["documents"])
    assert all(mistake["true"] != mistake["predicted"] for mistake in mistakes["documents"])
    data = editor.get("models/新闻/1/words", params={"label": "体育", "limit": 5}).json()
    assert data[0]["weight"] >= data[-1]["weight"] > 0
    assert editor.get("models/新闻/1/words", params={"label": "无"}).json()["error"]["code"] == "no-label"
    for path in ("models/新闻/7/mistakes", "models/无/1/words?label=x", "corpora/无/labels"):
        assert editor.get(path).status_code == 404, path
    assert [job["kind"] for job in editor.get("jobs").json()] == ["train"]
    assert editor.post("models/新闻/back", json={}).json()["error"]["code"] == "no-previous-version"
    assert editor.delete("models/新闻/1").json()["error"]["code"] == "in-use"
    assert editor.delete("models/新闻/7").status_code == 404
    store.corpora.save_model("新闻", b"another", algorithm="linear", facts={}, now=datetime(2026, 5, 3, tzinfo=UTC))
    assert editor.delete("models/新闻/2").status_code == 204
    assert [version["version"] for version in editor.get("models/新闻").json()] == [1]
    assert editor.get("jobs/none").status_code == 404


@pytest.mark.parametrize("path", ["topics/settings", "corpora", "corpora/新闻/documents", "models/新闻", "jobs/x"])
def test_api_requires_an_editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path, path: str) -> None:
    reader = serve(store, None, load(tmp_path / "sources.yaml"), role="reader", reread_every=0)
    assert reader.get(f"/api/v1/{path}").status_code == 403
    reader.cookies.clear()
    assert reader.get(f"/api/v1/{path}").status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize(("path", "kind"), [("models/retrain", "retrain"), ("corpora/gather", "gather")])
def test_long_work_runs_in_a_job(editor: httpx.Client, path: str, kind: str) -> None:
    started = editor.post(path, json={})
    assert (started.status_code, started.json()["kind"]) == (202, kind)
    editor.delete(f"jobs/{started.json()['id']}")
    assert [job["id"] for job in editor.get("jobs").json()] == [started.json()["id"]]
