"""Attacks of threat group F that concern no single page: forged sign-in and sign-out, bombs in requests, forged audit entries; and errors
of the API, which have one form."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import httpx
import pytest
from lxml import html as lxml_html

from newsportal.services.accounts import Right, Role
from newsportal.sources import load
from newsportal.store.store import Store

PASSWORD = "correct horse battery staple"
TEXT = "portal: {title: 晨报}\ntopics: [{name: 旅游}]\nfeeds:\n  - {name: 甲报, url: https://a.example/feed}\n"
FORM = {"content-type": "application/x-www-form-urlencoded"}
YAML_BOMB = "a0: &a0 [ha, ha]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)) + "topics: *a11\n"
"""Nested aliases, ten to the power of their depth (billion laughs in YAML)."""


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    file = folder / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


@pytest.fixture(scope="module")
def admin(serve: Any, store: Store, path: Path) -> httpx.Client:
    client: httpx.Client = serve(store, settings=load(path), role="admin", reread_every=0)
    return client


@pytest.fixture
def program(admin: httpx.Client, newsroom: ModuleType) -> Iterator[httpx.Client]:
    """Client of a program with every right."""
    accounts = admin.accounts  # type: ignore[attr-defined]
    _, secret = accounts.tokens.add(accounts.people.all()[0], "x", list(Right), now=newsroom.NOW)
    with httpx.Client(base_url=admin.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as client:
        yield client


@pytest.mark.parametrize("origin", [{}, {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}])
def test_cross_site_sign_in_and_out_are_refused(admin: httpx.Client, origin: dict[str, str]) -> None:
    """A user signed in to an attacker's account without noticing would reveal what they search for."""
    session = {"cookie": f"session={admin.cookies['session']}"}
    with httpx.Client(base_url=admin.base_url, headers={**FORM, **origin}, timeout=600) as forged:
        for place, sent in (("/login", b"name=admin+0&password=correct+horse+battery+staple"), ("/logout", b"")):
            answer = forged.post(place, content=sent, headers=session)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
    assert admin.get("/people").status_code == 200


@pytest.mark.parametrize("place", ["/websub/../people", "/websub/%2e%2e/people", "/websub//people", "/websub/", "/WEBSUB/x"])
def test_websub_path_gives_no_access_to_other_pages(admin: httpx.Client, place: str) -> None:
    session = {"cookie": f"session={admin.cookies['session']}", **FORM}
    with httpx.Client(base_url=admin.base_url, timeout=600) as forged:
        target = httpx.URL(forged.base_url.join("/"), raw_path=place.encode())
        assert forged.request("POST", target, content=b"name=x&role=admin", headers=session).status_code in (403, 404, 405, 410)
    assert "x" not in [person.name for person in admin.accounts.people.all()]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "bomb", [YAML_BOMB, "topics: " + "[" * 50_000, "? " * 20_000, "a: !!python/object/apply:os.system ['id']\n", "%TAG ! x"]
)
def test_yaml_bombs_are_refused(admin: httpx.Client, path: Path, bomb: str) -> None:
    seen = lxml_html.document_fromstring(admin.get("/sources/file").text).xpath("//input[@name='digest']/@value")[0]
    answer = admin.post("/sources/file", data={"text": bomb, "digest": seen})
    assert answer.status_code == 422
    assert len(answer.content) < 500_000
    assert path.read_text("utf-8") == TEXT


def test_compressed_request_is_not_decompressed(admin: httpx.Client) -> None:
    """The body of 10 kB would expand to 10 MB."""
    bomb = gzip.compress(b"name=" + b"x" * 10_000_000)
    answer = admin.post("/people", content=bomb, headers={**FORM, "content-encoding": "gzip"})
    assert answer.status_code in (400, 413, 422)


@pytest.mark.parametrize("body", ["[" * 200_000, '{"a":' * 100_000, '"' + "\\ud800" * 1000 + '"', "1" * 100_000, "NaN", "", "\x00"])
def test_malformed_json_is_refused(program: httpx.Client, body: str) -> None:
    for place in ("/api/v1/people", "/api/v1/topics/preview", "/api/v1/alerts", "/api/v1/sources"):
        answer = program.post(place, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), (place, answer.status_code)
        assert answer.json()["error"]["code"] in ("not-valid", "bad-request")
    assert program.post("/seen", content=body, headers={"content-type": "application/json"}).status_code in (400, 413)


def test_audit_entry_is_one_escaped_row(admin: httpx.Client, program: httpx.Client, newsroom: ModuleType) -> None:
    forged = "旅游</td></tr><tr data-entry='9'><td>\n2026-05-20 admin 0 person.role\r\n\x1b[31m\u202e"
    before = program.get("/api/v1/audit").json()["items"]
    admin.accounts.audit_log.add(None, "topic.delete", forged, {forged: [forged]}, now=newsroom.NOW, address=forged)  # type: ignore[attr-defined]
    text = admin.get("/audit").text
    rows = lxml_html.document_fromstring(text).xpath("//tr[@data-entry]")
    assert len(rows) == len(before) + 1
    assert rows[0].xpath(".//span/@title") == ["topic.delete"]
    assert not set("\x1b\u202e") & set(text)
    assert program.get("/api/v1/audit").json()["items"][0]["subject"] == forged


