"""``/sources``: every state in both languages, escaped names, failing sources first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import empty_store
from lxml import html as lxml_html

from newsportal.items.visits import Visit
from newsportal.messages import Message, Value
from newsportal.messages.reasons import CAUSES
from newsportal.portal.desk.sources import bar_chart_path
from newsportal.portal.language import Clock, translations
from newsportal.schedule.health import STATES, Health
from newsportal.sources import load
from newsportal.sources.timing import ORDER

SOURCES = """\
feeds:
  - {name: "<b>好报", url: "https://good.example/feed"}
  - {name: 坏报, url: "https://bad.example/feed"}
  - {name: 搬家报, url: "https://old.example/feed"}
regions:
  - {name: 停报, prefix: "https://off.example/news/", enabled: false}
"""


@pytest.fixture(scope="module")
def client(serve: Any, newsroom: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("health")
    (folder / "sources.yaml").write_text(SOURCES, "utf-8")
    store = empty_store(folder / "store.db")
    for number in range(6):
        at = newsroom.NOW - number * timedelta(hours=5)
        read = Visit("", at, list_pages=1, entries=9, new=number + 1, stored=2)
        store.visits.add(replace(read, source="feed:<b>好报"))
        store.visits.add(Visit("feed:坏报", at, list_failed={"dns": 1}))
        store.visits.add(replace(read, source="feed:搬家报", moved="https://new.example/feed"))
    yield serve(store, settings=load(folder / "sources.yaml"), role="editor")
    store.close()


def _rows(page: str) -> dict[str, Any]:
    return {row.get("data-source"): row for row in lxml_html.document_fromstring(page).xpath("//tr[@data-source]")}


def test_failing_sources_come_first_with_reason_and_remedy(client: httpx.Client) -> None:
    page = client.get("/sources").text
    rows = _rows(page)
    assert [row.get("data-state") for row in rows.values()] == ["failing", "moved", "healthy", "off"]
    assert "域名没有对应的地址（dns）" in rows["feed:坏报"].text_content()
    assert "https://new.example/feed" in rows["feed:搬家报"].text_content()
    assert "<b>好报" not in page
    assert rows["feed:<b>好报"].xpath(".//path/@d")[0].startswith("M")


def test_state_filter_in_english(client: httpx.Client) -> None:
    page = client.get("/sources?state=failing&lang=en").text
    assert list(_rows(page)) == ["feed:坏报"]
    assert "6 visits in a row failed: its host name cannot be resolved (dns)." in page
    assert client.get("/sources?state=<script>").status_code == 200
    assert 'href="/desk"' in client.get("/").text
    assert 'href="/sources"' in client.get("/desk").text


@pytest.mark.parametrize(
    ("language", "once", "rest"), [("zh", "最近一次访问失败：", "拒绝访问"), ("en", "The last visit failed: ", "blocks the crawler")]
)
def test_single_failure_and_pause_have_reasons(language: str, once: str, rest: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    clock = Clock(now, UTC, language, translations(language))
    failing = Health("failing", "dns", values={"visits": 1, "reason": "dns"})
    assert clock.says(failing.reason()).startswith(once)
    assert str(failing.reason()).startswith("The last visit failed: ")
    resting = Health("resting", values={"until": now, "why": Message("cause.blocked")})
    assert rest in clock.says(resting.reason())
    assert "2026-03-01 00:00" in clock.says(resting.reason())


def test_every_state_and_cause_is_translated() -> None:
    assert set(ORDER) == set(STATES)
    now = datetime(2026, 3, 1, tzinfo=UTC)
    span = {"silence": 8e5, "usual": 4e3, "longest": 1e5}
    values: dict[str, Value] = dict.fromkeys(("visits", "days", "wait", "reason", "url", "bad", "garbled", "repeats"), "x")
    values |= {"until": now, **span}
    resting: dict[str, Value] = {"why": Message("cause.busy")}
    for language in ("zh", "en"):
        clock = Clock(now, UTC, language, translations(language))
        for state in STATES:
            pages = {} if state in ("failing", "quarantined") else {"pages": 20}
            pages |= resting if state == "resting" else {}
            for cause in set(CAUSES.values()) if not pages else [None]:
                reason = clock.says(Health(state, cause, values={**values, **pages}).reason())
                assert reason
                assert "%(" not in reason
                assert "health." not in reason


def test_empty_store_and_missing_file_show_help(serve: Any, tmp_path: Path) -> None:
    store = empty_store(tmp_path / "empty.db")
    assert "newsportal source add" in serve(store, role="editor").get("/sources").text
    store.close()


def test_daily_line_path() -> None:
    assert bar_chart_path((0, 0)) == ""
    assert bar_chart_path((1, 0, 2)) == "M0 16v-8h3v8zM8 16v-16h3v16z"


@pytest.fixture
def editable(serve: Any, tmp_path: Path) -> Iterator[tuple[httpx.Client, Path]]:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES.replace("feeds:", "# ours\nfeeds:"), "utf-8")
    store = empty_store(tmp_path / "store.db")
    yield serve(store, settings=load(path), role="editor", reread_every=0), path
    store.close()


def test_several_sources_are_changed_and_undone(editable: tuple[httpx.Client, Path]) -> None:
    client, path = editable
    before = path.read_text("utf-8")
    page = lxml_html.document_fromstring(client.get("/sources?sort=name").text)
    assert len(page.xpath("//input[@name='key'][@form='bulk']")) == 4
    (form,) = page.xpath("//form[@id='bulk']")
    sent = {name: value for name, value in form.form_values() if name != "key"}
    two = ["feed:坏报", "region:停报"]

    def change(**more: Any) -> str:
        answer = client.post("/sources/many", data={**sent, "key": two, **more})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/sources?sort=name", "filter and order are kept"
        return client.get(answer.headers["location"]).text

    assert "已停用 2 个来源" in change(action="disable")
    assert [feed.enabled for feed in load(path).feeds] == [True, False, True]
    assert "已更改 2 个来源的访问间隔" in change(action="interval", interval="30")
    assert (load(path).feeds[1].interval, load(path).regions[0].interval, load(path).feeds[0].interval) == (30, 30, None)
    assert "没有任何改动" in change(action="interval", interval="soon")
    removed = change(action="remove")
    assert [feed.name for feed in load(path).feeds] == ["<b>好报", "搬家报"]
    assert "# ours" in path.read_text("utf-8")
    (undo,) = lxml_html.document_fromstring(removed).xpath("//form[starts-with(@action, '/sources/undo/')]/@action")
    client.post(undo, data={"go": "1"})
    assert load(path).feeds[1].interval == 30
    change(action="interval", interval="")
    change(action="enable")
    assert [source.enabled for source in (*load(path).feeds, *load(path).regions)] == [True] * 4
    assert path.read_text("utf-8") == before.replace(", enabled: false", "")
    assert "请至少选择一个来源" in change(action="enable", key=[])
    assert client.post("/sources/many", data={"action": "burn", "key": two}).status_code == 400
    assert client.accounts.audit_log.entries()[0].action == "sources.enable"  # type: ignore[attr-defined]


def test_bulk_change_of_filtered_sources_on_page_and_api(editable: tuple[httpx.Client, Path]) -> None:
    client, path = editable
    client.post("/sources/many", data={"action": "disable", "all": "yes", "kind": "feed", "q": "example"})
    assert [feed.enabled for feed in load(path).feeds] == [False] * 3
    answer = client.post("/api/v1/sources/many", json={"keys": ["feed:坏报", "feed:搬家报"], "action": "enable"})
    assert (answer.json()["number"], answer.json()["changed"]) == (2, True)
    assert client.post("/api/v1/sources/many", json={"keys": ["feed:none"], "action": "remove"}).status_code == 404
    assert [source["name"] for source in client.get("/api/v1/sources?kind=feed&sort=name").json()["items"]] == ["<b>好报", "坏报", "搬家报"]
