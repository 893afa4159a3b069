"""Proxies, tokens and request bodies (threat group F): headers of configured proxies only, tokens without cookies, size limits by path."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from newsportal.portal.request_body import FILES, MAX_BODY, MAX_FILE, MAX_TEXT, body_limit
from newsportal.services.accounts import Right, Role
from newsportal.store.store import Store

PASSWORD = "correct horse battery staple"
HTTPS = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}


def portal(serve: Any, store: Store, newsroom: Any, **options: Any) -> httpx.Client:
    client: httpx.Client = serve(store, settings=newsroom.settings(portal=options))
    client.headers["origin"] = str(client.base_url)
    client.accounts.people.add("boss", PASSWORD, Role.ADMIN, now=newsroom.NOW)  # type: ignore[attr-defined]
    return client


def test_configured_proxy_sets_client_and_scheme(serve: Any, fresh: Store, newsroom: Any) -> None:
    client = portal(serve, fresh, newsroom, proxies=("127.0.0.0/8",))
    headers = {"origin": str(client.base_url).rstrip("/").replace("http:", "https:")}
    answer = client.post("/login", data={"name": "boss", "password": PASSWORD}, headers={**HTTPS, **headers})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-session=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    [session] = client.accounts.sessions.of(client.accounts.people.by_name("boss").id, now=newsroom.NOW)  # type: ignore[attr-defined]
    assert session.address == "203.0.113.9"
    secret = cookie.partition("=")[2].partition(";")[0]
    assert client.get("/people", headers={**HTTPS, "cookie": f"__Host-session={secret}"}).status_code == 200
    assert client.get("/people", headers={**HTTPS, "cookie": f"session={secret}"}).status_code == 303  # settable by any page of the host


def test_http_origin_is_refused_behind_https(serve: Any, fresh: Store, newsroom: Any) -> None:
    """For browsers that do not send ``Sec-Fetch-Site``."""
    client = portal(serve, fresh, newsroom, proxies=("127.0.0.0/8",))
    origin = str(client.base_url).rstrip("/")
    for header, status in ((origin, 403), (origin.replace("http:", "https:"), 303)):
        sent = {"data": {"name": "boss", "password": PASSWORD}, "headers": {**HTTPS, "origin": header}}
        assert client.post("/login", **sent).status_code == status


@pytest.mark.parametrize("proxies", [(), ("192.0.2.1", "10.0.0.0/8")])
def test_headers_of_other_proxies_are_ignored(serve: Any, fresh: Store, newsroom: Any, proxies: tuple[str, ...]) -> None:
    client = portal(serve, fresh, newsroom, proxies=proxies)
    answer = client.post("/login", data={"name": "boss", "password": PASSWORD}, headers=HTTPS)
    assert answer.headers["set-cookie"].startswith("session=")
    [session] = client.accounts.sessions.of(client.accounts.people.by_name("boss").id, now=newsroom.NOW)  # type: ignore[attr-defined]
    assert session.address == "127.0.0.1"


def test_forged_client_address_does_not_evade_login_limit(serve: Any, fresh: Store, newsroom: Any) -> None:
    client = portal(serve, fresh, newsroom)
    found = [
        client.post("/login", data={"name": "boss", "password": "x"}, headers={"x-forwarded-for": f"203.0.113.{number}"}).status_code
        for number in range(8)
    ]
    assert found[-1] == 429


def test_token_needs_no_origin_and_disables_cookies(serve: Any, fresh: Store, newsroom: Any) -> None:
    client = portal(serve, fresh, newsroom)
    admin = client.accounts.people.by_name("boss")  # type: ignore[attr-defined]
    _, secret = client.accounts.tokens.add(admin, "script", [Right.ADMINISTER, Right.READ], now=newsroom.NOW)  # type: ignore[attr-defined]
    session = client.accounts.sessions.begin(admin.id, now=newsroom.NOW)  # type: ignore[attr-defined]
    form = {"name": "new", "role": "reader"}
    with httpx.Client(base_url=client.base_url, timeout=600) as other:
        assert other.post("/people", data=form, headers={"authorization": f"Bearer {secret}"}).status_code == 200
        with_cookie = {"cookie": f"session={session}"}
        assert other.post("/people", data=form, headers=with_cookie).status_code == 403
        refused = other.post("/people", data=form, headers={**with_cookie, "authorization": "Bearer np_wrong"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "not-signed-in")
        assert refused.headers["www-authenticate"] == "Bearer"
    assert {person.name for person in client.accounts.people.all()} == {"boss", "new"}  # type: ignore[attr-defined]


def test_body_limit_depends_on_path(client: httpx.Client) -> None:
    assert body_limit("/seen").max_bytes == body_limit("/login").max_bytes == MAX_BODY
    assert body_limit("/sources/new").max_bytes == body_limit("/api/v1/sources").max_bytes == MAX_TEXT
    assert (body_limit("/corpora").max_bytes, body_limit("/corpora").kinds, body_limit("/corpora").streamed) == (MAX_FILE, FILES, True)
    headers = {"sec-fetch-site": "same-origin", "content-type": "application/json"}
    answer = client.post("/api/v1/nothing", content=b"x" * (MAX_TEXT + 1), headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")
    refused = client.post("/api/v1/nothing", content=b"{}", headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not-allowed")


def test_members_only_portal_requires_sign_in(serve: Any, fresh: Store, newsroom: Any) -> None:
    client = portal(serve, fresh, newsroom, reading="members")
    for path in ("/", "/latest", "/search?q=x", "/feed.rss", "/photos", "/settings"):
        answer = client.get(path)
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/login?next="), path
    assert client.get("/api/v1/me").status_code == 401
    assert client.get("/login").status_code == 200
    assert client.get("/health").status_code == 200
    admin = client.accounts.people.by_name("boss")  # type: ignore[attr-defined]
    _, secret = client.accounts.tokens.add(admin, "reader", [Right.READ], now=newsroom.NOW)  # type: ignore[attr-defined]
    assert client.get("/feed.rss", headers={"authorization": f"Bearer {secret}"}).status_code == 200
    client.post("/login", data={"name": "boss", "password": PASSWORD})
    assert client.get("/latest").status_code == 200


def test_members_only_answers_are_not_cached_publicly(serve: Any, own_store: Store, newsroom: Any) -> None:
    """A shared cache would serve them to anonymous users."""
    client = portal(serve, own_store, newsroom, reading="members")
    client.post("/login", data={"name": "boss", "password": PASSWORD})
    paths = (
        "/feed.rss",
        "/photos/feed.atom",
        "/search/suggest?q=x",
        "/feeds.opml",
        "/picture/nothing/1?v=1",
        "/api/v1/topics",
        "/opml",
        "/latest",
    )
    for path in paths:
        header = client.get(path).headers["cache-control"]
        assert "private" in header or header == "no-store", f"{path}: {header}"
        assert "public" not in header, f"{path}: {header}"
    assert "public" in client.get("/static/portal.css?v=1").headers["cache-control"]
    everybody = portal(serve, own_store, newsroom)
    assert everybody.get("/feed.rss").headers["cache-control"] == "max-age=300"
    assert everybody.get("/api/v1/people").headers["cache-control"] == "no-store"
    assert everybody.get("/opml").headers["cache-control"] == "no-store"
