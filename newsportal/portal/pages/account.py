"""``/account``: one's password, sessions and tokens. Through a browser alone: a token makes no tokens, and changes no password."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right, Role, Signed
from newsportal.accounts.people import LEAST_PASSWORD
from newsportal.errors import AccountError
from newsportal.messages import Message
from newsportal.portal.access import log, needs, signed
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.pace import address_of
from newsportal.portal.pages.login import accounts_of, limiter_of, wait_told
from newsportal.portal.render import render
from newsportal.portal.sent import Form, Many

router = APIRouter(dependencies=[needs(Right.KEEP)])

LENGTHS = (30, 90, 365, 0)
"""Days that a token may count; 0: until it is revoked."""


@router.get("/account")
def account(request: Request) -> Response:
    return _page(request)


@router.post("/account/password")
async def password(request: Request, sent: Form) -> Response:
    return await run_sync(_password, request, sent, limiter=limiter_of(request))


@router.post("/account/sessions/end")
def end(request: Request, sent: Form) -> Response:
    """``session``: the one of this digest; without it all but this one."""
    who, accounts, name = _who(request), accounts_of(request), sent.get("session")
    if name:
        accounts.sessions.end_one(who.person.id, name)
    else:
        accounts.sessions.end_all(who.person.id, but=who.by)
    log(request, "session.end", "" if name else "all")
    return notify(request, "/account", _("The session has ended.") if name else _("All other sessions have ended."))


@router.post("/account/tokens")
def token(request: Request, sent: Many) -> Response:
    who, accounts, visit = _who(request), accounts_of(request), Visit(request)
    name, asked, days = (sent.get("token_name") or [""])[-1], sent.get("rights", []), (sent.get("days") or ["90"])[-1]
    length = int(days) if days in map(str, LENGTHS) else LENGTHS[0]
    now = visit.portal.now()
    rights, expires = [right for right in Right if right in asked], now + timedelta(days=length) if length else None
    try:
        made, secret = accounts.tokens.add(who.person, name, rights, now=now, expires=expires)
    except AccountError as error:
        place = "rights" if error.code == "token-rights" else "token_name"
        typed = {"token_name": name, "rights": asked, "days": days}
        return _page(request, 422, mistakes={place: visit.clock.says(error.message)}, typed=typed)
    log(request, "token.add", made.name, {"rights": sorted(made.rights), "days": length})
    return _page(request, secret=secret)


@router.post("/account/tokens/revoke")
def revoke(request: Request, sent: Form) -> Response:
    who, accounts = _who(request), accounts_of(request)
    found = next((one for one in accounts.tokens.of(who.person.id) if one.id == sent.get("token", "")), None)
    if found is None:
        raise HTTPException(404)
    accounts.tokens.revoke(found.id, person_id=who.person.id)
    log(request, "token.revoke", found.name)
    return notify(request, "/account", _("The token does not count any more."))


def _who(request: Request) -> Signed:
    who = signed(request)
    if who is None or who.way != "session":
        raise HTTPException(403)
    return who


def _page(
    request: Request,
    status: int = 200,
    *,
    mistakes: Mapping[str, str] | None = None,
    typed: Mapping[str, Any] | None = None,
    secret: str = "",
) -> Response:
    who, accounts, visit = _who(request), accounts_of(request), Visit(request)
    words = visit.clock.words
    days = {number: words.ngettext("%(num)d day", "%(num)d days", number) % {"num": number} for number in LENGTHS if number}
    return render(
        request,
        "account.html",
        status,
        who=who,
        roles={role: visit.clock.says(Message(f"role.{role}")) for role in Role},
        rights={right: visit.clock.says(Message(f"right.{right}")) for right in Right},
        lengths={**days, 0: words.gettext("until it is revoked")},
        sessions=accounts.sessions.of(who.person.id, now=visit.portal.now()),
        tokens=accounts.tokens.of(who.person.id),
        mistakes=defaultdict(str, mistakes or {}),
        typed=dict(typed or {}),
        secret=secret,
        least=LEAST_PASSWORD,
    )


def _password(request: Request, sent: Mapping[str, str]) -> Response:
    who, accounts, visit = _who(request), accounts_of(request), Visit(request)
    said, name, address = visit.clock.words.gettext, who.person.name, address_of(request)
    if sent.get("new") != sent.get("again"):
        return _page(request, 422, mistakes={"again": said("The two are not the same.")})
    wait = accounts.attempts.begin(name, address, now=visit.portal.now())
    if wait > timedelta():
        return _page(request, 429, mistakes={"old": wait_told(request, wait)})
    if accounts.people.checked(name, sent.get("old", "")) is None:
        return _page(request, 422, mistakes={"old": said("This is not your password.")})
    accounts.attempts.succeeded(name, address, now=visit.portal.now())
    try:
        accounts.people.set_password(who.person.id, sent.get("new", ""), but=who.by)
    except AccountError as error:
        return _page(request, 422, mistakes={"new": visit.clock.says(error.message)})
    log(request, "person.password", name)
    return notify(request, "/account", _("The password was changed; all other sessions have ended."))
