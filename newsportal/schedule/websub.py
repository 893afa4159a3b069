"""A WebSub subscriber (W3C Recommendation, 23 January 2018): hubs notify us of new entries, so that polling can be slow. Pure."""

import hashlib
import hmac
import re
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode, urljoin

LEASE_TIME: Final = timedelta(days=10)  # requested lease; the hub may grant less (5.1: hub.lease_seconds)
RENEWAL_TIME: Final = timedelta(days=1)  # remaining lease at renewal; for short leases a quarter
RETRY_DELAY: Final = timedelta(hours=1)  # after a hub did not respond or confirm; doubled each time
MAX_RETRY_DELAY: Final = timedelta(days=1)
DENIED_DELAY: Final = timedelta(days=7)  # after a hub denied a subscription
SIGNATURE_METHODS: Final = ("sha1", "sha256", "sha384", "sha512")  # signature methods of hubs (8)
MAX_LINKS: Final = 10_000
LINK: Final = re.compile(r"<([^<>]{1,2000})>([^<]{0,1000})")
REL: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""", re.IGNORECASE)


def link_targets(header: str, base: str) -> dict[str, str]:
    """Return ``hub`` and ``self`` of a ``Link`` header (RFC 8288) as absolute URLs; the first of each."""
    found: dict[str, str] = {}
    for target, parameters in LINK.findall(header[:MAX_LINKS]):
        match = REL.search(parameters)
        for rel in ((match[1] or match[2] or "") if match else "").lower().split():
            if rel in ("hub", "self"):
                with suppress(ValueError):
                    found.setdefault(rel, urljoin(base, target.strip()))
    return found


def request_form(mode: str, callback: str, topic: str, secret: str) -> bytes:
    """Return the form posted to the hub (5.1). ``mode``: ``subscribe`` or ``unsubscribe``."""
    fields = {"hub.callback": callback, "hub.mode": mode, "hub.topic": topic}
    if mode == "subscribe":
        fields |= {"hub.lease_seconds": str(int(LEASE_TIME.total_seconds())), "hub.secret": secret}
    return urlencode(fields).encode("ascii")


def should_request(now: datetime, *, last_request: datetime | None, tries: int, until: datetime | None, denied: bool) -> bool:
    """Return whether to send a request to the hub: none was sent yet, its lease expires, or it did not confirm."""
    if last_request is None:
        return True
    if denied:
        return now - last_request >= DENIED_DELAY
    if tries:
        return now - last_request >= min(RETRY_DELAY * 2.0 ** min(tries - 1, 10), MAX_RETRY_DELAY)
    return until is None or until - now <= min(RENEWAL_TIME, (until - last_request) / 4)


def is_signed(secret: str, body: bytes, header: str) -> bool:
    """Return whether ``body`` was signed with ``secret``; ``header``: the hub's X-Hub-Signature, ``method=hex`` (8)."""
    method, _, digest = header.strip().partition("=")
    if method.lower() not in SIGNATURE_METHODS:
        return False
    expected: str = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(expected.encode(), digest.strip().lower().encode("utf-8", "replace"))


def lease_of(text: str, now: datetime) -> datetime:
    """Return the end of a confirmed lease (5.3): as granted, at most twice what was requested; as requested if not given."""
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return now + (min(timedelta(seconds=seconds), 2 * LEASE_TIME) if seconds else LEASE_TIME)
