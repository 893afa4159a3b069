"""Answers from a saved crawl."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from newsportal.net.egress import TooLarge, decompress

if TYPE_CHECKING:
    from scrapy import Request

    from newsportal.net.archive import Index, Recorded

MISSING = 404
"""What a URL that the archive lacks answers."""

PROBE = 1 << 20
"""Bytes unpacked to see whether a body is packed as its header says."""


def answer(request: Request, index: Index, max_bytes: int) -> Response:
    """The archive's answer; a 404 flagged ``replay-missing`` where it has none. Raises ``DownloadCancelledError`` for one too long."""
    found = index.get(request.url, max_bytes or None)
    if found is None:
        return Response(request.url, status=MISSING, flags=["replay-missing"])
    if found.truncated:
        raise DownloadCancelledError(f"more than {max_bytes} bytes in {index.path}: {request.url}")
    headers = Headers()
    for name, value in _honest(found):
        headers.appendlist(name, value.encode("utf-8"))
    headers["Content-Length"] = str(len(found.body))
    kind = responsetypes.from_args(headers=headers, url=request.url, body=found.body)
    return kind(request.url, status=found.status, headers=headers, body=found.body, flags=["replay"], protocol="HTTP/1.1")


def _honest(found: Recorded) -> list[tuple[str, str]]:
    """Headers without a content encoding that was undone before the archive was written (many crawlers keep the header)."""
    encodings = ", ".join(value for name, value in found.headers if name.lower() == "content-encoding")
    if not encodings or _is_packed(found.body, encodings):
        return list(found.headers)
    return [(name, value) for name, value in found.headers if name.lower() != "content-encoding"]


def _is_packed(body: bytes, encodings: str) -> bool:
    try:
        return bool(decompress(body, encodings, PROBE)) or not body
    except TooLarge:
        return True
    except (ValueError, zlib.error):
        return False
