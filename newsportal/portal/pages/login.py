"""``/login`` and ``/logout``.

A wrong name takes as long as a wrong password and reads the same; how often somebody may try is bounded over all processes
(:mod:`newsportal.accounts.attempts`). A session is always a new one, so that nobody can be given one that somebody else knows.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from math import ceil

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Accounts, Person
from newsportal.accounts.sessions import LONGEST
from newsportal.portal.access import cookie_name, log, signed
from newsportal.portal.context import Visit
from newsportal.portal.pace import address_of
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import render
from newsportal.portal.sent import Form

router = APIRouter()
logger = logging.getLogger(__name__)

AT_ONCE = 2
"""Passwords that are looked at together: each takes memory and time, and whoever reads meanwhile is to have threads left."""

MINUTE = 60


@router.get("/login")
def asked(request: Request) -> Response:
    accounts_of(request)
    target = safe_next(Visit(request).text("next", 2000))
    if signed(request) is not None:
        return RedirectResponse(target, 303, headers={"cache-control": "no-store"})
    return render(request, "login.html", next=target, name="", mistake=None)


@router.post("/login")
async def login(request: Request, sent: Form) -> Response:
    accounts = accounts_of(request)
    name, target = sent.get("name", "").strip(), safe_next(sent.get("next"))
    wait, person = await run_sync(_tried, request, accounts, name, sent.get("password", ""), limiter=limiter_of(request))
    if person is None:
        return await run_in_threadpool(_refused, request, name, target, wait)
    answer = RedirectResponse(target, 303, headers={"cache-control": "no-store"})
    await run_in_threadpool(_begin, request, accounts, person, answer)
    return answer


@router.post("/logout")
async def logout(request: Request) -> Response:
    accounts, secret = accounts_of(request), request.cookies.get(cookie_name(request))
    if secret:
        await run_in_threadpool(accounts.sessions.end, secret)
    answer = RedirectResponse("/", 303, headers={"cache-control": "no-store"})
    answer.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="lax", secure=request.url.scheme == "https")
    return answer


def accounts_of(request: Request) -> Accounts:
    """Those of this portal. Raises a 404 where it has none."""
    found = Visit(request).portal.accounts
    if found is None:
        raise HTTPException(404)
    return found


def limiter_of(request: Request) -> CapacityLimiter:
    state = request.app.state
    if not hasattr(state, "signing_in"):
        state.signing_in = CapacityLimiter(AT_ONCE)
    found: CapacityLimiter = state.signing_in
    return found


def _tried(request: Request, accounts: Accounts, name: str, password: str) -> tuple[timedelta, Person | None]:
    """How long to wait, or who it is; neither if the password is wrong."""
    now, address = Visit(request).portal.now(), address_of(request)
    wait = accounts.attempts.begin(name, address, now=now)
    if wait > timedelta():
        return wait, None
    person = accounts.people.checked(name, password)
    if person is not None:
        accounts.attempts.succeeded(name, address, now=now)
    return timedelta(), person


def _refused(request: Request, name: str, target: str, wait: timedelta) -> Response:
    logger.warning("sign-in refused for %s%s", address_of(request), ", too many tries" if wait else "")
    words = Visit(request).clock.words
    if not wait:
        return render(request, "login.html", 403, next=target, name=name, mistake=words.gettext("Name or password is wrong."))
    answer = render(request, "login.html", 429, next=target, name=name, mistake=wait_told(request, wait))
    answer.headers["retry-after"] = str(ceil(wait.total_seconds()))
    return answer


def wait_told(request: Request, wait: timedelta) -> str:
    """ "Too many tries", and how long to wait."""
    words, seconds = Visit(request).clock.words, ceil(wait.total_seconds())
    if seconds < MINUTE:
        told = words.ngettext("Too many tries. Try again in %(num)d second.", "Too many tries. Try again in %(num)d seconds.", seconds)
        return told % {"num": seconds}
    minutes = ceil(seconds / MINUTE)
    told = words.ngettext("Too many tries. Try again in %(num)d minute.", "Too many tries. Try again in %(num)d minutes.", minutes)
    return told % {"num": minutes}


def _begin(request: Request, accounts: Accounts, person: Person, answer: Response) -> None:
    """A new session; one that the browser had before ends."""
    old, now = request.cookies.get(cookie_name(request)), Visit(request).portal.now()
    if old:
        accounts.sessions.end(old)
    address = request.client.host if request.client else ""
    secret = accounts.sessions.begin(person.id, now=now, address=address, agent=request.headers.get("user-agent", ""))
    length, secure = int(LONGEST.total_seconds()), request.url.scheme == "https"
    answer.set_cookie(cookie_name(request), secret, max_age=length, samesite="lax", path="/", httponly=True, secure=secure)
    request.state.signed = accounts.sessions.signed(secret, now=now)
    log(request, "session.begin")
