"""Scrapy's redirects, for targets that are no addresses (``http://host:99999/``), at which Scrapy raises ``ValueError``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares import redirect
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy.http import Request, Response


class BadRedirect(IgnoreRequest):
    """Raised for a redirect to what is no address. ``reason`` is counted for the page."""

    reason = "bad-address"


class RedirectMiddleware(redirect.RedirectMiddleware):
    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]  # older Scrapy: spider
        """Raises :class:`BadRedirect`."""
        try:
            return super().process_response(request, response)
        except ValueError as error:
            raise BadRedirect(f"{request.url} leads to {response.headers.get('Location')!r}: {error}") from error


class MetaRefreshMiddleware(redirect.MetaRefreshMiddleware):
    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]  # older Scrapy: spider
        try:
            return super().process_response(request, response)
        except ValueError:
            return response  # as browsers, which show the page