def test_api_errors_have_one_form(program: httpx.Client, serve: Any, store: Store) -> None:
    anonymous = httpx.Client(base_url=program.base_url, timeout=600)
    json_sent = {"content-type": "application/json"}
    cases = [
        (anonymous.get("/api/v1/people"), 401, "not-signed-in"),
        (anonymous.get("/api/v1/stories", headers={"authorization": "Bearer np_wrong"}), 401, "not-signed-in"),
        (anonymous.post("/api/v1/people", content=b"{}", headers=json_sent), 403, "not-allowed"),
        (program.get("/api/v1/nothing"), 404, "not-found"),
        (program.get("/api/nothing"), 404, "not-found"),
        (program.get("/api/v1/stories/nothing"), 404, "no-story"),
        (program.get("/api/v1/people/%00/nothing"), 404, "not-found"),
        (program.delete("/api/v1/stories"), 405, "method-not-allowed"),
        (program.get("/api/v1/stories?cursor=%00&limit=0"), 422, "not-valid"),
        (program.get("/api/v1/audit?cursor=x"), 400, "invalid-cursor"),
        (program.post("/api/v1/people", content=b"x" * 1_000_001, headers=json_sent), 413, "too-large"),
        (program.post("/api/v1/people", content=b"x", headers={"content-type": "text/xml"}), 415, "not-understood"),
        (program.patch("/api/v1/people/admin 0", json={"role": "reader"}), 409, "last-administrator"),
        (program.get("/api/v1/search?q=x"), 503, "no-search"),
    ]
    for answer, status, code in cases:
        case = f"{answer.request.method} {answer.request.url}: {answer.status_code}"
        assert answer.status_code == status, case
        assert answer.headers["content-type"] == "application/json", case
        assert answer.headers["cache-control"] == "no-store", case
        assert "default-src 'none'" in answer.headers["content-security-policy"], case
        error = json.loads(answer.content)["error"]
        assert error["code"] == code, case
        assert error["message"], case
        assert set(error) <= {"code", "message", "remedy", "problems"}, case
    anonymous.close()


def test_validation_error_does_not_repeat_the_value(program: httpx.Client) -> None:
    """The value may be a password entered in the wrong field."""
    answer = program.post("/api/v1/people", json={"name": ["geheim-4711"], "role": "geheim-4711"})
    assert answer.status_code == 422
    assert "geheim" not in answer.text


def test_token_keeps_its_rights_when_user_is_promoted(admin: httpx.Client, newsroom: ModuleType) -> None:
    accounts = admin.accounts  # type: ignore[attr-defined]
    reader = accounts.people.add("somebody", PASSWORD, Role.READER, now=newsroom.NOW)
    _, secret = accounts.tokens.add(reader, "x", [Right.KEEP], now=newsroom.NOW)
    with httpx.Client(base_url=admin.base_url, headers={"authorization": f"Bearer {secret}"}, timeout=600) as program:
        for path in ("/api/v1/people", "/api/v1/sources", "/audit", "/sources", "/metrics"):
            assert program.get(path).status_code == 403, path
        accounts.people.set_role(reader.id, Role.EDITOR)
        assert program.get("/api/v1/sources").status_code == 403, "the token has only its own rights"


LOCAL = ("http://127.0.0.1:{}/", "http://localhost:{}/", "http://[::ffff:127.0.0.1]:{}/", "http://0x7f.1:{}/", "http://a@127.0.0.1:{}/")


@pytest.fixture
def internal_server() -> Iterator[list[str]]:
    """Yield the port of a server on loopback, followed by the paths requested of it."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_error(500)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Do not log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        requested.append(str(server.server_port))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield requested
        server.shutdown()


@pytest.mark.slow
def test_desk_pages_do_not_connect_to_internal_addresses(admin: httpx.Client, program: httpx.Client, internal_server: list[str]) -> None:
    """Covers the source wizard, trials of rules and templates, and alerts, in several notations of an address."""
    addresses = [address.format(internal_server[0]) for address in LOCAL]
    look = program.post("/api/v1/sources/propose", json={"addresses": addresses}).json()["id"]
    until = monotonic() + 600
    while not (found := program.get(f"/api/v1/checks/{look}").json())["done"]:
        assert monotonic() < until
        sleep(0.05)
    assert [item["sources"] for item in found["found"]] == [[]] * len(LOCAL)
    for address in addresses:
        assert admin.post("/wrappers/feed:甲报/try", data={"body": "p", "url": address}).status_code == 422
        assert admin.post("/templates/try", data={"url": address}).status_code == 422
    alert = {"about": "topic", "subject": "旅游", "channel": "webhook", "fields": {"url": addresses[0]}}
    id = program.post("/api/v1/alerts", json=alert).json()["id"]
    assert program.post(f"/api/v1/alerts/{id}/test").json()["error"]["code"] == "not-sent"
    assert internal_server[1:] == []
