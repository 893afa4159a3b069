"""``/login`` and ``/logout``."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Accounts, Person
from newsportal.portal.access import cookie_name
from newsportal.portal.context import Visit
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import render
from newsportal.portal.sent import form

router = APIRouter()


@router.get("/login")
def asked(request: Request) -> Response:
    _accounts(request)
    return render(request, "login.html", next=safe_next(Visit(request).text("next", 2000)), name="", refused=False)


@router.post("/login")
async def login(request: Request) -> Response:
    accounts, sent = _accounts(request), await form(request)
    name, target = sent.get("name", "").strip(), safe_next(sent.get("next"))
    person = await run_in_threadpool(accounts.people.checked, name, sent.get("password", ""))
    if person is None:
        return await run_in_threadpool(render, request, "login.html", 403, next=target, name=name, refused=True)
    answer = RedirectResponse(target, 303)
    await run_in_threadpool(_begin, request, accounts, person, answer)
    return answer


def _begin(request: Request, accounts: Accounts, person: Person, answer: Response) -> None:
    secret = accounts.sessions.begin(person.id, now=Visit(request).portal.now())
    secure = request.url.scheme == "https"
    answer.set_cookie(cookie_name(request), secret, samesite="lax", path="/", httponly=True, secure=secure)


@router.post("/logout")
async def logout(request: Request) -> Response:
    accounts, secret = _accounts(request), request.cookies.get(cookie_name(request))
    if secret:
        await run_in_threadpool(accounts.sessions.end, secret)
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(cookie_name(request), path="/")
    return answer


def _accounts(request: Request) -> Accounts:
    found = Visit(request).portal.accounts
    if found is None:
        raise HTTPException(404)
    return found
