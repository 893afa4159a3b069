"""A webhook as a target: each article is posted to a URL, signed, with retries, through the egress guard.

The signature is that of Stripe and others: ``t=SECONDS,v1=HEX``, where HEX is HMAC-SHA256 over ``SECONDS.BODY`` with the shared secret.
Delivery is at least once; the receiver detects repeated messages by their ``idempotency-key``.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from newsportal.errors import EgressDenied, FetchFailed
from newsportal.net import egress
from newsportal.schedule.freshness import retry_after
from newsportal.services.publishing import fields
from newsportal.services.publishing.base import BadTarget, Deleted, Published, Refused, RetryLater, Step, TargetDown, digest_of
from newsportal.sources.publishing import Target
from newsportal.sources.uris import mask
from newsportal.store.columns import storable
from newsportal.store.outbox import OutboxEntry
from newsportal.store.results import StoredArticle

FORM: Final = 1  # version of the message's format
SIGNATURE: Final = "x-newsportal-signature"
MAX_ANSWER: Final = 64 * 1024
TIMEOUT: Final = 20.0  # seconds for a message and its answer

UNFIT_STATUSES: Final = {
    401: "authentication failed: correct the token in publish.to, or secret",
    403: "access is denied: correct the token in publish.to, or secret, or the permissions there",
    404: "nothing was found at this URL: correct publish.to",
    405: "this URL does not accept POST: correct publish.to",
}
"""Statuses that every other message would get as well, with their remedies."""

LATER: Final = frozenset((408, 409, 423, 425, 429))  # temporary refusals (RFC 9110, 6585, 8470)
MAX_PLACE: Final = 200
PASSING: Final = frozenset(("dns", "timeout", "connection"))  # reasons of FetchFailed that affect every other message as well


class WebhookTarget:
    """See :class:`~newsportal.services.publishing.base.Target`. ``place``: the ``id`` in the receiver's answer, else its ``Location``."""

    def __init__(self, target: Target, zone: tzinfo, policy: egress.Policy, agent: str) -> None:
        self._target, self._zone, self._policy, self._agent = target, zone, policy, agent
        self._resolved = False

    def check(self) -> Sequence[str]:
        """Resolve the host once; nothing is sent."""
        try:
            url = urlsplit(egress.check_url(self._target.to, self._policy))
            if not self._resolved:
                egress.resolve(url.hostname or "", self._policy, url.port or (80 if url.scheme == "http" else 443))
                self._resolved = True
        except EgressDenied as error:
            raise self._denied(error) from error
        except OSError as error:
            raise TargetDown(f"{url.hostname} is not found ({error.strerror or error}); correct publish.to") from error
        plain = self._target.to.startswith("http:")
        return ("messages are sent over http://, unencrypted; use https:// to protect them",) if plain else ()

    def digest(self, article: StoredArticle) -> str:
        return digest_of(fields.plain(article, self._zone))

    def put(self, article: StoredArticle, entry: OutboxEntry) -> Published:
        return self._send(self._message(article, entry), self._key(article, entry))

    def remove(self, article: StoredArticle | None, entry: OutboxEntry) -> None:
        if article is None and not entry.published and entry.tries <= 1:
            return
        try:
            self._send(self._message(None, entry), self._key(None, entry))
        except Deleted:
            return

    def steps(self, article: StoredArticle | None, entry: OutboxEntry) -> Sequence[Step]:
        withdrawn = entry.action == "withdraw" or article is None
        return (Step(f"POST {mask(self._target.to)}", self._message(None if withdrawn else article, entry)),)

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _message(self, article: StoredArticle | None, entry: OutboxEntry) -> dict[str, Any]:
        event = "withdrawn" if article is None else "revised" if entry.published else "published"
        payload: dict[str, Any] = {"form": FORM, "event": f"article.{event}", "target": entry.target, "id": entry.article_id}
        if entry.location:
            payload["place"] = entry.location
        return payload if article is None else payload | {"article": fields.plain(article, self._zone)}

    def _key(self, article: StoredArticle | None, entry: OutboxEntry) -> str:
        """Return the key of a message: the same when it is resent, different for a state that recurs after another one."""
        content = "withdrawn" if article is None else self.digest(article)
        return digest_of([entry.target, entry.article_id, content, entry.requests])

    def _send(self, message: Mapping[str, Any], key: str) -> Published:
        body = json.dumps(message, ensure_ascii=False).encode()
        headers = {
            "user-agent": self._agent, "content-type": "application/json; charset=utf-8", "accept": "application/json",
            "idempotency-key": key, SIGNATURE: signature(self._target.secret or "", body, datetime.now(UTC)),
        }  # fmt: skip
        try:
            answer = egress.request("POST", self._target.to, self._policy, headers, body, max_bytes=MAX_ANSWER, timeout=TIMEOUT)
        except EgressDenied as error:
            raise self._denied(error) from error
        except FetchFailed as error:
            if error.reason in PASSING or error.reason == "tls":
                raise TargetDown(f"no response: {_masked_error(error)}; start it, or correct publish.to") from error
            raise RetryLater(f"its response cannot be read: {_masked_error(error)}") from error
        answered = f"the receiver answered {answer.status}"
        if 200 <= answer.status < 300:
            try:
                reply = json.loads(answer.body)
            except (ValueError, RecursionError):
                reply = None
            id = reply.get("id") if isinstance(reply, dict) else None
            is_id = isinstance(id, str | int) and not isinstance(id, bool)
            return Published(storable(str(id if is_id else answer.headers.get("location", "")))[:MAX_PLACE])
        if answer.status == 410:
            raise Deleted(f"{answered}: it has deleted the article permanently")
        if answer.status in LATER or answer.status >= 500:
            raise RetryLater(answered, retry_after(answer.headers.get("retry-after"), datetime.now(UTC)))
        if answer.status in UNFIT_STATUSES:
            answered += f": {_excerpt(answer.body)}" if answer.body else ""
            raise BadTarget(f"{answered}; {UNFIT_STATUSES[answer.status]}; every article waits")
        if 300 <= answer.status < 400:
            raise Refused(f"{answered}: redirects are not followed; set publish.to to the final URL")
        raise Refused(f"{answered}: {_excerpt(answer.body)}" if answer.body else answered)

    def _denied(self, error: EgressDenied) -> TargetDown:
        return TargetDown(f"{_masked_error(error)}; if the host is yours, add it to politeness.allow_private")


def _masked_error(error: EgressDenied | FetchFailed) -> str:
    """Return ``error`` without the secrets in its URL: it is shown in the portal."""
    return str(error).replace(error.url, mask(error.url))


def signature(secret: str, body: bytes, moment: datetime) -> str:
    seconds = int(moment.timestamp())
    return f"t={seconds},v1={hmac.new(secret.encode(), f'{seconds}.'.encode() + body, sha256).hexdigest()}"


def _excerpt(body: bytes) -> str:
    text = " ".join(body[:1000].decode("utf-8", "replace").split())
    return "".join(character for character in text if character.isprintable())[:MAX_PLACE]
