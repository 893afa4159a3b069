"""Retries, but not against the server's word: a 429 or 503 that says when to come back is not asked again before."""

from __future__ import annotations

import email.utils
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

PATIENT = frozenset({429, 503})
"""Statuses that may carry Retry-After (RFC 9110 10.2.3, RFC 6585 4)."""

MAX_WAIT = timedelta(days=1)
"""A Retry-After of ten years means: not today."""


def read_retry_after(response: Response, now: datetime) -> float | None:
    """Seconds that a 429 or 503 asks to wait (a number or a date), at most a day; ``None`` where it asks for none that is to come."""
    if response.status not in PATIENT:
        return None
    written = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if written.isdecimal():
        return min(float(written[:12]), MAX_WAIT.total_seconds()) or None
    try:
        moment = email.utils.parsedate_to_datetime(written)
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(seconds, MAX_WAIT.total_seconds()) if seconds > 0 else None


class PatientRetryMiddleware(RetryMiddleware):
    """Scrapy's retries; an answer that asks to wait goes to the spider instead, which rests the source or defers the link."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Request | Response:
        if read_retry_after(response, datetime.now(UTC)):
            return response
        return super().process_response(request, response)
