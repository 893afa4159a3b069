"""Who asks, and whether he may. Every router says what right it needs (``dependencies=[needs(Right.EDIT)]``); a test walks over all routes.

Reading is open to anybody, unless ``portal.reading`` says that it is for members. Without accounts (``create_app(accounts=None)``) nobody
can sign in: there is no desk, and nothing can be changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import Depends, HTTPException, Request
from fastapi.params import Depends as Dependency
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right, Signed

if TYPE_CHECKING:
    from newsportal.portal.context import Portal

COOKIE: Final = "session"

SECURE_COOKIE: Final = "__Host-session"
"""Over HTTPS: a browser takes it from this very host alone, for all of it, and sends it over HTTPS alone (RFC 6265bis, 4.1.3.2)."""

BEARER: Final = "bearer "

UNASKED: Any = object()


def cookie_name(request: Request) -> str:
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def bearer(request: Request) -> str | None:
    """The token that a program sent. Where there is one, the cookie does not count: no page can let a browser send a token."""
    told = request.headers.get("authorization", "")
    return told[len(BEARER) :].strip() if told[: len(BEARER)].lower() == BEARER else None


def signed(request: Request) -> Signed | None:
    """Who is signed in; asked of the accounts once a request. A blocking call the first time."""
    known = getattr(request.state, "signed", UNASKED)
    if known is UNASKED:
        known = request.state.signed = _signed(request)
    return cast(Signed | None, known)


def _signed(request: Request) -> Signed | None:
    portal: Portal = request.app.state.portal
    if portal.accounts is None:
        return None
    token = bearer(request)
    if token is not None:
        return portal.accounts.tokens.signed(token, now=portal.now())
    secret = request.cookies.get(cookie_name(request))
    return portal.accounts.sessions.signed(secret, now=portal.now()) if secret else None


def may(request: Request, right: Right) -> bool:
    """Whether who asks has ``right``."""
    portal: Portal = request.app.state.portal
    if right is Right.READ and (portal.accounts is None or not portal.site.members):
        return bearer(request) is None or portal.accounts is None or _reads(signed(request))
    who = signed(request)
    return who is not None and who.may(right)


def _reads(who: Signed | None) -> bool:
    """A token that nobody knows, or that was not given this right, reads nothing, even where all may: its owner wants to know."""
    return who is not None and who.may(Right.READ)


class Needs:
    """A dependency of a route: 401 for the anonymous, 403 for somebody without the right, 404 where nobody can sign in.

    ``right`` is what the walk over routes reads.
    """

    def __init__(self, right: Right) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        if await run_in_threadpool(may, request, self.right):
            return
        if request.app.state.portal.accounts is None:
            raise HTTPException(404)
        raise HTTPException(401 if signed(request) is None else 403)


def needs(right: Right) -> Dependency:
    """What a router or a route declares: ``APIRouter(dependencies=[needs(Right.EDIT)])``."""
    asked: Callable[[Request], Awaitable[None]] = Needs(right)
    made: Dependency = Depends(asked)
    return made


def log(request: Request, action: str, thing: str = "", details: Mapping[str, Any] | None = None) -> None:
    """Write down what who asks has just changed. Every change by a person is; a blocking call.

    ``action``: what was done, as ``part.verb`` (``source.change``, ``topic.delete``, ``article.hide``). ``thing``: to what, by its key or
    id. ``details``: what somebody wants to know later, such as the values before and after; never a secret.
    """
    portal: Portal = request.app.state.portal
    if portal.accounts is not None:
        address = request.client.host if request.client else ""
        portal.accounts.trail.add(signed(request), action, thing, details, now=portal.now(), address=address)
