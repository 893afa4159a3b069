"""Checks of every request and response: a known host name, security headers, HEAD wherever there is GET, and bodies only from our pages."""

import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newsportal.net.egress.addresses import is_literal
from newsportal.portal.access import API_PREFIX, STATUSES, ApiError, error_response
from newsportal.portal.request_body import SAFE, SIGNING, WEBSUB_PREFIX, Refused, body_limit, receive_body

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
"""Host names of a portal on this machine. Any other name may be a stranger's page that resolves to us (DNS rebinding)."""

ANY_ADDRESS = "any address"
"""An allowed host that matches every IP literal: rebinding needs a name, so a numeric address is always intended."""

ANY_HOST = "*"

STATIC = "/static/"

HOST_HEADER = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
"""RFC 9110 section 7.2 without user names and escapes: the header becomes part of URLs in feeds."""

SECURITY_HEADERS = {
    # Pictures of articles come from the sites that published them; everything else comes from the portal.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http:; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    # Other sites do not learn the referrer. With ``no-referrer`` our own forms would be sent with ``Origin: null`` (Fetch, 3.1).
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def hosts_of(bind: str, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the host names of a portal listening on ``bind``: itself, loopback, ``more``; and all IP literals if it is a wildcard."""
    names = (name.strip("[]").lower() for name in (bind, *more))
    return tuple(dict.fromkeys((*LOCAL_HOSTS, *names, *((ANY_ADDRESS,) if is_wildcard(bind) else ()))))


def is_wildcard(bind: str) -> bool:
    return bind.strip("[]") in ("", "0.0.0.0", "::")  # noqa: S104


class RequestGuard:
    """The middleware that applies these checks."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers["cache-control"] = cache_control_of(headers.get("cache-control"), scope)
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        headers = Headers(scope=scope)
        if not self.accepts_host(headers.get("host", "")):
            await UNKNOWN_HOST(scope, receive, send_guarded)
        elif scope["method"] in SAFE or (scope["method"] == "POST" and scope["path"].startswith(WEBSUB_PREFIX)):
            await self.app({**scope, "method": "GET"} if head else scope, receive, send_guarded)
        else:
            try:
                https, signing = scope.get("scheme") == "https", scope["path"] in SIGNING
                body = await receive_body(headers, receive, body_limit(scope["path"]), https=https, signing=signing)
            except Refused as reason:
                await refusal_response(scope, reason)(scope, receive, send_guarded)
            else:
                await self.app(scope, body, send_guarded)

    def accepts_host(self, header: str) -> bool:
        """Return whether the ``Host`` header, of any port, names this portal. A malformed header is always refused."""
        match = HOST_HEADER.fullmatch(header)
        if not match:
            return False
        name = (match["address"] or match["name"]).lower().rstrip(".")
        return not self.hosts.isdisjoint((name, ANY_HOST)) or (ANY_ADDRESS in self.hosts and is_literal(name))


UNKNOWN_HOST = PlainTextResponse(
    "This portal does not answer to that host name. Whoever runs it can allow it: newsportal serve --allow-host NAME\n", status_code=400
)


def refusal_response(scope: Scope, reason: Refused) -> Response:
    """Return the response to a refused request: JSON for the API, plain text otherwise."""
    if scope["path"].startswith(API_PREFIX):
        return error_response(reason.status, error=ApiError(reason.status, STATUSES[reason.status][0], str(reason)))
    return PlainTextResponse(f"{reason}\n", reason.status)


def cache_control_of(header: str | None, scope: Scope) -> str:
    """Return ``Cache-Control``: ``no-store`` unless the page sets its own; ``private`` in a portal for members, except for static files."""
    if header is None:
        return "no-store"
    portal = getattr(getattr(scope.get("app"), "state", None), "portal", None)
    if portal is None or not portal.site.members or scope["path"].startswith(STATIC):
        return header
    return ", ".join(("private", *(part for part in map(str.strip, header.split(",")) if part not in ("public", "private"))))
