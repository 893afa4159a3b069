"""Signing in: names cannot be probed, attempts are limited, sessions are new and expire; passwords and tokens of the own account."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.services.accounts import Right, Role
from newsportal.services.accounts.sessions import BOTH
from newsportal.store.store import Store

PASSWORD = "correct horse battery staple"


class Clock:
    """Clock set by a test."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(newsroom: ModuleType) -> Clock:
    return Clock(newsroom.NOW)


@pytest.fixture
def client(serve: Any, fresh: Store, clock: Clock) -> httpx.Client:
    client: httpx.Client = serve(fresh, now=clock)
    client.headers["origin"] = str(client.base_url)
    client.accounts.people.add("王编辑", PASSWORD, Role.EDITOR, now=clock())  # type: ignore[attr-defined]
    return client


def log_in(client: httpx.Client, name: str = "王编辑", password: str = PASSWORD, **more: str) -> httpx.Response:
    return client.post("/login", data={"name": name, "password": password, **more})


def status(client: httpx.Client, path: str, secret: str) -> int:
    """Return the status of a request with this session."""
    with httpx.Client(base_url=client.base_url, cookies={"session": secret}, timeout=600) as other:
        return other.get(path).status_code


def test_sign_in_redirects_back_and_sign_out_ends_session(client: httpx.Client) -> None:
    redirect = client.get("/sources?state=failing")
    assert redirect.status_code == 303
    assert redirect.headers["location"] == "/login?next=%2Fsources%3Fstate%3Dfailing"
    page = lxml_html.document_fromstring(client.get(redirect.headers["location"]).text)
    answer = log_in(client, next=page.xpath("//form[@action='/login']//input[@name='next']/@value")[0])
    assert (answer.status_code, answer.headers["location"]) == (303, "/sources?state=failing")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/sources").status_code == 200
    assert "no-store" in client.get("/latest").headers["cache-control"]
    secret = client.cookies["session"]
    assert client.post("/logout", data={"": ""}).status_code == 303
    assert status(client, "/sources", secret) == 303


def test_form_sent_after_the_session_ended_returns_to_its_page(client: httpx.Client) -> None:
    answer = client.post("/topics/save", data={"name": "桥"}, headers={"referer": f"{client.base_url}/topics/new?from=1"})
    assert answer.headers["location"] == "/login?next=%2Ftopics%2Fnew%3Ffrom%3D1&ended=1"
    page = lxml_html.document_fromstring(client.get(answer.headers["location"]).text)
    assert "刚才的内容没有保存" in page.xpath("string(//*[@role='alert'])")
    assert page.xpath("//form[@action='/login']//input[@name='next']/@value") == ["/topics/new?from=1"]
    elsewhere = client.post("/topics/save", data={"name": "桥"}, headers={"referer": "http://[/evil"})
    assert elsewhere.headers["location"] == "/login?next=%2F&ended=1"


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "javascript:alert(1)"])
def test_redirect_after_sign_in_stays_on_the_portal(client: httpx.Client, target: str) -> None:
    assert log_in(client, next=target).headers["location"] == "/"
    assert client.get("/login", params={"next": target}).headers["location"] == "/"


def test_unknown_name_and_wrong_password_are_indistinguishable(client: httpx.Client) -> None:
    answers = [log_in(client, name, "wrong password") for name in ("王编辑", "nobody")]
    assert [answer.status_code for answer in answers] == [403, 403]
    first, second = (re.sub(r"王编辑|nobody", "", answer.text) for answer in answers)
    assert first == second
    assert "用户名或密码不正确" in first
    assert "set-cookie" not in answers[0].headers


def test_sign_in_replaces_the_session(client: httpx.Client) -> None:
    client.cookies.set("session", "planted")
    first = log_in(client).headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert first != "planted"
    client.cookies.clear()
    client.cookies.set("session", first)
    assert status(client, "/account", first) == 200
    assert first not in log_in(client).headers["set-cookie"]
    assert status(client, "/account", first) == 303


def test_sign_in_attempts_are_limited(client: httpx.Client, clock: Clock) -> None:
    for _ in range(BOTH.free_attempts + 1):
        assert log_in(client, password="wrong password").status_code == 403
        clock.now += timedelta(seconds=1)
    answer = log_in(client)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert "秒后重试" in answer.text
    clock.now += timedelta(seconds=int(answer.headers["retry-after"]))
    assert log_in(client).status_code == 303


