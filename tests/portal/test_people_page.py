"""``/people`` and ``/audit``: users, their roles, and the log of changes; the last administrator cannot be removed."""

from __future__ import annotations

from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import httpx
import pytest
from factories import article
from lxml import html as lxml_html

from newsportal.services.accounts import Right
from newsportal.store.store import Store


@pytest.fixture
def client(serve: Any, fresh: Store) -> httpx.Client:
    client: httpx.Client = serve(fresh, role="admin")
    return client


def rows(client: httpx.Client) -> dict[str, Any]:
    return {row.get("data-person"): row for row in lxml_html.document_fromstring(client.get("/people").text).xpath("//tr[@data-person]")}


def id_of(client: httpx.Client, name: str) -> str:
    found: str = client.accounts.people.by_name(name).id  # type: ignore[attr-defined]
    return found


def test_added_user_signs_in_with_shown_password(client: httpx.Client) -> None:
    page = lxml_html.document_fromstring(client.post("/people", data={"name": "李读者", "role": "reader"}).text)
    [password] = page.xpath("//*[@data-secret]/text()")
    assert "李读者" in rows(client)
    with httpx.Client(base_url=client.base_url, headers={"origin": str(client.base_url)}, timeout=600) as other:
        assert other.post("/login", data={"name": "李读者", "password": password}).status_code == 303
        assert other.get("/people").status_code == 403
        assert other.get("/account").status_code == 200


def test_default_role_is_reader(client: httpx.Client) -> None:
    page = lxml_html.document_fromstring(client.get("/people").text)
    assert page.xpath("//select[@id='role']/option[@selected]/@value") == ["reader"]


def test_sign_in_link_and_user_menu_are_on_every_page(client: httpx.Client) -> None:
    with httpx.Client(base_url=client.base_url, timeout=600) as anonymous:
        page = lxml_html.document_fromstring(anonymous.get("/latest").text)
    assert page.xpath("//header//a[@class='sign-in']/@href") == ["/login?next=/latest"]
    menu = lxml_html.document_fromstring(client.get("/").text).xpath("//header//details[summary[@class='user-name']]//a/@href")
    assert {"/starred", "/searches", "/alerts", "/settings", "/account", "/desk"} <= set(menu)


@pytest.mark.parametrize("name", ["", "<script>alert(1)</script>", "a" * 100, "两 \u3000格", "x\x00y", "..", "ADMIN 0"])
def test_invalid_name_is_reported_beside_the_field(client: httpx.Client, name: str) -> None:
    answer = client.post("/people", data={"name": name, "role": "reader"})
    assert answer.status_code == 422
    assert 'id="name-error"' in answer.text
    assert "<script>alert" not in answer.text
    assert len(rows(client)) == 1


def test_role_changes_and_last_administrator_stays(client: httpx.Client) -> None:
    client.post("/people", data={"name": "乙", "role": "reader"})
    other, own_id = id_of(client, "乙"), id_of(client, "admin 0")
    for path in (f"/people/{own_id}/disable", f"/people/{own_id}/remove"):
        answer = client.post(path, data={"": ""})
        assert (answer.status_code, "目前没有其他管理员" in answer.text) == (422, True)
    assert client.post(f"/people/{own_id}/role", data={"role": "reader"}).status_code == 422
    assert client.post(f"/people/{other}/role", data={"role": "king"}).status_code == 400
    assert client.post(f"/people/{other}/role", data={"role": "admin"}).status_code == 303
    assert client.post(f"/people/{own_id}/role", data={"role": "reader"}).status_code == 303
    assert client.get("/people").status_code == 403


def test_user_is_disabled_enabled_and_removed(client: httpx.Client) -> None:
    client.post("/people", data={"name": "丙", "role": "editor"})
    other = id_of(client, "丙")
    assert client.post(f"/people/{other}/disable", data={"": ""}).status_code == 303
    assert "已停用" in rows(client)["丙"].text_content()
    client.post(f"/people/{other}/enable", data={"": ""})
    assert "无法恢复" in client.get(f"/people/{other}/remove").text
    assert "丙" in rows(client)
    client.post(f"/people/{other}/remove", data={"": ""})
    assert "丙" not in rows(client)
    assert client.post(f"/people/{other}/disable", data={"": ""}).status_code == 404


def test_audit_log_has_changes_without_secrets(client: httpx.Client) -> None:
    page = client.post("/people", data={"name": "丁", "role": "editor"}).text
    [password] = lxml_html.document_fromstring(page).xpath("//*[@data-secret]/text()")
    client.post(f"/people/{id_of(client, '丁')}/role", data={"role": "reader"})
    text = client.get("/audit").text
    rows = lxml_html.document_fromstring(text).xpath("//tr[@data-entry]")
    entries = [" ".join(row.text_content().split()) for row in rows]
    assert [row.xpath(".//span/@title") for row in rows] == [["person.role"], ["person.add"]]
    assert ["角色：读者" in entries[0], "角色：编辑" in entries[1]] == [True, True]
    assert "admin 0" in entries[0]
    assert password not in text
    narrowed = client.get("/audit", params={"action": "person.add", "person": "admin 0", "days": "1"}).text
    assert len(lxml_html.document_fromstring(narrowed).xpath("//tr[@data-entry]")) == 1
    assert "没有符合条件的记录" in client.get("/audit", params={"person": "nobody"}).text


