"""Web Push against a push service on loopback: what it decrypts, who signed it, and subscriptions that are gone."""

from __future__ import annotations

import json
import sys
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import http_ece
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from newsportal.errors import DependencyMissing
from newsportal.services.alerts.base import BadField, Gone
from newsportal.services.alerts.making import BadFields, resumed
from newsportal.services.alerts.opening import own_fields
from newsportal.services.alerts.run import Work, send_test, step
from newsportal.services.alerts.services import SERVICES
from newsportal.services.alerts.web_push import new_key, public_key
from newsportal.sources import Sources

AUTH = b"0123456789abcdef"


def text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def raw(coded: str) -> bytes:
    return urlsafe_b64decode(coded + "=" * (-len(coded) % 4))


class PushService:
    """One browser and its push service, which decrypts what comes as the browser would. ``status``: what it answers."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.status = 201
        self.key = ec.generate_private_key(ec.SECP256R1())
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert len(body) <= 4096
                plain = http_ece.decrypt(body, private_key=service.key, auth_secret=AUTH, version="aes128gcm")
                service.got.append(({name.lower(): value for name, value in self.headers.items()}, json.loads(plain)))
                self.send_response(service.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def subscription(self) -> str:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        keys = {"p256dh": text(point), "auth": text(AUTH)}
        return json.dumps({"endpoint": f"{self.address}/send/abc", "expirationTime": None, "keys": keys})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def service() -> Iterator[PushService]:
    with closing(PushService()) as made:
        yield made


@pytest.fixture
def work(desk: Any) -> Work:
    own = own_fields(desk.accounts, Sources())
    return replace(desk.work, setting=replace(desk.work.setting, own=lambda: {**own(), "contact": "mailto:desk@portal.example"}))


def test_a_story_reaches_the_browser_encrypted_and_signed(desk: Any, work: Work, service: PushService) -> None:
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    assert step(work).sent == 1
    [(headers, told)] = service.got
    assert "云岭峡谷观景桥今日开放" in told["body"]
    assert told["url"].startswith("https://portal.example/story/")
    assert (headers["content-encoding"], headers["ttl"]) == ("aes128gcm", "86400")
    scheme, token, key = headers["authorization"].replace(",", "").split()
    key, token = key.removeprefix("k="), token.removeprefix("t=")
    assert (scheme, key) == ("vapid", public_key(work.setting.own()["key"]))
    signed, _, signature = token.rpartition(".")
    claims = json.loads(raw(signed.partition(".")[2]))
    assert claims == {"aud": service.address, "exp": int(desk.clock[0].timestamp()) + 12 * 3600, "sub": "mailto:desk@portal.example"}
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw(key))
    r, s = (int.from_bytes(half) for half in (raw(signature)[:32], raw(signature)[32:]))
    point.verify(utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))


def test_a_long_message_fits(desk: Any, work: Work, service: PushService) -> None:
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}), name="长" * 100)
    for number in range(10):
        desk.write(f"第{number}条" + "很长的标题" * 22)
    desk.pass_time(minutes=1)
    assert step(work).sent == 1
    assert len(service.got) == 1


@pytest.mark.parametrize("status", [404, 410])
def test_a_subscription_that_is_gone_is_removed(desk: Any, work: Work, service: PushService, status: int) -> None:
    made = desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    service.status = status
    assert step(work).failed == 1
    found = desk.accounts.alerts.alert(made.id)
    assert (found.enabled, found.fields, found.per_hour) == (False, {}, made.per_hour)
    assert "subscribe it anew" in desk.accounts.alerts.messages(made.id)[0].reason
    again = replace(made, id="b")
    desk.accounts.alerts.add(again)
    with pytest.raises(Gone):
        send_test(work, again)
    assert desk.accounts.alerts.alert("b").fields == {}


def test_an_alert_without_a_subscription_is_switched_off_and_stops_no_other(desk: Any, work: Work, service: PushService) -> None:
    lost = desk.alert("push", {})
    broken = desk.alert("push", {"subscription": service.subscription.replace('"p256dh": "B', '"p256dh": "A')})
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    tally = step(work)
    assert (tally.sent, tally.failed, len(service.got)) == (1, 2, 1)
    assert not desk.accounts.alerts.alert(lost.id).enabled
    assert "subscribe the browser anew" in desk.accounts.alerts.messages(broken.id)[0].reason
    with pytest.raises(Gone):
        send_test(work, lost)


def test_an_alert_without_a_receiver_is_not_resumed(desk: Any) -> None:
    with pytest.raises(BadFields) as refused:
        resumed(desk.alert("push", {}), now=desk.clock[0], after=0)
    assert list(refused.value.faults) == ["subscription"]


@pytest.mark.parametrize(("sender", "contact"), [("门户 <desk@portal.example>", "mailto:desk@portal.example"), ("", "")])
def test_the_contact_is_the_address_alone(desk: Any, sender: str, contact: str) -> None:
    told = Sources.model_validate({"alerts": {"mail_from": sender}} if sender else {})
    assert own_fields(desk.accounts, told)()["contact"] == contact


def test_the_key_is_made_once(desk: Any) -> None:
    own = own_fields(desk.accounts, Sources())
    assert own()["key"] == own()["key"] == own_fields(desk.accounts, Sources())()["key"]
    assert len(raw(public_key(own()["key"]))) == 65


@pytest.mark.parametrize(
    "given", ["", "{}", "[]", "1", '{"endpoint": "https://p.example/", "keys": {"p256dh": "AA", "auth": "AA"}}', '{"endpoint": 1}']
)
def test_what_is_no_subscription_is_refused(given: str) -> None:
    with pytest.raises(BadField):
        SERVICES["push"].checked({"subscription": given})


def test_a_point_off_the_curve_is_refused(service: PushService) -> None:
    off = json.loads(service.subscription)
    off["keys"]["p256dh"] = text(b"\x04" + b"\x01" * 64)
    with pytest.raises(BadField):
        SERVICES["push"].checked({"subscription": json.dumps(off)})


def test_without_the_extra_the_remedy_is_named(service: PushService, monkeypatch: pytest.MonkeyPatch) -> None:
    key = new_key()
    monkeypatch.setitem(sys.modules, "http_ece", None)
    for needs_it in (new_key, lambda: public_key(key)):
        with pytest.raises(DependencyMissing, match=r"\[push\]"):
            needs_it()
