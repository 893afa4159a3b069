"""Pages of alerts: creating, testing, previewing, editing, pausing and deleting them; alerts are private to their owner."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from factories import CHEAP
from starlette.datastructures import State

from newsportal.portal.account.alerts import TESTS, sender_thread
from newsportal.portal.context import Portal
from newsportal.services.accounts import Accounts, Right, Role, open_accounts
from newsportal.services.accounts.alerts import Alert, Message
from newsportal.sources import Sources
from newsportal.store.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

HOOK = {
    "channel": "webhook",
    "url": "https://hooks.example/geheim-4711",
    "about": "topic",
    "topic": "旅游",
    "when": "once",
    "per_hour": "6",
}


@pytest.fixture(scope="module")
def settings() -> Sources:
    return Sources.model_validate({"topics": [{"name": "旅游", "engines": ["bing_news"]}], "alerts": {"enabled": False}})


@pytest.fixture(scope="module")
def editor(serve: Any, store: Store, index: Any, settings: Sources) -> httpx.Client:
    client: httpx.Client = serve(store, index, settings, role="editor")
    return client


def create_alert(client: httpx.Client, **fields: str) -> str:
    answer = client.post("/alerts/new", data=HOOK | fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


def test_created_alert_is_shown_without_secret(editor: httpx.Client) -> None:
    id = create_alert(editor, name="旅游快讯", hours="8, 18", when="digest", quiet_from="22", quiet_to="7")
    page = editor.get(f"/alerts/{id}").text
    assert "旅游快讯" in page
    assert "geheim-4711" not in page + editor.get("/alerts").text
    assert re.search(r'name="hours"[^>]*value="8, 18"|value="8, 18"[^>]*name="hours"', page)
    assert "云岭峡谷步行观景桥" in page.partition('id="preview"')[2]
    accounts = editor.accounts  # type: ignore[attr-defined]
    (entry,) = [entry for entry in accounts.audit_log.entries(limit=50) if entry.action == "alert.make" and entry.subject == id]
    assert "geheim" not in str(entry)


def test_form_errors_are_beside_fields_and_input_is_kept(editor: httpx.Client) -> None:
    answer = editor.post("/alerts/new", data=HOOK | {"url": "ftp://x", "topic": "没有", "name": "我的提醒", "per_hour": "0"})
    assert answer.status_code == 422
    for field in ("url", "topic", "per_hour"):
        assert f'id="alert-{field}-error"' in answer.text
    assert 'value="我的提醒"' in answer.text


def test_preview_saves_nothing(editor: httpx.Client) -> None:
    before = len(editor.accounts.alerts.all())  # type: ignore[attr-defined]
    answer = editor.post("/alerts/new", data=HOOK | {"about": "search", "search": "观景桥", "then": "preview"})
    assert answer.status_code == 200
    assert "云岭峡谷步行观景桥" in answer.text.partition('id="preview"')[2]
    assert len(editor.accounts.alerts.all()) == before  # type: ignore[attr-defined]


def test_empty_secret_keeps_stored_secret(editor: httpx.Client) -> None:
    id = create_alert(editor)
    assert editor.post(f"/alerts/{id}", data=HOOK | {"url": "", "name": "新名字"}).status_code == 303
    alert = editor.accounts.alerts.alert(id)  # type: ignore[attr-defined]
    assert (alert.name, alert.fields["url"]) == ("新名字", HOOK["url"])


def test_briefing_alert_has_hours_and_optional_topic(editor: httpx.Client) -> None:
    form = editor.get("/alerts/new?about=briefing&briefing=旅游&channel=webhook").text
    assert re.search(r'value="briefing" checked', form)
    assert "<option selected>旅游</option>" in form.partition('name="briefing"')[2]
    id = create_alert(editor, about="briefing", briefing="旅游", hours="8, 18", when="once")
    page = editor.get(f"/alerts/{id}").text
    assert re.search(r'value="briefing" checked', page)
    assert 'value="8, 18"' in page
    assert "云岭峡谷步行观景桥" in page.partition('id="preview"')[2]
    invalid = editor.post("/alerts/new", data=HOOK | {"about": "briefing", "briefing": "无", "hours": ""})
    assert invalid.status_code == 422
    assert "alert-briefing-error" in invalid.text
    assert "alert-hours-error" in invalid.text
    assert "/alerts/new?about=briefing" in editor.get("/briefing").text
    data = editor.get("/api/v1/alerts").json()
    assert [(alert["about"], alert["subject"], alert["digest"]) for alert in data if alert["id"] == id] == [("briefing", "旅游", [8, 18])]


def test_alert_is_paused_resumed_and_deleted(editor: httpx.Client) -> None:
    id = create_alert(editor)
    alerts = editor.accounts.alerts  # type: ignore[attr-defined]
    editor.post(f"/alerts/{id}/on", data={"enabled": ""})
    assert not alerts.alert(id).enabled
    editor.post(f"/alerts/{id}/on", data={"enabled": "yes"})
    assert alerts.alert(id).enabled
    assert editor.get(f"/alerts/{id}/delete").status_code == 200
    assert editor.post(f"/alerts/{id}/delete", data={"sure": "yes"}).status_code == 303
    assert alerts.alert(id) is None


def test_alert_without_receiver_cannot_be_resumed(editor: httpx.Client) -> None:
    id, alerts = create_alert(editor), editor.accounts.alerts  # type: ignore[attr-defined]
    alerts.save(replace(alerts.alert(id), enabled=False, channel="push", fields={}))
    page = editor.post(f"/alerts/{id}/on", data={"enabled": "yes"}, follow_redirects=True)
    assert (str(page.url.path), "接收方已失效" in page.text) == (f"/alerts/{id}", True)
    answer = editor.post(f"/api/v1/alerts/{id}/resume", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "not-valid")
    assert not alerts.alert(id).enabled
    assert "未能送达" in editor.post(f"/alerts/{id}/test", data={"now": "yes"}, follow_redirects=True).text


def test_failed_test_message_shows_reason(editor: httpx.Client) -> None:
    id = create_alert(editor, url="http://127.0.0.1:9/geheim-4711")
    page = editor.post(f"/alerts/{id}/test", data={"now": "yes"}, follow_redirects=True).text
    assert "allow_private" in page
    assert "geheim" not in page


@pytest.mark.slow
def test_test_messages_share_one_limit_on_page_and_api(serve: Any, store: Store, index: Any, settings: Sources, newsroom: Any) -> None:
    reader: httpx.Client = serve(store, index, settings, role="reader")
    id = create_alert(reader, url="http://127.0.0.1:9/x")
    person = reader.accounts.people.by_name("reader 0")  # type: ignore[attr-defined]
    _, token = reader.accounts.tokens.add(person, "x", [Right.KEEP], now=newsroom.NOW)  # type: ignore[attr-defined]
    program = {"authorization": f"Bearer {token}"}
    for number in range(TESTS):
        if number % 2:
            assert "未能送达" in reader.post(f"/alerts/{id}/test", data={"now": "yes"}, follow_redirects=True).text
        else:
            assert reader.post(f"/api/v1/alerts/{id}/test", headers=program).status_code == 502
    assert "已达上限" in reader.post(f"/alerts/{id}/test", data={"now": "yes"}, follow_redirects=True).text
    refused = reader.post(f"/api/v1/alerts/{id}/test", headers=program)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too-many")
    assert int(refused.headers["retry-after"]) > 0


def test_rising_alert_has_hours_and_preview(editor: httpx.Client) -> None:
    assert "/alerts/new?about=rising" in editor.get("/rising").text
    form = editor.get("/alerts/new?about=rising&rising=旅游&channel=webhook").text
    assert re.search(r'value="rising" checked', form)
    assert "<option selected>旅游</option>" in form.partition('name="rising"')[2]
    assert 'value="8, 12, 16, 20"' in form
    id = create_alert(editor, about="rising", rising="旅游", hours="8, 12, 16, 20")
    page = editor.get(f"/alerts/{id}").text
    assert "<option selected>旅游</option>" in page.partition('name="rising"')[2]
    assert "过去 30 天本会发送的消息" in page
    assert f'href="/alerts/{id}?preview=yes#preview"' in page
    preview = editor.get(f"/alerts/{id}?preview=yes").text.partition('id="preview"')[2]
    assert "没有" in preview or "条消息" in preview
    assert "显示预览" not in preview
    assert editor.post("/alerts/new", data=HOOK | {"about": "rising", "rising": "无", "hours": ""}).status_code == 422


def test_preview_counts_messages_by_day(editor: httpx.Client) -> None:
    page = editor.get(f"/alerts/{create_alert(editor)}").text.partition('id="preview"')[2]
    assert re.search(r'每日明细.*?<time datetime="2026-05-\d\d">[^<]+</time> · \d+ 条消息', page, re.DOTALL)


def test_alerts_of_other_users_are_hidden(editor: httpx.Client, serve: Any, store: Store, index: Any, settings: Sources) -> None:
    id = create_alert(editor)
    other: httpx.Client = serve(store, index, settings, role="editor", accounts=editor.accounts)  # type: ignore[attr-defined]
    assert "geheim" not in other.get("/alerts").text
    for method, path in (
        ("GET", ""),
        ("POST", ""),
        ("POST", "/test"),
        ("POST", "/on"),
        ("POST", "/again"),
        ("GET", "/delete"),
        ("POST", "/delete"),
    ):
        assert other.request(method, f"/alerts/{id}{path}", **({"data": HOOK} if method == "POST" else {})).status_code == 404
    assert editor.accounts.alerts.alert(id) is not None  # type: ignore[attr-defined]


def test_readers_may_not_subscribe_to_operations(serve: Any, store: Store, index: Any, settings: Sources) -> None:
    reader: httpx.Client = serve(store, index, settings, role="reader")
    page = reader.get("/alerts/new?channel=webhook").text
    assert 'value="topic"' in page
    assert 'value="disk"' not in page
    assert reader.post("/alerts/new", data=HOOK | {"about": "disk"}).status_code == 422
    assert reader.post("/alerts/new", data=HOOK | {"channel": "apprise", "url": "json://169.254.169.254/"}).status_code == 422
    assert create_alert(reader)


def test_changed_alert_settings_apply_at_once(own_store: Store) -> None:
    newsroom_now = max(article.first_seen for article in own_store.all_articles()) + timedelta(days=1)
    with closing(open_accounts("sqlite://", hasher=CHEAP)) as accounts:
        person = accounts.people.add("editor", "correct horse battery staple", Role.EDITOR, now=newsroom_now)
        fields = {"url": "http://127.0.0.1:9/", "secret": ""}
        accounts.alerts.add(Alert("a1", person.id, "旅游", "topic", "旅游", "webhook", fields, newsroom_now, own_store.last_seq()))
        disabled = {"enabled": False}
        state = State({"portal": portal_with(own_store, accounts, newsroom_now, {"alerts": disabled})})
        sender = sender_thread(state)
        accounts.alerts.insert([Message("a1", "disk:x", "", "一条", newsroom_now, newsroom_now, newsroom_now)])
        sender.run_step()
        assert [message.state for message in accounts.alerts.messages("a1")] == ["waiting"]  # alerts are disabled
        state.portal = portal_with(own_store, accounts, newsroom_now, {})
        sender.run_step()
        assert accounts.alerts.messages("a1")[0].state in ("failed", "withdrawn")
        sender.stop()


def portal_with(store: Store, accounts: Accounts, now: datetime, settings: dict[str, Any]) -> Portal:
    return Portal(store, None, Sources.model_validate(settings), accounts, lambda: now)


def test_push_without_extra_names_the_remedy(editor: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    id, alerts = create_alert(editor), editor.accounts.alerts  # type: ignore[attr-defined]
    alerts.save(replace(alerts.alert(id), channel="push", fields={}))
    monkeypatch.setitem(sys.modules, "http_ece", None)
    for path in ("new", "new?channel=push", id):
        answer = editor.get(f"/alerts/{path}")
        assert (answer.status_code, "[push]" in answer.text, "data-push=" in answer.text) == (200, True, False)
    assert "/alerts/new?channel=push" not in editor.get("/alerts/new").text


def test_mail_without_server_names_the_remedy(editor: httpx.Client) -> None:
    assert "alerts.mail_server" in editor.get("/alerts/new").text
    assert editor.post("/alerts/new", data=HOOK | {"channel": "mail", "to": "a@b.cn"}).status_code == 422


def test_anonymous_is_redirected_to_login(serve: Any, store: Store, index: Any, settings: Sources) -> None:
    anonymous: httpx.Client = serve(store, index, settings)
    assert anonymous.get("/alerts").headers["location"].startswith("/login")
    assert anonymous.post("/alerts/new", data=HOOK, headers={"origin": str(anonymous.base_url)}).status_code in (303, 401)
    assert anonymous.accounts.alerts.all() == []  # type: ignore[attr-defined]
