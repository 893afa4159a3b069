"""WebSub messages: subscription form, signatures, renewal times."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest

from newsportal.schedule.websub import is_signed, lease_of, link_targets, request_form, should_request

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_link_header_gives_hub_and_topic() -> None:
    header = '<https://hub.example/>; rel="hub", </feed?a=1,2>; rel=self; type="x", <https://second.example/>; rel="hub"'
    assert link_targets(header, "https://a.example/f") == {"hub": "https://hub.example/", "self": "https://a.example/feed?a=1,2"}
    assert link_targets('<https://[bad>; rel="hub", <x', "https://a.example/") == {}
    assert link_targets("<" * 100_000, "https://a.example/") == {}


def test_subscription_form_fields() -> None:
    fields = parse_qs(request_form("subscribe", "https://p.example/websub/t", "https://a.example/订阅", "geheim").decode())
    assert fields["hub.callback"] == ["https://p.example/websub/t"]
    assert fields["hub.topic"] == ["https://a.example/订阅"]
    assert fields["hub.secret"] == ["geheim"]
    assert fields["hub.lease_seconds"] == ["864000"]
    assert "hub.secret" not in parse_qs(request_form("unsubscribe", "c", "t", "geheim").decode())


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_valid_signature_is_accepted(method: str) -> None:
    digest = hmac.new(b"s", b"body", getattr(hashlib, method)).hexdigest()
    assert is_signed("s", b"body", f"{method}={digest}")
    assert is_signed("s", b"body", f"{method.upper()}={digest.upper()}")
    assert not is_signed("s", b"other", f"{method}={digest}")
    assert not is_signed("t", b"body", f"{method}={digest}")


@pytest.mark.parametrize("header", ["", "md5=9f", "sha256", "sha256=", "sha256=é", "new=1"])
def test_invalid_signature_header_is_refused(header: str) -> None:
    assert not is_signed("s", b"body", header)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"last_request": None}, True),
        ({"last_request": NOW - HOUR, "until": NOW + 9 * DAY}, False),
        ({"last_request": NOW - 9.5 * DAY, "until": NOW + DAY / 2}, True),
        ({"last_request": NOW - HOUR, "until": NOW + HOUR}, False),
        ({"last_request": NOW - 2 * HOUR, "until": NOW + HOUR / 2}, True),
        ({"last_request": NOW - HOUR / 2, "tries": 1}, False),
        ({"last_request": NOW - HOUR, "tries": 1}, True),
        ({"last_request": NOW - 3 * HOUR, "tries": 3}, False),
        ({"last_request": NOW - DAY, "tries": 30}, True),
        ({"last_request": NOW - DAY, "denied": True}, False),
        ({"last_request": NOW - 7 * DAY, "denied": True}, True),
    ],
)
def test_subscription_is_renewed_in_time(state: dict[str, Any], expected: bool) -> None:
    options = {"last_request": None, "tries": 0, "until": None, "denied": False} | state
    assert should_request(NOW, **options) is expected


@pytest.mark.parametrize(("text", "days"), [("86400", 1), ("", 10), ("-5", 10), ("999999999", 20), ("9" * 400, 10), ("Ⅷ", 10)])
def test_lease_seconds_are_parsed_and_bounded(text: str, days: int) -> None:
    assert lease_of(text, NOW) == NOW + days * DAY
