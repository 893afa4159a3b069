"""Web Push with a push service on loopback, implemented with cryptographic primitives alone: it refuses messages without a valid signature
(RFC 8292), decrypts as the browser does (RFC 8188 and 8291), and responds as push services do (RFC 8030)."""

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

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from newsportal.errors import DependencyMissing
from newsportal.services.alerts.base import BadField, ReceiverGone
from newsportal.services.alerts.making import BadFields, enable_alert
from newsportal.services.alerts.opening import own_fields
from newsportal.services.alerts.run import Work, send_test, step
from newsportal.services.alerts.services import SERVICES
from newsportal.services.alerts.web_push import authorization, new_key, public_key
from newsportal.sources import Sources

AUTH = b"0123456789abcdef"


def text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def raw(coded: str) -> bytes:
    return urlsafe_b64decode(coded + "=" * (-len(coded) % 4))


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def decrypted(body: bytes, key: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """Decrypt a message of one record: salt, record size, the sender's key, and the ciphertext (RFC 8188, 2 and RFC 8291, 3.4)."""
    salt, size, length = body[:16], int.from_bytes(body[16:20]), body[20]
    sender, record = body[21 : 21 + length], body[21 + length :]
    assert len(record) <= size
    shared = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    material = HKDF(SHA256(), 32, auth, b"WebPush: info\0" + point_of(key) + sender).derive(shared)
    content_key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(material)
    nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(material)
    plaintext, delimiter, padding = AESGCM(content_key).decrypt(nonce, record, None).rpartition(b"\2")
    assert delimiter
    assert not padding.strip(b"\0")
    return plaintext


def claims_of(header: str) -> dict[str, Any]:
    """Return the sender's claims (RFC 8292, 3). Raises ``InvalidSignature`` if they were not signed by the key sent with them."""
    scheme, token, key = header.replace(",", "").split()
    assert (scheme, token[:2], key[:2]) == ("vapid", "t=", "k=")
    signed, _, signature = token[2:].rpartition(".")
    head, body = (json.loads(raw(part)) for part in signed.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    r, s = (int.from_bytes(half) for half in (raw(signature)[:32], raw(signature)[32:]))
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw(key[2:]))
    point.verify(utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))
    return {**body, "k": key[2:]}


class PushService:
    """A browser and its push service. ``status`` and ``headers``: of its responses; ``now``: seconds since 1970."""

    def __init__(self) -> None:
        self.now = 0.0
        self.headers: dict[str, str] = {}
        self.received: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.status = 201
        self.key = ec.generate_private_key(ec.SECP256R1())
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = service.refusal(self.headers, body) or service.status
                if status == 201:
                    payload = json.loads(decrypted(body, service.key, AUTH))
                    service.received.append(({name.lower(): value for name, value in self.headers.items()}, payload))
                self.send_response(status)
                for name, value in {"content-length": "0", **service.headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def refusal(self, headers: Any, body: bytes) -> int | None:
        """Return the status with which a push service refuses a message; ``None`` if it is valid."""
        try:
            claims = claims_of(headers["authorization"])
        except InvalidSignature:
            return 403
        if claims["aud"] != self.address or not self.now < claims["exp"] <= self.now + 24 * 3600:  # RFC 8292, 2
            return 403
        if headers["ttl"] is None or headers["content-encoding"] != "aes128gcm":  # RFC 8030, 5.2; RFC 8291, 4
            return 400
        return 413 if len(body) > 4096 else None  # RFC 8030, 7.2

    @property
    def subscription(self) -> str:
        keys = {"p256dh": text(point_of(self.key)), "auth": text(AUTH)}
        return json.dumps({"endpoint": f"{self.address}/send/abc", "expirationTime": None, "keys": keys})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def service(desk: Any) -> Iterator[PushService]:
    with closing(PushService()) as service:
        service.now = desk.clock[0].timestamp()
        yield service


def test_example_of_rfc_8291_is_decrypted() -> None:
    """RFC 8291, 5: this checks the push service of the tests."""
    body = (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95b"
        "Qpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    key = ec.derive_private_key(int.from_bytes(raw("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")), ec.SECP256R1())
    assert decrypted(raw(body), key, raw("BTBZMqHH6r4Tts7J_aSIgg")) == b"When I grow up, I want to be a watermelon"


@pytest.fixture
def work(desk: Any) -> Work:
    fields = own_fields(desk.accounts, Sources())
    return replace(
        desk.work, setting=replace(desk.work.setting, portal_fields=lambda: {**fields(), "contact": "mailto:desk@portal.example"})
    )


def test_story_is_pushed_encrypted_and_signed(desk: Any, work: Work, service: PushService) -> None:
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    assert step(work).sent == 1
    [(headers, payload)] = service.received
    assert "云岭峡谷观景桥今日开放" in payload["body"]
    assert payload["url"].startswith("https://portal.example/story/")
    assert (headers["content-encoding"], headers["ttl"]) == ("aes128gcm", "86400")
    assert claims_of(headers["authorization"]) == {
        "aud": service.address,
        "exp": int(desk.clock[0].timestamp()) + 12 * 3600,
        "sub": "mailto:desk@portal.example",
        "k": public_key(work.setting.portal_fields()["key"]),
    }


def test_long_message_fits(desk: Any, work: Work, service: PushService) -> None:
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}), name="长" * 100)
    for number in range(10):
        desk.write(f"第{number}条" + "很长的标题" * 22)
    desk.pass_time(minutes=1)
    assert step(work).sent == 1
    assert len(service.received) == 1


