"""Limits on what may be sent to the portal: small bodies, of a few types, from our own pages only (threats F: CSRF on every change).

The browser states the sender: ``Sec-Fetch-Site``, which no page can forge, else ``Origin``, compared with ``Host`` (browsers send the
former over HTTPS and to this machine only). A request with neither is refused; other programs can send ``Origin``.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, HTTPException
from starlette.datastructures import Headers, ImmutableMultiDict
from starlette.requests import Request
from starlette.types import Message, Receive

SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))  # methods that change nothing (RFC 9110 section 9.2.1)
GREADER, FEVER = "/api/greader.php", "/api/fever.php"  # the paths at which reader apps expect these APIs, as other servers have them
SIGNING = frozenset((f"{GREADER}/accounts/ClientLogin", FEVER))  # requests to these paths carry a token; a cookie does not count
WEBSUB_PREFIX = "/websub/"  # where hubs push updates: they authenticate with a secret, and the route limits the body itself
MAX_BODY = 16_384  # bytes. The largest body that our pages send is the order of a photo story, some four bytes per picture
MAX_TEXT = 1_000_000  # bytes, where an editor sends an article or a file: a form takes nine for a Chinese character
MAX_FILE = 64 * 1024 * 1024  # bytes of a file that is streamed to the disk: a corpus. Lists of feeds are smaller

EDIT_PATHS = re.compile(
    r"/story/[^/]+/[^/]+/(?:edit|captions)|/(?:sources|topics|categories|templates|wrappers|schedule|articles)(?:/.*)?|/api/v1/.*|/api/greader\.php/.*|/mcp"
)  # paths to which editors send an article, a list or a page, and apps the ids of some thousand items

FILE_PATHS = re.compile(r"/(?:api/v1/)?(?:corpora(?:/.*)?|sources/opml)")
"""Paths to which files are sent. Such a route takes ``Request`` only and reads ``request.stream()`` or ``request.form()`` itself: FastAPI
reads the bodies of other parameters before it checks the rights."""

MAX_FIELDS = 2000  # of a form: a hundred suggested sources have a few each, and every topic
READ_TIMEOUT = 10.0  # seconds: a body of one packet that takes longer is delayed on purpose
FORM, JSON, PARTS = "application/x-www-form-urlencoded", "application/json", "multipart/form-data"

KINDS = frozenset((FORM, JSON))

FILES = frozenset((FORM, JSON, PARTS, "application/x-ndjson", "text/csv", "text/x-opml", "application/xml", "text/xml"))


class Refused(Exception):
    """Raised by :func:`receive_body`; the guard answers with ``status`` and the message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def is_same_origin(headers: Headers, *, https: bool = False) -> bool:
    """Return whether a page of this portal sent the request. ``https``: the portal is reached over HTTPS; a page of the same host over
    plain HTTP may come from an attacker on the network."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(headers.get("origin", ""))
    except ValueError:
        return False
    return bool(origin.netloc) and origin.netloc.lower() == headers.get("host", "").lower() and (origin.scheme == "https" or not https)


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """The maximum size of a body in bytes and its allowed media types. ``streamed``: the route reads it in parts."""

    max_bytes: int
    kinds: frozenset[str] = KINDS
    streamed: bool = False


def body_limit(path: str) -> BodyLimit:
    if FILE_PATHS.fullmatch(path):
        return BodyLimit(MAX_FILE, FILES, streamed=True)
    return BodyLimit(MAX_TEXT, KINDS | {PARTS}) if EDIT_PATHS.fullmatch(path) else BodyLimit(MAX_BODY)


TOKEN_HEADER = re.compile(r"(?:bearer |googlelogin auth=)(.*)", re.IGNORECASE | re.DOTALL)


def bearer(headers: Headers) -> str | None:
    """Return the token in ``Authorization``, also in the form of Google Reader's apps. No page can make a browser send one."""
    match = TOKEN_HEADER.match(headers.get("authorization", ""))
    return match[1].strip() if match else None


async def receive_body(headers: Headers, receive: Receive, limit: BodyLimit, *, https: bool = False, signing: bool = False) -> Receive:
    """Return a ``receive`` for the body, buffered or counted while read. ``signing``: a path of :data:`SIGNING`. Raises ``Refused``."""
    token = bearer(headers) is not None  # a token takes precedence over the cookie
    if not (token or signing or is_same_origin(headers, https=https)):
        raise Refused(403, "Only the portal's own pages may send requests that change something.")
    declared = headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > len(str(limit.max_bytes)) or int(declared) > limit.max_bytes:
        raise Refused(413, f"At most {limit.max_bytes} bytes may be sent.")
    kind, empty = headers.get("content-type", "").partition(";")[0].strip().lower(), declared == "0" and "transfer-encoding" not in headers
    if kind not in limit.kinds and (kind or not empty):
        raise Refused(415, "A form or JSON is expected.")
    return _count_bytes(receive, limit.max_bytes) if limit.streamed else await _read_whole(receive, limit.max_bytes)


async def _read_whole(receive: Receive, max_bytes: int) -> Receive:
    body, more = b"", True
    try:
        async with asyncio.timeout(READ_TIMEOUT):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "The connection was closed before the end of the body.")
                body, more = body + message.get("body", b""), message.get("more_body", False)
                if len(body) > max_bytes:
                    raise Refused(413, f"At most {max_bytes} bytes may be sent.")
    except TimeoutError as error:
        raise Refused(408, "The request body took too long to arrive.") from error
    read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return read.pop() if read else await receive()

    return replay


def _count_bytes(receive: Receive, max_bytes: int) -> Receive:
    """Return a ``receive`` that raises ``Refused`` in the route if the body exceeds ``max_bytes`` or a part does not arrive in time."""
    left, complete = max_bytes, False

    async def receive_counted() -> Message:
        nonlocal left, complete
        if complete:  # only a disconnect can follow
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), READ_TIMEOUT)
        except TimeoutError as error:
            raise Refused(408, "The request body took too long to arrive.") from error
        left, complete = left - len(message.get("body", b"")), not message.get("more_body", False)
        if left < 0:
            raise Refused(413, f"At most {max_bytes} bytes may be sent.")
        return message

    return receive_counted


async def read_stream(request: Request, max_bytes: int) -> bytes | None:
    """Return the body; ``None`` if it exceeds ``max_bytes``: the rest is not read."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            return None
    return bytes(body)


FormFields = ImmutableMultiDict[str, str]  # fields of a form: `get` returns the last value of a name, `getlist` all


async def form(request: Request) -> FormFields:
    """Return the fields of the form. Raises 400 if there are too many."""
    text = (await request.body()).decode(errors="replace")  # as parse_qsl does with escaped bytes
    try:
        return FormFields(parse_qsl(text, max_num_fields=MAX_FIELDS, keep_blank_values=True))
    except ValueError as error:
        raise HTTPException(400) from error


Form = Annotated[FormFields, Depends(form)]


def has_etag(request: Request, etag: str) -> bool:
    """Return whether ``If-None-Match`` has this ETag (RFC 9110 section 13.1.2: any of the tags, weak comparison)."""
    tags = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    return "*" in tags or etag.removeprefix("W/") in tags


async def json_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body; an empty one if the body is anything else."""
    try:
        value = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
