"""``/login`` and ``/logout``; ``/account``: password, sessions and tokens.

A wrong name takes as long as a wrong password and gives the same message; tries are limited across all processes. Signing in always creates
a new session, against session fixation. Requests with a token may not create tokens or change the password.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from math import ceil
from typing import Any, cast

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.errors import AccountError
from newsportal.messages import Message
from newsportal.portal.access import KEEP, accounts_of, address_of, cookie_name, identity_of, log_change, or_404
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.preferences import remember, safe_next
from newsportal.portal.reading.for_you import NAME as READER
from newsportal.portal.reading.for_you import WELL_FORMED, reader_of, set_reader_cookie
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Accounts, Identity, Person, Right, Role
from newsportal.services.accounts.people import MIN_PASSWORD_CHARS
from newsportal.services.accounts.sessions import LONGEST

open_router = APIRouter()
logger = logging.getLogger(__name__)

HASHED_AT_ONCE = 2  # passwords hashed at once: each takes memory and time, and readers need threads meanwhile
MINUTE = 60


@open_router.get("/login")
def login_form(request: Request) -> Response:
    target = safe_next(Visit(request).text("next", 2000))
    if identity_of(request) is not None:
        return RedirectResponse(target, 303, headers={"cache-control": "no-store"})
    ended = Visit(request).say("You are not signed in, so nothing was saved. Sign in and send it again.")
    return render(request, "login.html", next=target, name="", error=ended if Visit(request).text("ended") else None)


@open_router.post("/login")
async def login(request: Request, fields: Form) -> Response:
    accounts = accounts_of(request)
    name, target = fields.get("name", "").strip(), safe_next(fields.get("next"))
    wait, person = await run_sync(_check_password, request, accounts, name, fields.get("password", ""), limiter=limiter_of(request))
    if person is None:
        return await run_in_threadpool(_refuse, request, name, target, wait)
    response = RedirectResponse(target, 303, headers={"cache-control": "no-store"})
    await run_in_threadpool(_begin_session, request, accounts, person, response)
    return response


@open_router.post("/logout")
async def logout(request: Request) -> Response:
    accounts, secret = accounts_of(request), request.cookies.get(cookie_name(request))
    if secret:
        await run_in_threadpool(accounts.sessions.end, secret)
    response = RedirectResponse("/", 303, headers={"cache-control": "no-store"})
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="lax", secure=request.url.scheme == "https")
    return response


def limiter_of(request: Request) -> CapacityLimiter:
    state = request.app.state
    if not hasattr(state, "signing_in"):
        state.signing_in = CapacityLimiter(HASHED_AT_ONCE)
    return cast(CapacityLimiter, state.signing_in)


def _check_password(request: Request, accounts: Accounts, name: str, password: str) -> tuple[timedelta, Person | None]:
    """Return how long to wait, or the person; neither if the password is wrong."""
    now, address = Visit(request).portal.now(), address_of(request)
    wait = accounts.attempts.begin(name, address, now=now)
    if wait > timedelta():
        return wait, None
    person = accounts.people.authenticate(name, password)
    if person is not None:
        accounts.attempts.record_success(name, address, now=now)
    return timedelta(), person


def _refuse(request: Request, name: str, target: str, wait: timedelta) -> Response:
    logger.warning("sign-in refused for %s%s", address_of(request), ", too many tries" if wait else "")
    if not wait:
        return render(request, "login.html", 403, next=target, name=name, error=Visit(request).say("Name or password is wrong."))
    response = render(request, "login.html", 429, next=target, name=name, error=describe_wait(request, wait))
    response.headers["retry-after"] = str(ceil(wait.total_seconds()))
    return response


def describe_wait(request: Request, wait: timedelta) -> str:
    visit, seconds = Visit(request), ceil(wait.total_seconds())
    if seconds < MINUTE:
        return visit.say("Too many tries. Try again in %(num)s {second|seconds}.", num=seconds)
    minutes = ceil(seconds / MINUTE)
    return visit.say("Too many tries. Try again in %(num)s {minute|minutes}.", num=minutes)


def _begin_session(request: Request, accounts: Accounts, person: Person, response: Response) -> None:
    """Begin a new session and end the browser's former one."""
    old, now = request.cookies.get(cookie_name(request)), Visit(request).portal.now()
    if old:
        accounts.sessions.end(old)
    address = request.client.host if request.client else ""
    secret = accounts.sessions.begin(person.id, now=now, address=address, agent=request.headers.get("user-agent", ""))
    length, secure = int(LONGEST.total_seconds()), request.url.scheme == "https"
    response.set_cookie(cookie_name(request), secret, max_age=length, samesite="lax", path="/", httponly=True, secure=secure)
    request.state.signed = accounts.sessions.authenticate(secret, now=now)
    log_change(request, "session.begin")
    stored, reader = accounts.preferences.of(person.id), reader_of(request)
    remember(response, stored)
    if (name := stored.get(READER)) and WELL_FORMED.fullmatch(name):
        set_reader_cookie(response, request, name)
    elif reader.name and reader.is_recorded:
        accounts.preferences.save(person.id, {READER: reader.name})


