"""Calls the portal's own API within the process, with the caller's token: rights are checked there, as for any program."""

import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from mcp.server.mcpserver.exceptions import ToolError
from starlette.types import ASGIApp, Message

from newsportal import __version__

HOST: Final = b"127.0.0.1"  # a host name that every portal accepts
PREFIX: Final = "/api/v1"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of ``app``: its ``token`` (None: anonymous) and IP ``address``. ``base``: the prefix of links to the portal, or empty."""

    app: ASGIApp
    token: str | None = field(repr=False)
    address: str
    base: str


CALLER: Final[ContextVar[Caller]] = ContextVar("caller")


async def call(method: str, *path: str, params: Mapping[str, Any] | None = None, body: Any = None) -> Any:
    """Return the response of the API to ``METHOD /api/v1/PATH/…``. Raises ``ToolError`` with the API's message and remedy."""
    caller = CALLER.get()
    if method != "GET" and caller.token is None:
        raise ToolError(
            "not-signed-in: This needs a token. Make one at /account, or with: newsportal token add NAME assistant --right edit"
        )
    query = {key: value for key, value in (params or {}).items() if value is not None}
    status, content = await _exchange(caller, method, "/".join((PREFIX, *path)), query, body)
    result: Any = json.loads(content) if content else None
    if status < 400:
        return result
    fault = result["error"]
    problems = "; ".join(f"{problem['where']}: {problem['message']}" for problem in fault.get("problems", ()))
    parts = (f"{fault['code']}: {fault['message']}", problems, fault.get("remedy"))
    raise ToolError(" ".join(part for part in parts if part))


async def _exchange(caller: Caller, method: str, path: str, params: Mapping[str, Any], body: Any) -> tuple[int, bytes]:
    content = b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", HOST), (b"user-agent", f"newsportal-mcp/{__version__}".encode()), (b"content-length", b"%d" % len(content))]
    headers += [(b"content-type", b"application/json")] if content else []
    headers += [(b"authorization", f"Bearer {caller.token}".encode())] if caller.token else []
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
        "raw_path": quote(path).encode(), "query_string": urlencode(params).encode(), "root_path": "", "headers": headers,
        "client": (caller.address, 0), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]
    status, parts = 500, list[bytes]()

    async def receive() -> Message:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        parts.append(message.get("body", b""))

    await caller.app(scope, receive, send)
    return status, b"".join(parts)