@pytest.mark.parametrize("name", ["person", "action", "days", "before"])
@pytest.mark.parametrize("value", ["' OR 1=1 --", "9" * 40, "-1", "\x00", "%", "<script>alert(1)</script>", "²"])
def test_filters_are_not_interpreted_as_sql(client: httpx.Client, name: str, value: str) -> None:
    answer = client.get("/audit", params={name: value})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_audit_details_are_readable(client: httpx.Client) -> None:
    person, trail = None, client.accounts.audit_log  # type: ignore[attr-defined]
    now = datetime(2026, 5, 20, tzinfo=UTC)
    trail.add(person, "topic.add", "港口", {"before": None, "any": "渡轮\n码头", "must": ""}, now=now)
    trail.add(person, "source.change", "feed:甲", {"interval": None, "enabled": False, "topics": ["港口", "航运"]}, now=now)
    trail.add(person, "article.fold", "a", {"from": "b", "to": "c"}, now=now)
    trail.add(person, "alert.add", "a", {"about": "topic", "of": "港口", "channel": "webhook", "role": "reader"}, now=now)
    page = lxml_html.document_fromstring(client.get("/audit").text)
    alert, folded, changed, added = (row.xpath("./td[@class='text-cell']/small/text()") for row in page.xpath("//tr[@data-entry]")[:4])
    assert alert == ["内容：话题", "对象：港口", "发送渠道：webhook", "角色：读者"]
    assert folded == ["来自：b", "去向：c"]
    assert added == ["任一关键词：渡轮、码头"]
    assert changed == ["访问间隔（分钟）：未设置", "启用：否", "话题：港口、航运"]
    assert not [word for word in ("None", "['", "False") if word in page.xpath("//table")[0].text_content()]


def test_changed_articles_are_linked_in_the_audit_log(client: httpx.Client, fresh: Store) -> None:
    added = fresh.add(article("甲", title="港口今天开航"), now=datetime(2026, 5, 20, tzinfo=UTC))
    for id in (added.id, "gone"):
        client.accounts.audit_log.add(None, "article.hide", id, {}, now=datetime(2026, 5, 20, tzinfo=UTC))  # type: ignore[attr-defined]
    page = lxml_html.document_fromstring(client.get("/audit").text)
    assert page.xpath("//td[@class='text-cell']/a/@href") == [f"/story/{added.story_id}/{added.id}"]
    assert [cell.text_content() for cell in page.xpath("//td[@class='text-cell']")] == ["gone", "港口今天开航"]


def test_sources_are_named_and_linked_in_the_audit_log(serve: Any, fresh: Store, newsroom: ModuleType) -> None:
    sources = newsroom.settings(feeds=[{"name": "甲报", "url": "https://a.example/feed"}])
    client = serve(fresh, settings=sources, role="admin")
    for key in ("feed:甲报", "feed:乙报"):
        client.accounts.audit_log.add(None, "source.run", key, {}, now=datetime(2026, 5, 20, tzinfo=UTC))
    page = lxml_html.document_fromstring(client.get("/audit").text)
    assert [cell.text_content() for cell in page.xpath("//td[@class='text-cell']")] == ["feed:乙报", "甲报（订阅源）"]
    assert page.xpath("//td[@class='text-cell']/a/@href") == ["/sources/feed:%E7%94%B2%E6%8A%A5"]


def test_desk_without_open_tasks(client: httpx.Client) -> None:
    assert "目前没有待处理的事项" in client.get("/desk").text


def test_token_cannot_create_administrators_or_set_passwords(client: httpx.Client) -> None:
    created = client.post("/api/v1/people", json={"name": "己", "role": "reader"})
    assert created.status_code == 201
    admin, now = client.accounts.people.all()[0], datetime(2026, 5, 20, tzinfo=UTC)  # type: ignore[attr-defined]
    _, token = client.accounts.tokens.add(admin, "script", {Right.READ, Right.ADMINISTER}, now=now)  # type: ignore[attr-defined]
    with httpx.Client(base_url=client.base_url, headers={"authorization": f"Bearer {token}"}, timeout=600) as program:
        assert program.post("/api/v1/people", json={"name": "庚", "role": "editor"}).status_code == 201
        for refused in (
            program.post("/api/v1/people", json={"name": "辛", "role": "admin"}),
            program.post("/api/v1/people/己/password", json={}),
        ):
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not-allowed")


def test_api_manages_users(client: httpx.Client) -> None:
    created = client.post("/api/v1/people", json={"name": "戊", "role": "reader"})
    assert created.status_code == 201
    assert client.post("/api/v1/people", json={"name": "戊"}).json()["error"]["code"] == "name-taken"
    assert client.post("/api/v1/people", json={"name": "a\nb"}).status_code == 422
    with httpx.Client(base_url=client.base_url, headers={"origin": str(client.base_url)}, timeout=600) as other:
        assert other.post("/login", data={"name": "戊", "password": created.json()["password"]}).status_code == 303
        assert client.patch("/api/v1/people/戊", json={"role": "editor", "disabled": True}).json()["disabled"] is True
        assert other.get("/account").status_code == 303
    assert client.patch("/api/v1/people/admin 0", json={"role": "reader"}).json()["error"]["code"] == "last-administrator"
    assert client.post("/api/v1/people/戊/password", json={}).json()["password"] != created.json()["password"]
    assert client.delete("/api/v1/people/戊").status_code == 204
    assert client.delete("/api/v1/people/戊").status_code == 404
    assert [person["name"] for person in client.get("/api/v1/people").json()] == ["admin 0"]
    page = client.get("/api/v1/audit", params={"limit": 2}).json()
    assert [entry["action"] for entry in page["items"]] == ["person.remove", "person.password"]
    rest = client.get("/api/v1/audit", params={"cursor": page["next"], "action": "person"}).json()
    assert [entry["action"] for entry in rest["items"]] == ["person.disable", "person.role", "person.add"]
    assert client.get("/api/v1/audit", params={"cursor": "x"}).json()["error"]["code"] == "invalid-cursor"
