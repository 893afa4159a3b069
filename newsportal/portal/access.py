"""Who asks, and whether he may. Every router says what right it needs (``dependencies=[needs(Right.EDIT)]``); a test walks over all routes.

Reading is open to anybody. Without accounts (``create_app(accounts=None)``) nobody can sign in, and nothing can be changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from fastapi import Depends, HTTPException, Request
from fastapi.params import Depends as Dependency
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right, Signed

if TYPE_CHECKING:
    from newsportal.portal.context import Portal

COOKIE = "session"

UNASKED: Any = object()


def signed(request: Request) -> Signed | None:
    """Who is signed in; asked of the accounts once a request."""
    known = getattr(request.state, "signed", UNASKED)
    if known is not UNASKED:
        return cast(Signed | None, known)
    portal: Portal = request.app.state.portal
    secret = request.cookies.get(COOKIE)
    found = portal.accounts.signed(secret, now=portal.now()) if portal.accounts is not None and secret else None
    request.state.signed = found
    return found


def may(request: Request, right: Right) -> bool:
    """Whether who asks has ``right``."""
    if right is Right.READ:
        return True
    if request.app.state.portal.accounts is None:
        return right is Right.WATCH
    who = signed(request)
    return who is not None and who.may(right)


class Needs:
    """A dependency of a route: 401 for the anonymous, 403 for somebody without the right. ``right`` is what the walk over routes reads."""

    def __init__(self, right: Right) -> None:
        self.right = right

    async def __call__(self, request: Request) -> None:
        if not await run_in_threadpool(may, request, self.right):
            raise HTTPException(403 if signed(request) is not None or request.app.state.portal.accounts is None else 401)


def needs(right: Right) -> Dependency:
    """What a router or a route declares: ``APIRouter(dependencies=[needs(Right.EDIT)])``."""
    asked: Callable[[Request], Awaitable[None]] = Needs(right)
    made: Dependency = Depends(asked)
    return made
