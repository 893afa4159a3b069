"""Retries, but not against the server's word: a 429 or 503 that says when to come back is not asked again before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

PATIENT = frozenset({429, 503})
"""Statuses that may carry Retry-After (RFC 9110 10.2.3, RFC 6585 4)."""


class PatientRetryMiddleware(RetryMiddleware):
    """Scrapy's retries; an answer with Retry-After goes to the spider instead, which rests the source and defers the link."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Request | Response:
        if response.status in PATIENT and response.headers.get("Retry-After"):
            return response
        return super().process_response(request, response)