router = APIRouter(dependencies=KEEP)

TOKEN_DAYS = (30, 90, 365, 0)  # days that a token is valid; 0: until it is revoked


@router.get("/account")
def account(request: Request) -> Response:
    return _page(request)


@router.post("/account/password")
async def change_password(request: Request, fields: Form) -> Response:
    return await run_sync(_change_password, request, fields, limiter=limiter_of(request))


@router.post("/account/sessions/end")
def end_session(request: Request, fields: Form) -> Response:
    """End the session with the digest ``session``; without one, all sessions except this one."""
    user, accounts, name = _session_of(request), accounts_of(request), fields.get("session")
    if name:
        accounts.sessions.end_one(user.person.id, name)
    else:
        accounts.sessions.end_all(user.person.id, except_session=user.credential)
    log_change(request, "session.end", "" if name else "all")
    return notify(request, "/account", _("The session has ended.") if name else _("All other sessions have ended."))


@router.post("/account/tokens")
def create_token(request: Request, fields: Form) -> Response:
    user, accounts, visit = _session_of(request), accounts_of(request), Visit(request)
    name, selected, days = fields.get("token_name", ""), fields.getlist("rights"), fields.get("days", "90")
    length = int(days) if days in map(str, TOKEN_DAYS) else TOKEN_DAYS[0]
    now = visit.portal.now()
    rights, expires = [right for right in Right if right in selected], now + timedelta(days=length) if length else None
    try:
        created, secret = accounts.tokens.add(user.person, name, rights, now=now, expires=expires)
    except AccountError as error:
        place = "rights" if error.code == "invalid-token-rights" else "token_name"
        typed = {"token_name": name, "rights": selected, "days": days}
        return _page(request, 422, errors={place: visit.clock.says(error.message)}, values=typed)
    log_change(request, "token.add", created.name, {"rights": sorted(created.rights), "days": length})
    return _page(request, secret=secret)


@router.post("/account/tokens/revoke")
def revoke_token(request: Request, fields: Form) -> Response:
    user, accounts = _session_of(request), accounts_of(request)
    token = or_404(next((token for token in accounts.tokens.of(user.person.id) if token.id == fields.get("token", "")), None))
    accounts.tokens.revoke(token.id, person_id=user.person.id)
    log_change(request, "token.revoke", token.name)
    return notify(request, "/account", _("The token was revoked."))


def _session_of(request: Request) -> Identity:
    user = identity_of(request)
    if user is None or user.method != "session":
        raise HTTPException(403)
    return user


def _page(
    request: Request,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
    secret: str = "",
) -> Response:
    user, accounts, visit = _session_of(request), accounts_of(request), Visit(request)
    days = {number: visit.say("%(num)s {day|days}", num=number) for number in TOKEN_DAYS if number}
    return render(
        request, "account.html", status, identity=user, roles={role: visit.clock.says(Message(f"role.{role}")) for role in Role},
        rights={right: visit.clock.says(Message(f"right.{right}")) for right in Right},
        lifetimes={**days, 0: visit.say("until it is revoked")}, sessions=accounts.sessions.of(user.person.id, now=visit.portal.now()),
        tokens=accounts.tokens.of(user.person.id), errors=defaultdict(str, errors or {}), values=dict(values or {}), secret=secret,
        min_length=MIN_PASSWORD_CHARS,
    )  # fmt: skip


def _change_password(request: Request, fields: Mapping[str, str]) -> Response:
    user, accounts, visit = _session_of(request), accounts_of(request), Visit(request)
    if fields.get("new") != fields.get("again"):
        return _page(request, 422, errors={"again": visit.say("The passwords do not match.")})
    wait, person = _check_password(request, accounts, user.person.name, fields.get("old", ""))
    if wait:
        return _page(request, 429, errors={"old": describe_wait(request, wait)})
    if person is None:
        return _page(request, 422, errors={"old": visit.say("The current password is wrong.")})
    try:
        accounts.people.set_password(user.person.id, fields.get("new", ""), except_session=user.credential)
    except AccountError as error:
        return _page(request, 422, errors={"new": visit.clock.says(error.message)})
    log_change(request, "person.password", person.name)
    return notify(request, "/account", _("The password was changed; all other sessions and all tokens have ended."))