@pytest.mark.parametrize("status", [404, 410])
def test_expired_subscription_is_removed(desk: Any, work: Work, service: PushService, status: int) -> None:
    alert = desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    service.status = status
    assert step(work).failed == 1
    found = desk.accounts.alerts.alert(alert.id)
    assert (found.enabled, found.fields, found.per_hour) == (False, {}, alert.per_hour)
    assert "subscribe it again" in desk.accounts.alerts.messages(alert.id)[0].reason
    second = replace(alert, id="b")
    desk.accounts.alerts.add(second)
    with pytest.raises(ReceiverGone):
        send_test(work, second)
    assert desk.accounts.alerts.alert("b").fields == {}


@pytest.mark.parametrize("status", [400, 403, 413])
def test_refused_message_fails_and_alert_stays(desk: Any, work: Work, service: PushService, status: int) -> None:
    alert = desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    service.status = status
    assert step(work).failed == 1
    assert desk.accounts.alerts.alert(alert.id).enabled
    assert str(status) in desk.accounts.alerts.messages(alert.id)[0].reason


@pytest.mark.parametrize("status", [429, 503])
def test_busy_push_service_is_retried_after_its_delay(desk: Any, work: Work, service: PushService, status: int) -> None:
    alert = desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    service.status, service.headers = status, {"retry-after": "3600"}
    assert step(work).postponed == 1
    service.status = 201
    desk.pass_time(minutes=50)
    assert (step(work).sent, service.received) == (0, [])
    desk.pass_time(minutes=11)
    service.now = desk.clock[0].timestamp()
    assert (step(work).sent, len(service.received)) == (1, 1)
    assert desk.accounts.alerts.alert(alert.id).enabled


def test_signature_is_valid_for_one_push_service(desk: Any, work: Work, service: PushService) -> None:
    header = authorization("https://push.example/send/abc", work.setting.portal_fields()["key"], "", desk.clock[0])
    assert claims_of(header)["aud"] == "https://push.example"
    assert service.refusal({"authorization": header, "ttl": "1", "content-encoding": "aes128gcm"}, b"") == 403
    with pytest.raises(InvalidSignature):
        claims_of(header.replace(f"k={public_key(work.setting.portal_fields()['key'])}", f"k={public_key(new_key())}"))


def test_alert_without_subscription_is_disabled(desk: Any, work: Work, service: PushService) -> None:
    unsubscribed = desk.alert("push", {})
    broken = desk.alert("push", {"subscription": service.subscription.replace('"p256dh": "B', '"p256dh": "A')})
    desk.alert("push", SERVICES["push"].checked({"subscription": service.subscription}))
    desk.write("云岭峡谷观景桥今日开放")
    desk.pass_time(minutes=1)
    tally = step(work)
    assert (tally.sent, tally.failed, len(service.received)) == (1, 2, 1)
    assert not desk.accounts.alerts.alert(unsubscribed.id).enabled
    assert "subscribe the browser again" in desk.accounts.alerts.messages(broken.id)[0].reason
    with pytest.raises(ReceiverGone):
        send_test(work, unsubscribed)


def test_alert_without_receiver_is_not_resumed(desk: Any) -> None:
    with pytest.raises(BadFields) as refused:
        enable_alert(desk.alert("push", {}), now=desk.clock[0], after=0)
    assert list(refused.value.faults) == ["subscription"]


@pytest.mark.parametrize(("sender", "contact"), [("门户 <desk@portal.example>", "mailto:desk@portal.example"), ("", "")])
def test_contact_is_the_bare_mail_address(desk: Any, sender: str, contact: str) -> None:
    sources = Sources.model_validate({"alerts": {"mail_from": sender}} if sender else {})
    assert own_fields(desk.accounts, sources)()["contact"] == contact


def test_key_is_created_once(desk: Any) -> None:
    fields = own_fields(desk.accounts, Sources())
    assert fields()["key"] == fields()["key"] == own_fields(desk.accounts, Sources())()["key"]
    assert len(raw(public_key(fields()["key"]))) == 65


@pytest.mark.parametrize(
    "subscription", ["", "{}", "[]", "1", '{"endpoint": "https://p.example/", "keys": {"p256dh": "AA", "auth": "AA"}}', '{"endpoint": 1}']
)
def test_invalid_subscription_is_refused(subscription: str) -> None:
    with pytest.raises(BadField):
        SERVICES["push"].checked({"subscription": subscription})


def test_point_off_the_curve_is_refused(service: PushService) -> None:
    forged = json.loads(service.subscription)
    forged["keys"]["p256dh"] = text(b"\x04" + b"\x01" * 64)
    with pytest.raises(BadField):
        SERVICES["push"].checked({"subscription": json.dumps(forged)})


def test_missing_extra_is_named(service: PushService, monkeypatch: pytest.MonkeyPatch) -> None:
    key = new_key()
    monkeypatch.setitem(sys.modules, "http_ece", None)
    for needs_it in (new_key, lambda: public_key(key)):
        with pytest.raises(DependencyMissing, match=r"\[push\]"):
            needs_it()
