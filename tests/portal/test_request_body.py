"""Requests with a body (threat group F): accepted only from the portal's own pages, up to a size, and with a supported type."""

from __future__ import annotations

import socket

import httpx
import pytest

from newsportal.portal.access import MAX_ADDRESSES, RateLimit, rate_limit_key
from newsportal.portal.request_body import MAX_BODY

FORM = {"content-type": "application/x-www-form-urlencoded"}
PATHS = ("/seen", "/profile/clear", "/profile/remove", "/profile/switch", "/", "/nope")


def origin(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1"},  # another port is another origin
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "OWN"},
        {"referer": "OWN"},
    ],
)
def test_cross_origin_requests_are_refused(client: httpx.Client, path: str, headers: dict[str, str]) -> None:
    sent = {name: value.replace("OWN", origin(client)) for name, value in headers.items()}
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = client.request(method, path, headers={**FORM, **sent}, content=b"profile=off")
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        assert "evil" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "sent", [{"sec-fetch-site": "same-origin"}, {"origin": "OWN"}, {"sec-fetch-site": "same-origin", "origin": "null"}]
)
def test_same_origin_requests_are_accepted(client: httpx.Client, sent: dict[str, str]) -> None:
    headers = {name: value.replace("OWN", origin(client)) for name, value in sent.items()}
    answer = client.post("/profile/clear", headers={**FORM, **headers})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/profile"


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "", "application/xml", "application/jsonx"])
def test_only_forms_and_json_are_accepted(client: httpx.Client, kind: str) -> None:
    headers = {"sec-fetch-site": "same-origin", "content-type": kind}
    assert client.post("/profile/clear", headers=headers, content=b"a=b").status_code == 415


def test_large_body_is_refused_by_its_length(client: httpx.Client) -> None:
    headers = {"sec-fetch-site": "same-origin", **FORM}
    assert client.post("/seen", headers=headers, content=b"x" * (MAX_BODY + 1)).status_code == 413
    assert client.post("/seen", headers=headers, content=b"x" * MAX_BODY).status_code == 400  # of the maximum size, but not JSON


def test_large_body_without_length_is_refused(client: httpx.Client) -> None:
    headers = {"sec-fetch-site": "same-origin", **FORM}
    answer = client.post("/seen", headers=headers, content=(b"x" * 1000 for _ in range(MAX_BODY // 1000 + 2)))
    assert answer.status_code == 413


def test_wrong_content_length_is_tolerated(client: httpx.Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=600) as wire:
        wire.sendall(
            b"POST /seen HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99999999999999999999\r\nConnection: close\r\n\r\n{}"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 4")
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"&".join(b"a=b" for _ in range(100)), b"story", b"=&=&", b"story=%ff%00"])
def test_any_form_is_answered(client: httpx.Client, body: bytes) -> None:
    for path in PATHS[1:4]:
        assert client.post(path, headers={"sec-fetch-site": "same-origin", **FORM}, content=body).status_code == 303


def test_rate_limit_refills() -> None:
    moment = 0.0
    pace = RateLimit(burst=3, a_second=1, clock=lambda: moment)
    assert [pace.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert pace.allows("b")
    moment = 2.0
    assert [pace.allows("a") for _ in range(3)] == [True, True, False]
    moment = 100.0
    assert [pace.allows("a") for _ in range(4)] == [True, True, True, False]


def test_rate_limit_forgets_old_addresses() -> None:
    pace = RateLimit(burst=1, a_second=0)
    assert all(pace.allows(str(number)) for number in range(MAX_ADDRESSES + 10))
    assert pace.allows("0")  # forgotten
    assert not pace.allows(str(MAX_ADDRESSES))


@pytest.mark.parametrize(
    ("host", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8:0:0:1:2:3:4", "2001:db8::9", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("2001:db8:1:2::1", "2001:DB8:1:2:aaaa:bbbb:cccc:dddd", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "192.0.2.2", False),
        ("/run/socket", "/run/socket", True),
    ],
)
def test_addresses_of_one_ipv6_network_are_counted_together(host: str, other: str, same: bool) -> None:
    assert (rate_limit_key(host) == rate_limit_key(other)) is same
