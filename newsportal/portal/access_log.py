"""Request ids, in a response header and in the log, and a log line per request with ``newsportal serve --access-log``."""

import logging
import secrets
from time import perf_counter
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newsportal.logs import CONTEXT

log = logging.getLogger(__name__)

REQUEST_ID_HEADER: Final = "x-request-id"


def enable(handler: logging.Handler) -> None:
    """Write a line per request to ``handler`` only: the log page of the monitor has room for warnings only."""
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(handler)


class RequestIds:
    """The outermost middleware, except that for proxies. The context stays set when it ends, because crashes are logged outside of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, sent = perf_counter(), 500, 0
        id = scope.setdefault("state", {})["request_id"] = secrets.token_hex(8)
        CONTEXT.set(lambda: {"request": id})

        async def send_with_id(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = id
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            if log.isEnabledFor(logging.INFO):
                # The URL is logged as it was sent, escaped, without its query: that may hold search terms or a secret.
                seconds = perf_counter() - began
                client, method = (scope.get("client") or ("-",))[0], scope["method"]
                path = scope.get("raw_path", b"").decode("latin-1").partition("?")[0] or scope["path"]
                facts = {"client": client, "method": method, "url": path, "status": status, "bytes": sent, "seconds": round(seconds, 4)}
                log.info("%s %s %s %d %d bytes %.3f s", client, method, path, status, sent, seconds, extra=facts)
