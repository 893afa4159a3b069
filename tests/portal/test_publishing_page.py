"""``/publishing``: the outbox in both languages, escaped reasons, and retrying of failed articles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import article, empty_store, invented
from lxml import html as lxml_html

from newsportal.sources import load
from newsportal.store.outbox import OutboxEntry, Result
from newsportal.store.store import Store

SOURCES = "publish:\n- {name: <b>站点, to: 'folder:out'}\n- {name: 空的, to: 'folder:out2'}\n- {name: 文档, to: 'mongodb://u:geheim@h/d'}\n"
SAME_ORIGIN = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def store(tmp_path: Path, newsroom: ModuleType) -> Iterator[Store]:
    opened = empty_store(tmp_path / "store.db")
    outbox, now = opened.outbox, newsroom.NOW
    outbox.follow("<b>站点", ["aa", "bb", "cc"], [], after=0, up_to=1, now=now)
    entries = {entry.article_id: entry for entry in outbox.lease_due("<b>站点", "w", now=now, seconds=60, limit=2)}
    outbox.settle(entries["aa"], Result("failed", "标题 <script> 太长"), now=now)
    outbox.settle(entries["bb"], Result("done", None, 1, "d", "7"), now=now)
    outbox.follow("旧的", [], [], after=0, up_to=1, now=now)
    for number in (1, 2):
        opened.add(article(str(number), text=invented(number)), now=now)
    yield opened
    opened.close()


@pytest.fixture
def client(serve: Any, store: Store, tmp_path: Path) -> httpx.Client:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    client: httpx.Client = serve(store, settings=load(tmp_path / "sources.yaml"), role="editor")
    return client


@pytest.mark.parametrize(("language", "expected"), [("zh", "失败的文章"), ("en", "What failed")])
def test_counts_and_failure_reasons_are_shown(client: httpx.Client, store: Store, language: str, expected: str) -> None:
    text = client.get(f"/publishing?lang={language}").text
    page = lxml_html.document_fromstring(text)
    rows = {
        row.get("data-target"): [cell.text_content() for cell in row.xpath("./td[@class='n']")] for row in page.xpath("//tr[@data-target]")
    }
    last = store.last_seq()
    none, behind = ["0"] * 5, [str(last), str(last - 1)]
    assert rows == {
        "<b>站点": ["1", "0", "1", "1", "0", behind[1]], "空的": [*none, behind[0]], "文档": [*none, behind[0]], "旧的": [*none, behind[1]],
    }  # fmt: skip
    assert expected in text
    assert "mongodb://u:***@h/d" in text
    assert "geheim" not in text
    (failed,) = page.xpath("//tr[@data-failed]")
    assert "标题 <script> 太长" in failed.text_content()
    assert "<script> 太长" not in text
    assert page.xpath("//tr[@data-waiting]")
    assert page.xpath("//tr[@data-done]")


def test_metrics_count_unread_changes_of_targets(client: httpx.Client, store: Store) -> None:
    last, lines = store.last_seq(), client.get("/metrics").text.splitlines()
    expected = {"<b>站点": last - 1, "空的": last, "文档": last}  # not of a target that sources.yaml no longer has
    assert [line for line in lines if line.startswith("newsportal_outbox_behind_changes{")] == [
        f'newsportal_outbox_behind_changes{{target="{name}"}} {number:.1f}' for name, number in expected.items()
    ]


def test_failed_article_is_retried(client: httpx.Client, store: Store) -> None:
    other = client.post("/publishing/again", content="target=x&article=aa", headers=SAME_ORIGIN, follow_redirects=False)
    assert other.status_code == 303
    assert [entry.article_id for entry in store.outbox.entries(states=["failed"])] == ["aa"]
    client.post("/publishing/again", content="article=aa", headers=SAME_ORIGIN)
    assert store.outbox.entries(states=["failed"]) == []
    assert store.outbox.counts()["<b>站点"]["waiting"] == 2


def test_cross_site_request_is_refused(client: httpx.Client, store: Store) -> None:
    answer = client.post("/publishing/again", content="", headers={**SAME_ORIGIN, "sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert len(store.outbox.entries(states=["failed"])) == 1


def test_desk_links_to_publishing_and_empty_page_helps(client: httpx.Client, serve: Any, fresh: Store) -> None:
    assert 'href="/publishing"' in client.get("/sources").text
    bare = serve(fresh, role="editor")
    assert "还没有发布目标" in bare.get("/publishing").text


FORM = {"content-type": SAME_ORIGIN["content-type"]}


def entry(store: Store, id: str, target: str = "<b>站点") -> OutboxEntry:
    return store.outbox.of(target, [id])[id]


def test_article_is_published_and_withdrawn(serve: Any, own_store: Store, tmp_path: Path, newsroom: ModuleType) -> None:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    client = serve(own_store, settings=load(tmp_path / "sources.yaml"), role="editor")
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    page = lxml_html.document_fromstring(client.get(f"/publishing?article={id}").text)
    assert page.xpath("//form[@action='/publishing/ask']//input[@name='target']/@value") == ["<b>站点", "空的", "文档"], (
        "not published anywhere yet"
    )
    answer = client.post("/publishing/ask", data={"target": "空的", "article": id, "action": "publish"})
    assert answer.status_code == 303
    assert (entry(own_store, id, "空的").state, entry(own_store, id, "空的").action) == ("waiting", "publish")
    confirmed = lxml_html.document_fromstring(client.get(answer.headers["location"]).text)
    (undo,) = confirmed.xpath("//aside[contains(@class, 'flash')]//form/@action")
    client.post(undo, headers=FORM)
    assert entry(own_store, id, "空的").action == "withdraw"
    log = client.accounts.audit_log.entries()
    assert [(row.action, row.subject) for row in log] == [("publishing.ask", id)] * 2
    for invalid in (
        {"target": "nowhere", "action": "publish"},
        {"target": "空的", "action": "burnt"},
        {"target": "<b>站点", "action": "withdraw"},
    ):
        assert client.post("/publishing/ask", data={"article": id, **invalid}).status_code == 404, invalid
    assert client.post("/publishing/ask", data={"target": "空的", "article": "none", "action": "publish"}).status_code == 404


def test_dry_run_publishes_nothing(serve: Any, own_store: Store, tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text(SOURCES, "utf-8")
    (tmp_path / "out").mkdir()
    client = serve(own_store, settings=load(tmp_path / "sources.yaml"), role="editor")
    id = own_store.ids["bridge"]  # type: ignore[attr-defined]
    page = lxml_html.document_fromstring(client.get("/publishing/trial", params={"target": "<b>站点", "article": id}).text)
    (section,) = page.xpath("//*[@data-trial]")
    assert section.get("data-trial") == id
    assert "云岭峡谷" in section.text_content()
    many = lxml_html.document_fromstring(client.get("/publishing/trial", params={"target": "<b>站点"}).text)
    assert len(many.xpath("//*[@data-trial]")) > 1
    assert list((tmp_path / "out").rglob("*.*")) == []
    assert own_store.outbox.counts() == {}
    assert client.get("/publishing/trial", params={"target": "nowhere"}).status_code == 404


@pytest.mark.parametrize("state", ["failed", "waiting", "done", "withdrawn", "nonsense"])
def test_lists_are_filtered_by_state(client: httpx.Client, state: str) -> None:
    page = lxml_html.document_fromstring(client.get("/publishing", params={"state": state}).text)
    states = {name for name in ("failed", "waiting", "done", "withdrawn") if page.xpath(f"//tr[@data-{name}]")}
    assert states == ({state} if state in ("failed", "waiting", "done") else set())
    assert not lxml_html.document_fromstring(client.get("/publishing?target=旧的").text).xpath("//tr[@data-failed]")


def test_publishing_requires_an_editor(serve: Any, store: Store) -> None:
    client = serve(store, role="reader")
    assert client.get("/publishing").status_code == 403
    assert client.post("/publishing/ask", data={"target": "<b>站点", "article": "bb", "action": "withdraw"}).status_code == 403
    assert client.get("/publishing/trial?target=x").status_code == 403
    assert entry(store, "bb").action == "publish"
