"""Why a request failed, in the words of the run report. Every failure has a reason; none is ``error`` if it can be helped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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

from newsportal.errors import ArchiveError, EgressDenied, RenderFailed
from newsportal.middlewares.retry import asked_wait

if TYPE_CHECKING:
    from twisted.python.failure import Failure

PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})
"""The server may answer differently later."""

SAID: tuple[tuple[str, str], ...] = (
    ("max redirections reached", "redirects"),
    ("exceeded DOWNLOAD_MAXSIZE", "too-large"),
)
"""What Scrapy says when it ignores a response, and the reason: it raises nothing more telling."""


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
        if 300 <= status < 400:  # Scrapy follows all that it may: this one leads to file:, data: or nowhere
            return Outcome("redirect-denied", f"HTTP {status} to {error.response.headers.get('Location')!r}", forbidden=True)
        return Outcome(f"http-{status}", f"HTTP {status}", passing=status in PASSING_STATUS)
    if isinstance(error, EgressDenied):
        return Outcome("egress-denied", detail, forbidden=True)
    if isinstance(error, RenderFailed):
        return Outcome(error.reason, detail, passing=error.passing)
    if isinstance(error, IgnoreRequest):
        said = next((reason for words, reason in SAID if words in detail), "ignored")
        return Outcome(getattr(error, "reason", said), detail, passing=bool(getattr(error, "passing", False)), forbidden=True)
    for kind, reason, passing in REASONS:
        if isinstance(error, kind):
            return Outcome(reason, detail, passing=passing)
    return Outcome(f"error: {type(error).__name__}", detail)


def retry_after(failure: Failure, now: datetime) -> float | None:
    """Seconds that the answer asks to wait; ``None`` if it does not, or if there is none."""
    response = getattr(failure.value, "response", None)
    return None if response is None else asked_wait(response, now)
