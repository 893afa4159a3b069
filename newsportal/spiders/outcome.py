"""Why a request failed, in the words of the run report. Every failure has a reason; none is ``error`` if it can be helped."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError

from newsportal.errors import ArchiveError, EgressDenied

if TYPE_CHECKING:
    from twisted.python.failure import Failure

PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})
"""The server may answer differently later."""

MAX_REST = timedelta(days=1)
"""A Retry-After of ten years means: not today."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``passing``: worth another try in a later run. ``forbidden``: we may not have it (robots, private address)."""

    reason: str
    detail: str
    passing: bool = False
    forbidden: bool = False


REASONS: tuple[tuple[type[BaseException], str, bool], ...] = (
    (CannotResolveHostError, "dns", True),
    (DownloadTimeoutError, "timeout", True),
    (DownloadConnectionRefusedError, "connection-refused", True),
    (DownloadCancelledError, "too-large", False),
    (UnsupportedURLSchemeError, "scheme", False),
    (ArchiveError, "archive", True),
    (DownloadFailedError, "connection", True),
    (ResponseDataLossError, "connection", True),
    (OSError, "connection", True),
)
"""The first class that fits gives the reason; the flag says whether it may pass."""


def outcome_of(failure: Failure) -> Outcome:
    """The reason of a failed request."""
    error = failure.value
    detail = str(error) or type(error).__name__
    if isinstance(error, HttpError):
        status = error.response.status
        return Outcome(f"http-{status}", f"HTTP {status}", passing=status in PASSING_STATUS)
    if isinstance(error, EgressDenied):
        return Outcome("egress-denied", detail, forbidden=True)
    if isinstance(error, IgnoreRequest):
        return Outcome(getattr(error, "reason", "ignored"), detail, passing=bool(getattr(error, "passing", False)), forbidden=True)
    for kind, reason, passing in REASONS:
        if isinstance(error, kind):
            return Outcome(reason, detail, passing=passing)
    return Outcome(f"error: {type(error).__name__}", detail)


def retry_after(failure: Failure, now: datetime) -> float | None:
    """Seconds that a 429 or 503 asks to wait (a number or a date), at most a day; ``None`` without a usable answer."""
    response = getattr(failure.value, "response", None)
    if response is None or response.status not in (429, 503):
        return None
    written = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if written.isdigit():
        return min(float(written[:12]), MAX_REST.total_seconds()) or None
    try:
        moment = email.utils.parsedate_to_datetime(written)
    except (ValueError, TypeError):
        return None
    seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    return min(seconds, MAX_REST.total_seconds()) if seconds > 0 else None
