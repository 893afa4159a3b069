"""What errors of Elasticsearch mean, and what to do."""

from __future__ import annotations

from typing import Any

from elastic_transport import ConnectionError as Lost
from elastic_transport import ConnectionTimeout, SerializationError, TlsError, TransportError
from elasticsearch import ApiError, UnsupportedProductError

from newsportal.errors import ServerUnavailable, StoreError, StoreUnavailable

FULL = "flood-stage"
"""In what Elasticsearch says when a disk is full: it lets nothing be written any more."""

REJECTED = 429
"""A queue of the server's is full: of writes, often, while it answers what is read."""

BUSY = frozenset({REJECTED, 502, 503, 504})
"""Answers after which trying again helps: too much to do, or starting."""

SHOWN = 300
"""Characters shown of what a server says."""


class Busy(StoreUnavailable):
    """The server may answer otherwise in a moment. Raised inside a question, so that it is asked again."""


def explained(error: TransportError | ApiError | UnsupportedProductError, place: str) -> StoreError:
    """The error of ours that says what ``error`` means. Unknown ones keep the server's words."""
    if isinstance(error, UnsupportedProductError):
        return StoreError(f"{place}: what answers there is not Elasticsearch; correct the URI")
    if isinstance(error, ApiError):
        return answered(error.status_code, cause(error.body), place)
    if isinstance(error, ConnectionTimeout):
        return ServerUnavailable(f"{place}: the server does not answer in time; see whether it is overloaded, and try again")
    if isinstance(error, TlsError):
        return StoreError(f"{place}: no secure connection ({error}); name the server's certificate in the URI: ?ca_certs=FILE")
    if isinstance(error, Lost):
        return ServerUnavailable(f"{place}: Elasticsearch is away ({_cut(error.message)}); start it, or correct the URI")
    if isinstance(error, SerializationError):
        return StoreError(f"{place}: what was asked or answered is not JSON ({error}); is there a proxy in between?")
    return StoreUnavailable(f"{place}: {_cut(str(error))}")


def answered(status: int, told: str, place: str) -> StoreError:
    """What an answer of this status and these words means."""
    if FULL in told:
        return StoreUnavailable(f"{place}: the disk is nearly full, so nothing can be written; make room on it, and Elasticsearch goes on")
    if "blocked by" in told or "read-only" in told:
        return StoreUnavailable(
            f"{place}: it is read-only ({_cut(told)}); see that the disk has room, then take the block away: "
            'PUT /PREFIX-*/_settings {"index.blocks.read_only_allow_delete": null, "index.blocks.read_only": null}'
        )
    if status == 401:
        return StoreUnavailable(
            f"{place}: user or password is wrong; write them into the URI: elasticsearch+https://USER:PASSWORD@HOST:9200"
        )
    if status == 403:
        return StoreUnavailable(
            f"{place}: this user may not do that ({_cut(told)}); give the user the privilege `all` on the indices PREFIX-*"
        )
    if status == 413:
        return StoreError(f"{place}: what was sent is too large; raise http.max_content_length of the server, or leave the article out")
    if status in BUSY:
        unavailable = StoreUnavailable if status == REJECTED else ServerUnavailable
        return unavailable(f"{place}: the server has too much to do, or is starting ({_cut(told)}); try again")
    if status >= 500:
        return StoreUnavailable(f"{place}: the server failed ({_cut(told)}); see its log")
    return StoreError(f"{place}: {_cut(told)}")


def cause(body: Any) -> str:
    """What an answer that tells of an error says."""
    told = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(told, dict):
        inner = told.get("caused_by") or {}
        return ": ".join(str(part) for part in (told.get("type"), told.get("reason"), inner.get("reason")) if part)
    return str(told)


def _cut(text: str) -> str:
    return text[:SHOWN]
