"""Answers with a tag: who has the same already is told so, and is sent nothing (RFC 9110 section 8.8.3)."""

from __future__ import annotations

from hashlib import blake2b

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

HEADERS = {"cache-control": "private, no-cache", "vary": "Authorization, Cookie"}


def tagged(request: Request, told: BaseModel) -> Response:
    """``told`` as JSON; 304 for somebody who names its tag."""
    body = told.model_dump_json().encode("utf-8", "replace")
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers={**HEADERS, "etag": tag})
    return Response(body, media_type="application/json", headers={**HEADERS, "etag": tag})
