"""Web Push: a message encrypted for one browser (RFC 8291) and signed with the portal's own key (VAPID, RFC 8292)."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from newsportal.errors import DependencyMissing
from newsportal.messages import Message
from newsportal.net.egress import HttpResponse
from newsportal.services.alerts.base import AlertMessage, Field, Fields, ReceiverGone, Request, Service
from newsportal.services.publishing.base import Refused
from newsportal.sources.uris import BadAddress, check_url

TEXT_BYTES: Final = 2000  # an encrypted message has at most 4096 bytes (RFC 8030, 7.2), including title and URL
KEPT: Final = 24 * 60 * 60  # seconds for which a push service keeps a message for a closed browser
VALID: Final = timedelta(hours=12)  # validity of a signature; at most a day (RFC 8292, 2)
NO_SUBSCRIPTION: Final = Message("alert.invalid-subscription")


def _encoded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def require_libraries() -> None:
    """Raise ``DependencyMissing`` if the extra ``push`` is not installed."""
    try:
        import http_ece  # noqa: F401  it imports cryptography
    except ImportError as error:
        raise DependencyMissing("Web Push", "push") from error


def new_key() -> str:
    """Return a private P-256 key, as text. Raises ``DependencyMissing``."""
    require_libraries()
    from cryptography.hazmat.primitives.asymmetric import ec

    return _encoded(ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value.to_bytes(32))


def public_key(private: str) -> str:
    """Return the public key of ``private``, in the format for browsers and push services. Raises ``DependencyMissing``."""
    require_libraries()
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = ec.derive_private_key(int.from_bytes(_decoded(private)), ec.SECP256R1())
    return _encoded(key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def authorization(endpoint: str, private: str, contact: str, now: datetime) -> str:
    """Return the header that identifies the sender: a signed token for the push service of ``endpoint``."""
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int((now + VALID).timestamp())} | ({"sub": contact} if contact else {})
    signed = ".".join(_encoded(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
    key = ec.derive_private_key(int.from_bytes(_decoded(private)), ec.SECP256R1())
    r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(SHA256())))
    return f"vapid t={signed}.{_encoded(r.to_bytes(32) + s.to_bytes(32))}, k={public_key(private)}"


def subscription(text: str) -> str | Message:
    """Validate a browser's subscription and return it in canonical form."""
    try:
        parsed = json.loads(text)
        endpoint, p256dh, auth = check_url(parsed["endpoint"]), parsed["keys"]["p256dh"], parsed["keys"]["auth"]
        point = _decoded(p256dh)
        valid = len(point) == 65 and point[0] == 4 and len(_decoded(auth)) == 16
        with suppress(ImportError):
            from cryptography.hazmat.primitives.asymmetric import ec

            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)  # raises ValueError for a point off the curve
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, BadAddress):
        return NO_SUBSCRIPTION
    return json.dumps({"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}) if valid else NO_SUBSCRIPTION


def push_request(fields: Fields, message: AlertMessage, now: datetime) -> Request:
    """Encrypt and sign a message. ``fields``: the subscription, the portal's ``key`` and ``contact``. Raises ``DependencyMissing``,
    ``ReceiverGone``, ``Refused``."""
    require_libraries()
    import http_ece
    from cryptography.hazmat.primitives.asymmetric import ec

    if not fields.get("subscription"):
        raise ReceiverGone("no browser is subscribed; open the alert, subscribe one, save it and switch it on")
    parsed = json.loads(fields["subscription"])
    address = message.items[0].address if len(message.items) == 1 else "/alerts"
    payload = {
        "title": message.title,
        "body": message.text(TEXT_BYTES),
        "url": address if len(address) < TEXT_BYTES // 2 else "/",
        "tag": message.key,
    }
    try:
        body = http_ece.encrypt(
            json.dumps(payload, ensure_ascii=False).encode(), private_key=ec.generate_private_key(ec.SECP256R1()),
            dh=_decoded(parsed["keys"]["p256dh"]), auth_secret=_decoded(parsed["keys"]["auth"]), version="aes128gcm",
        )  # fmt: skip
    except ValueError as error:
        raise Refused("the keys of the subscription are not valid; subscribe the browser again") from error
    headers = {
        "content-type": "application/octet-stream", "content-encoding": "aes128gcm", "ttl": str(KEPT),
        "authorization": authorization(parsed["endpoint"], fields["key"], fields.get("contact", ""), now),
    }  # fmt: skip
    return Request(parsed["endpoint"], body, headers)


def web_push(check_status: Callable[[HttpResponse], None]) -> Service:
    """Return the service. ``check_status`` checks all answers except those for a deleted subscription (RFC 8030, 7.3)."""

    def check(answer: HttpResponse) -> None:
        if answer.status in (404, 410):
            raise ReceiverGone("this browser no longer accepts messages; subscribe it again")
        check_status(answer)

    return Service(
        "push", "This browser",
        (Field("subscription", Message("field.push"), Message("field-hint.push"), secret=True, check=subscription),), push_request, check,
        signs=True,
    )  # fmt: skip
