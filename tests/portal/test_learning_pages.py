"""Pages of corpora and models: uploads, labels, training jobs, scores, versions, errors."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from factories import empty_store

from newsportal.portal.request_body import MAX_FILE
from newsportal.services.learning.training import train_corpus
from newsportal.sources import load
from newsportal.store.labels import NewDocument
from newsportal.store.store import Store

CONFIRM = {"go": "1"}

WORDS = {
    "体育": "主场 客场 前锋 后卫 教练 球迷 进球 射门 比分 夺冠 联赛 决赛",
    "财经": "股市 降息 央行 投资 基金 利率 债券 汇率 贷款 通胀 财报 券商",
}


def labelled_rows(number: int) -> list[dict[str, str]]:
    rows = []
    for label, words in WORDS.items():
        for at in range(number):
            chance = random.Random(f"{label} {at}")
            text = "。".join("，".join(chance.sample(words.split(), 5)) for _ in range(6))
            rows.append({"text": text, "label": label, "title": f"{chance.choice(words.split())}的消息 {at}"})
    return rows


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "sources.yaml").write_text('store: sqlite:///news.db\nfeeds:\n  - {name: 甲, url: "https://a.example/rss"}\n', "utf-8")
    opened = empty_store(tmp_path / "news.db")
    yield opened
    opened.close()


@pytest.fixture
def editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path) -> httpx.Client:
    return serve(store, None, load(tmp_path / "sources.yaml"), role="editor", reread_every=0)


def fill_corpus(store: Store, number: int = 40) -> None:
    from datetime import UTC, datetime

    documents = [NewDocument(row["label"], row["text"], row["title"]) for row in labelled_rows(number)]
    store.corpora.add("新闻", documents, source="imported", now=datetime(2026, 5, 1, tzinfo=UTC))


def upload(content: bytes, called: str = "a.jsonl") -> dict[str, tuple[str, bytes, str]]:
    return {"file": (called, content, "application/octet-stream")}


def test_upload_adds_all_documents(editor: httpx.Client, store: Store) -> None:
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in labelled_rows(3))
    answer = editor.post("/corpora/upload", data={"name": "新闻"}, files=upload(lines.encode()))
    assert answer.status_code == 303
    found = store.corpora.find("新闻")
    assert found is not None
    assert (found.documents, found.labels) == (6, 2)
    page = editor.get(answer.headers["location"]).text
    assert "新增 6 篇" in page
    assert "体育" in page
    table = "label,text\n体育,球赛消息\n"
    assert (
        editor.post(
            "/corpora/upload", data={"name": "新闻", "encoding": "gb18030"}, files=upload(table.encode("gb18030"), "b.CSV")
        ).status_code
        == 303
    )
    assert "球赛消息" in editor.get("/corpora/新闻").text, "a document without a title"
    assert editor.accounts.audit_log.entries()[0].action == "corpus.upload"  # type: ignore[attr-defined]


def test_invalid_upload_is_refused_with_line_errors(editor: httpx.Client, store: Store) -> None:
    lines = b'{"text": "a", "label": "x"}\n{broken\n{"text": "b"}\n<script>alert(1)</script>\n'
    answer = editor.post("/corpora/upload", data={"name": "新闻"}, files=upload(lines, "<img src=x>.jsonl"))
    assert answer.status_code == 422
    for line in (2, 3, 4):
        assert f"第 {line} 行：" in answer.text
    assert "<script>alert" not in answer.text
    assert store.corpora.find("新闻") is None
    again = editor.get("/corpora/upload", headers={"accept": "text/html"})
    assert (again.status_code, again.headers["location"]) == (303, "/corpora"), "the language is changed beside the errors"
    assert "第 1 行：字符不是 utf-8" in editor.post("/corpora/upload", data={"name": "x"}, files=upload("新".encode("gb18030"))).text


@pytest.mark.parametrize("name", ["", "a/b", "x" * 300])
def test_corpus_name_is_required(editor: httpx.Client, store: Store, name: str) -> None:
    assert editor.post("/corpora/upload", data={"name": name}, files=upload(b"{}")).status_code == 422
    assert store.corpora.all() == []


def test_upload_requires_file_and_same_origin(editor: httpx.Client, store: Store) -> None:
    content = b'{"text": "a", "label": "x"}\n'
    assert editor.post("/corpora/upload", data={"name": "a"}).status_code == 422
    assert editor.post("/corpora/upload", data={"name": "a", "file": "x"}, files={"other": ("a", b"", "")}).status_code == 422
    assert (
        editor.post("/corpora/upload", data={"name": "a"}, files=upload(content), headers={"origin": "https://evil.example"}).status_code
        == 403
    )
    assert editor.post("/corpora/upload", content=b"no boundary", headers={"content-type": "multipart/form-data"}).status_code == 400
    assert store.corpora.all() == []


@pytest.mark.slow
def test_upload_is_limited_in_size(editor: httpx.Client, store: Store) -> None:
    line = b'{"text": "a", "label": "x"}\n'
    head = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'

    def pieces() -> Iterator[bytes]:
        """Yield the body without a declared length."""
        yield head
        for _ in range(MAX_FILE // (len(line) * 10_000) + 2):
            yield line * 10_000

    answer = editor.post("/corpora/upload", content=pieces(), headers={"content-type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 413
    assert "最多 64 MB" in answer.text
    declared = editor.post("/corpora/upload", data={"name": "a"}, files=upload(line * (MAX_FILE // len(line) + 10)))
    assert declared.status_code == 413
    assert store.corpora.all() == []


@pytest.mark.parametrize("role", ["reader", None])
def test_corpora_require_an_editor(serve: Callable[..., httpx.Client], store: Store, tmp_path: Path, role: str | None) -> None:
    fill_corpus(store)
    client = serve(store, None, load(tmp_path / "sources.yaml"), role=role, reread_every=0)
    client.headers["origin"] = str(client.base_url).rstrip("/")
    for path in ("/corpora", "/corpora/新闻", "/corpora/新闻/export.jsonl", "/models", "/models/新闻"):
        assert client.get(path).status_code in (303, 403), path
    assert client.post("/corpora/upload", data={"name": "a"}, files=upload(b'{"text": "a", "label": "x"}\n')).status_code in (303, 401, 403)
    assert client.post("/corpora/新闻/delete", data=CONFIRM).status_code in (303, 401, 403)
    assert [corpus.name for corpus in store.corpora.all()] == ["新闻"]


def test_editors_label_is_stored(editor: httpx.Client, store: Store) -> None:
    fill_corpus(store, 3)
    page = editor.get("/corpora/新闻?label=体育").text
    id = re.findall(r'name="id" value="(\w+)"', page)[0]
    assert editor.post("/corpora/新闻/label", data={"id": id, "label": "财经", "filter": "体育"}).status_code == 303
    found = store.corpora.document("新闻", id)
    assert found is not None
    assert (found.label.label, found.label.source, found.label.by) == ("财经", "editor", "editor 0")
    assert id in editor.get("/corpora/新闻?by=editor").text
    editor.post("/corpora/新闻/label", data={"id": id, "label": ""})
    left = store.corpora.document("新闻", id)
    assert left is not None
    assert left.label.label is None
    assert "已不存在" in editor.get(editor.post("/corpora/新闻/label", data={"id": "none", "label": "x"}).headers["location"]).text


def test_export_round_trip(editor: httpx.Client, store: Store) -> None:
    fill_corpus(store, 3)
    lines = editor.get("/corpora/新闻/export.jsonl").content
    assert editor.post("/corpora/upload", data={"name": "again"}, files=upload(lines)).status_code == 303
    texts = [{document.text: document.label.label for document in store.corpora.documents(name)} for name in ("新闻", "again")]
    assert texts[0] == texts[1]


def test_corpus_is_deleted_after_confirmation(editor: httpx.Client, store: Store) -> None:
    fill_corpus(store, 3)
    assert "6 篇" in editor.get("/corpora/新闻/delete").text
    assert store.corpora.find("新闻") is not None
    assert editor.post("/corpora/新闻/delete", data=CONFIRM).status_code == 303
    assert store.corpora.find("新闻") is None
    assert editor.get("/corpora/新闻").status_code == 404


def test_model_pages_show_scores_errors_and_words(editor: httpx.Client, store: Store) -> None:
    from datetime import UTC, datetime

    fill_corpus(store)
    for _ in range(2):
        train_corpus(store, "新闻", "chi_cosine", share=0.3, now=lambda: datetime(2026, 5, 2, tzinfo=UTC))
    assert "第 2 版" in editor.get("/models").text
    page = editor.get("/models/新闻/2").text
    assert 'class="confusion"' in page
    assert "right-5" in page
    assert "style=" not in page
    assert "留作评估" in editor.get("/models/新闻/2/mistakes").text
    words = editor.get("/models/新闻/2/words?label=体育").text
    assert any(word in words for word in WORDS["体育"].split())
    assert editor.post("/models/新闻/1/use", data=CONFIRM).status_code == 303
    assert store.corpora.active("新闻") == 1
    assert "无法启用" in editor.get(editor.post("/models/新闻/9/use", data=CONFIRM).headers["location"]).text
    assert editor.get("/models/新闻/9").status_code == 404
    editor.post("/models/新闻/2/use", data=CONFIRM)
    assert editor.post("/models/新闻/back", data=CONFIRM).status_code == 303
    assert "请先启用其他版本" in editor.get("/models/新闻/1/delete").text
    assert "请先启用其他版本" in editor.get(editor.post("/models/新闻/1/delete", data=CONFIRM).headers["location"]).text
    assert "可释放" in editor.get("/models/新闻/2/delete").text
    assert "已删除" in editor.get(editor.post("/models/新闻/2/delete", data=CONFIRM).headers["location"]).text
    assert [model.version for model in store.corpora.models("新闻")] == [1]
    assert editor.post("/models/新闻/2/delete", data=CONFIRM).status_code == 404
    assert store.corpora.active("新闻") == 1


@pytest.mark.slow
def test_training_job_stores_a_model(editor: httpx.Client, store: Store) -> None:
    fill_corpus(store)
    assert editor.post("/models/新闻/train", data={"algorithm": "no such"}).status_code == 400
    assert editor.post("/models/none/train", data={"algorithm": "linear"}).status_code == 404
    assert editor.post("/models/新闻/train", data={"algorithm": "linear"}).status_code == 303
    until = time.monotonic() + 600
    while 'data-state="running"' in (page := editor.get("/models/新闻").text) and time.monotonic() < until:
        time.sleep(0.3)
    assert 'data-state="done"' in page, page
    assert 'data-version="1"' in page
    assert store.corpora.active("新闻") == 1
    assert [entry.action for entry in editor.accounts.audit_log.entries()] == ["job.train"]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_cancelled_training_stores_nothing(editor: httpx.Client, store: Store) -> None:
    fill_corpus(store)
    editor.post("/models/新闻/train", data={"algorithm": "linear"})
    id = re.findall(r'id="job-(\w+)"', editor.get("/models/新闻").text)[0]
    editor.post(f"/jobs/{id}/cancel", data={"back": "/models/新闻"})
    assert 'data-state="cancelled"' in editor.get("/models/新闻").text
    time.sleep(1)
    assert store.corpora.models("新闻") == []