def test_password_change_ends_other_sessions(client: httpx.Client) -> None:
    log_in(client)
    other = client.cookies["session"]
    client.cookies.clear()
    log_in(client)
    refused = client.post("/account/password", data={"old": "not it, really", "new": "another one 123", "again": "another one 123"})
    assert (refused.status_code, "当前密码不正确" in refused.text) == (422, True)
    short = client.post("/account/password", data={"old": PASSWORD, "new": "短", "again": "短"})
    assert 'aria-describedby="new-error' in short.text
    for read, above in (
        ("/account/password", "/account"),
        ("/topics/save", "/topics"),
        ("/sources/feed:一/test", "/sources/feed:一"),
        ("/seen", "/"),
    ):
        again = client.get("/settings", params={"lang": "zh", "next": read}, headers={"accept": "text/html"}, follow_redirects=True)
        assert [unquote(answer.headers["location"]) for answer in again.history][:2] == [read, above], (
            "the language is changed beside the error"
        )
    apart = client.post("/account/password", data={"old": PASSWORD, "new": "another one 123", "again": "another one 124"})
    assert "两次输入的密码不一致" in apart.text
    answer = client.post("/account/password", data={"old": PASSWORD, "new": "another one 123", "again": "another one 123"})
    assert answer.headers["location"] == "/account"
    assert "密码已修改" in client.get("/account").text
    assert "密码已修改" not in client.get("/account").text  # shown only once
    assert status(client, "/account", other) == 303
    assert log_in(client, password="another one 123").status_code == 303


def test_token_is_shown_once_and_limited_to_own_rights(client: httpx.Client) -> None:
    log_in(client)
    more = client.post("/account/tokens", data={"token_name": "脚本", "rights": ["read", "administer"], "days": "30"})
    assert (more.status_code, "不能超出您自己的权限" in more.text, 'value="脚本"' in more.text) == (422, True, True)
    created = client.post("/account/tokens", data={"token_name": "脚本", "rights": ["read"], "days": "30"})
    secret = lxml_html.document_fromstring(created.text).xpath("//*[@data-secret]/text()")[0]
    assert secret not in client.get("/account").text
    [token] = client.accounts.tokens.of()  # type: ignore[attr-defined]
    assert token.rights == {Right.READ}
    with httpx.Client(base_url=client.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as program:
        assert program.get("/api/v1/me").json()["rights"] == ["read"]
        assert program.get("/account").status_code == 403
        assert program.post("/account/tokens", data={"token_name": "more", "rights": "read"}).status_code == 403
    client.post("/account/tokens/revoke", data={"token": token.id})
    assert client.get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_token_cannot_create_tokens(client: httpx.Client, clock: Clock) -> None:
    person = client.accounts.people.by_name("王编辑")  # type: ignore[attr-defined]
    _, secret = client.accounts.tokens.add(person, "all", person.rights, now=clock())  # type: ignore[attr-defined]
    with httpx.Client(base_url=client.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as program:
        assert program.get("/account").status_code == 403
        assert program.post("/account/tokens", data={"token_name": "more", "rights": "read"}).status_code == 403
        assert program.post("/account/password", data={"old": PASSWORD, "new": "x" * 12, "again": "x" * 12}).status_code == 403


def test_disabled_user_has_no_access(client: httpx.Client, clock: Clock) -> None:
    """Neither the session, nor tokens, nor the secret feed URL work."""
    accounts = client.accounts  # type: ignore[attr-defined]
    person = accounts.people.by_name("王编辑")
    _, secret = accounts.tokens.add(person, "all", person.rights, now=clock())
    log_in(client)
    feed = f"/starred/feed.rss?key={accounts.marks.feed_key(person.id)}"
    with httpx.Client(base_url=client.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as program:
        for locked, statuses in ((False, (200, 200, 200)), (True, (303, 401, 404)), (False, (303, 200, 200))):
            if locked:
                accounts.people.add("boss", PASSWORD, Role.ADMIN, now=clock())
            accounts.people.disable(person.id, locked)
            found = (client.get("/account"), program.get("/api/v1/me"), httpx.get(f"{client.base_url}{feed}", timeout=600))
            assert tuple(answer.status_code for answer in found) == statuses


def test_role_change_applies_to_the_next_request(client: httpx.Client, clock: Clock) -> None:
    accounts = client.accounts  # type: ignore[attr-defined]
    admin = accounts.people.add("boss", PASSWORD, Role.ADMIN, now=clock())
    accounts.people.add("other boss", PASSWORD, Role.ADMIN, now=clock())
    log_in(client, "boss")
    _, secret = accounts.tokens.add(admin, "all", admin.rights, now=clock())
    with httpx.Client(base_url=client.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as program:
        for role, status in ((Role.ADMIN, 200), (Role.READER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200)):
            accounts.people.set_role(admin.id, role)
            assert (client.get("/people").status_code, program.get("/api/v1/people").status_code) == (status, status)
