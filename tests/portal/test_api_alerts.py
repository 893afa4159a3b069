"""API of alerts and of the monitor's figures: the same rights as the pages, no secrets in answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from newsportal.services.daily import DailySums
from newsportal.sources import Sources
from newsportal.store.store import Store

ALERT = {
    "about": "topic",
    "subject": "旅游",
    "channel": "webhook",
    "fields": {"url": "https://hooks.example/geheim-4711"},
    "digest": [8, 18],
}


@pytest.fixture(scope="module")
def daily(store: Store, ids: dict[str, str]) -> Iterator[DailySums]:
    with closing(DailySums("sqlite://", ZoneInfo("Asia/Shanghai"))) as sums:
        sums.follow(store)
        yield sums


@pytest.fixture(scope="module")
def editor(serve: Any, store: Store, index: Any, daily: DailySums) -> httpx.Client:
    settings = Sources.model_validate({"topics": [{"name": "旅游", "engines": ["bing_news"]}], "alerts": {"enabled": False}})
    client: httpx.Client = serve(store, index, settings, role="editor", daily=daily)
    return client


def test_alert_lifecycle(editor: httpx.Client) -> None:
    created = editor.post("/api/v1/alerts", json=ALERT)
    assert created.status_code == 201, created.text
    id = created.json()["id"]
    assert created.json()["name"] == "旅游"
    changed = editor.put(f"/api/v1/alerts/{id}", json=ALERT | {"fields": {}, "digest": [], "name": "快讯"})
    assert changed.json()["digest"] == []
    assert editor.accounts.alerts.alert(id).fields["url"] == ALERT["fields"]["url"]  # type: ignore[attr-defined,index]
    planned = editor.get(f"/api/v1/alerts/{id}/preview").json()
    assert any("云岭峡谷步行观景桥今日开放，首日八千张门票全部约满" in message["stories"] for message in planned)
    assert editor.get(f"/api/v1/alerts/{id}/messages").json() == []
    assert editor.post(f"/api/v1/alerts/{id}/off", json={}).json()["enabled"] is False
    assert editor.post(f"/api/v1/alerts/{id}/again", json={}).json() == {"waiting": 0}
    assert editor.post("/api/v1/alerts/none/again", json={}).status_code == 404
    assert editor.post(f"/api/v1/alerts/{id}/resume", json={}).json()["enabled"]
    everything = (
        "".join(editor.get(path).text for path in ("/api/v1/alerts", f"/api/v1/alerts/{id}/messages")) + created.text + changed.text
    )
    assert "geheim" not in everything
    assert editor.request("DELETE", f"/api/v1/alerts/{id}", json={}).status_code == 204
    assert editor.get("/api/v1/alerts").json() == []


@pytest.mark.parametrize(
    "invalid", [{"subject": "没有"}, {"channel": "pigeon"}, {"digest": [25]}, {"per_hour": 0}, {"quiet": [1, 99]}, {"channel": "apprise"}]
)
def test_invalid_alert_is_refused(editor: httpx.Client, invalid: dict[str, Any]) -> None:
    answer = editor.post("/api/v1/alerts", json=ALERT | invalid)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "not-valid"
    assert "geheim" not in answer.text


def test_monitor_figures(editor: httpx.Client, store: Store) -> None:
    days = editor.get("/api/v1/monitor/days?days=365").json()
    assert sum(day["articles"] for day in days) == store.tally().articles
    assert editor.get("/api/v1/monitor/top?kind=topic&days=365").json()[0]["name"] == "旅游"
    assert editor.get("/api/v1/monitor/days?kind=topic&name=旅游&days=365").status_code == 200
    assert any(row["source"] == "engine:baidu_news" for row in editor.get("/api/v1/monitor/crawled").json())
    assert editor.get("/api/v1/monitor/failures").json()
    assert editor.get("/api/v1/monitor/machine").json()["memory"] > 0
    assert editor.get("/api/v1/monitor/top?kind=nothing").status_code == 422


def test_required_rights(serve: Any, store: Store, index: Any) -> None:
    anonymous, reader = serve(store, index), serve(store, index, role="reader")
    for path in ("/api/v1/alerts", "/api/v1/monitor/days", "/api/v1/monitor/machine"):
        assert anonymous.get(path).status_code == 401
    assert reader.get("/api/v1/alerts").status_code == 200
    assert reader.get("/api/v1/monitor/machine").status_code == 403
