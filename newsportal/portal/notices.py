"""Notices that are shown once, on the page after a change: a cookie carries them over the redirect, so no address can put words there.

return notify(request, "/sources", _("%(name)s was saved."), name=name, undo="/sources/undo/17")
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote, unquote

from fastapi.responses import RedirectResponse
from starlette.requests import Request
from starlette.responses import Response

from newsportal.portal.context import Visit
from newsportal.portal.preferences import safe_next

COOKIE = "notice"
SECURE_COOKIE = "__Host-notice"
SECONDS = 60
MAX_CHARS = 500  # of a notice; escaped into a cookie it stays below the 4 kB that browsers keep


@dataclass(frozen=True, slots=True)
class Notice:
    """``undo``: where a form is sent that takes the change back."""

    text: str
    undo: str | None = None


def notify(request: Request, target: str, message: str, *, undo: str | None = None, **params: object) -> RedirectResponse:
    """Redirect to ``target``, where ``message`` (of the catalogue, with its ``params``) is shown once in the reader's language."""
    return redirect_with(request, target, Visit(request).say(message, **params), undo=undo)


def redirect_with(request: Request, target: str, text: str, *, undo: str | None = None) -> RedirectResponse:
    """Redirect to ``target``, a path of this portal, where ``text`` (in the reader's language) is shown once."""
    answer = RedirectResponse(safe_next(target), 303, headers={"cache-control": "no-store"})
    value = quote(json.dumps([text[:MAX_CHARS], undo], ensure_ascii=False, separators=(",", ":")), safe="")
    answer.set_cookie(_name(request), value, max_age=SECONDS, path="/", httponly=True, samesite="lax", secure=_secure(request))
    return answer


def notice_of(request: Request) -> Notice | None:
    found = request.cookies.get(_name(request))
    if not found:
        return None
    try:
        text, undo = json.loads(unquote(found))
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(text, str) or not (undo is None or (isinstance(undo, str) and safe_next(undo) == undo)):
        return None
    return Notice(text[:MAX_CHARS], undo)


def clear_notice(request: Request, answer: Response) -> None:
    if _name(request) in request.cookies:
        answer.delete_cookie(_name(request), path="/", httponly=True, samesite="lax", secure=_secure(request))


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"


def _name(request: Request) -> str:
    return SECURE_COOKIE if _secure(request) else COOKIE
