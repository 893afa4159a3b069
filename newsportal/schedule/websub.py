"""WebSub (W3C Recommendation, 23 January 2018) as a subscriber: a hub tells us what is new, so that polling may go slowly. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode, urljoin

LEASE: Final = timedelta(days=10)  # what we ask for; the hub may promise less (5.1: hub.lease_seconds)
RENEWED: Final = timedelta(days=1)  # left of a lease when it is asked for anew; of short leases a quarter is left
RETRIED: Final = timedelta(hours=1)  # after a hub did not answer or confirm; doubled each time
RETRIED_AT_LEAST: Final = timedelta(days=1)
DENIED: Final = timedelta(days=7)  # after a hub said no
METHODS: Final = ("sha1", "sha256", "sha384", "sha512")  # what a hub may sign with (8)
MAX_LINKS: Final = 10_000
LINK: Final = re.compile(r"<([^<>]{1,2000})>([^<]{0,1000})")
REL: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""", re.IGNORECASE)


def link_targets(header: str, base: str) -> dict[str, str]:
    """``hub`` and ``self`` of a ``Link`` header (RFC 8288), absolute; the first of each counts."""
    found: dict[str, str] = {}
    for target, parameters in LINK.findall(header[:MAX_LINKS]):
        said = REL.search(parameters)
        for rel in ((said[1] or said[2] or "") if said else "").lower().split():
            if rel in ("hub", "self"):
                with suppress(ValueError):
                    found.setdefault(rel, urljoin(base, target.strip()))
    return found


def form(mode: str, callback: str, topic: str, secret: str) -> bytes:
    """What is posted to the hub (5.1). ``mode``: ``subscribe`` or ``unsubscribe``."""
    fields = {"hub.callback": callback, "hub.mode": mode, "hub.topic": topic}
    if mode == "subscribe":
        fields |= {"hub.lease_seconds": str(int(LEASE.total_seconds())), "hub.secret": secret}
    return urlencode(fields).encode("ascii")


def ask_now(now: datetime, *, asked: datetime | None, tries: int, until: datetime | None, denied: bool) -> bool:
    """Whether the hub is to be asked (anew): never yet, its lease runs out, or it did not confirm what it was asked."""
    if asked is None:
        return True
    if denied:
        return now - asked >= DENIED
    if tries:
        return now - asked >= min(RETRIED * 2.0 ** min(tries - 1, 10), RETRIED_AT_LEAST)
    return until is None or until - now <= min(RENEWED, (until - asked) / 4)


def signed(secret: str, body: bytes, header: str) -> bool:
    """Whether the hub that shares ``secret`` wrote ``body``; ``header``: its X-Hub-Signature, ``method=hex`` (8)."""
    method, _, digest = header.strip().partition("=")
    if method.lower() not in METHODS:
        return False
    ours: str = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(ours.encode(), digest.strip().lower().encode("utf-8", "replace"))


def lease_of(text: str, now: datetime) -> datetime:
    """When a confirmed lease ends (5.3): as the hub says, within twice what we asked for; as we asked where it says nothing."""
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return now + (min(timedelta(seconds=seconds), 2 * LEASE) if seconds else LEASE)
