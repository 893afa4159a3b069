"""``/publishing``: the queue in both languages, reasons escaped, and a button that lets what failed wait anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.sources import load
from newsportal.storage import open_store
from newsportal.storage.base import Store
from newsportal.storage.outbox import Result

SOURCES = "publish:\n- {name: <b>站点, to: 'folder:out'}\n- {name: 空的, to: 'folder:out2'}\n"
OWN = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def store(tmp_path: Path, newsroom: ModuleType) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    outbox, now = opened.outbox, newsroom.NOW
    outbox.follow("<b>站点", ["aa", "bb", "cc"], [], after=0, upto=1, now=now)
    held = {entry.article_id: entry for entry in outbox.take("<b>站点", "w", now=now, seconds=60, limit=2)}
    outbox.settle(held["aa"], Result("failed", "标题 <script> 太长"), now=now)
    outbox.settle(held["bb"], Result("done", None, 1, "d", "7"), now=now)
    outbox.follow("旧的", [], [], after=0, upto=1, now=now)
    yield opened
    opened.close()


@pytest.fixture
def client(serve: Any, store: Store, tmp_path: Path) -> httpx.Client:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    found: httpx.Client = serve(store, settings=load(tmp_path / "sources.yaml"), role="editor")
    return found


@pytest.mark.parametrize(("language", "said"), [("zh", "失败的文章"), ("en", "What failed")])
def test_counts_and_reasons_are_shown(client: httpx.Client, language: str, said: str) -> None:
    text = client.get(f"/publishing?lang={language}").text
    page = lxml_html.document_fromstring(text)
    rows = {row.get("data-target"): [cell.text_content() for cell in row.xpath("./td")] for row in page.xpath("//tr[@data-target]")}
    assert rows == {"<b>站点": ["1", "0", "1", "1", "0"], "空的": ["0"] * 5, "旧的": ["0"] * 5}
    assert said in text
    (failed,) = page.xpath("//tr[@data-failed]")
    assert "标题 <script> 太长" in failed.text_content()
    assert "<script> 太长" not in text
    assert page.xpath("//tr[@data-waiting]")
    assert page.xpath("//tr[@data-done]")


def test_what_failed_waits_anew(client: httpx.Client, store: Store) -> None:
    other = client.post("/publishing/again", content="target=x&article=aa", headers=OWN, follow_redirects=False)
    assert other.status_code == 303
    assert [entry.article_id for entry in store.outbox.entries(states=["failed"])] == ["aa"]
    client.post("/publishing/again", content="article=aa", headers=OWN)
    assert store.outbox.entries(states=["failed"]) == []
    assert store.outbox.counts()["<b>站点"]["waiting"] == 2


def test_only_our_own_pages_may_ask(client: httpx.Client, store: Store) -> None:
    answer = client.post("/publishing/again", content="", headers={**OWN, "sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert len(store.outbox.entries(states=["failed"])) == 1


def test_the_monitor_leads_there_only_where_something_is_published(client: httpx.Client, serve: Any, fresh: Store) -> None:
    assert 'href="/publishing"' in client.get("/monitor").text
    assert 'href="/publishing"' in client.get("/sources").text
    bare = serve(fresh, role="editor")
    assert 'href="/publishing"' not in bare.get("/monitor").text
    assert "newsportal publish check" in bare.get("/publishing").text
