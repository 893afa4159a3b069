"""``/audit``: who changed what."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.pages.login import accounts_of
from newsportal.portal.render import render

router = APIRouter(dependencies=[needs(Right.ADMINISTER)])

SHOWN = 100

DAYS = (0, 1, 7, 30, 365)
"""0: whenever."""

MOST_DIGITS = 18  # of a number that every database takes


@router.get("/audit")
def audit(request: Request) -> Response:
    visit, trail = Visit(request), accounts_of(request).trail
    asked, words = visit.text("days") or "", visit.clock.words
    days = int(asked) if asked in map(str, DAYS) else 0
    before = visit.text("before") or ""
    found = trail.entries(
        before=int(before) if before.isascii() and before.isdecimal() and len(before) <= MOST_DIGITS else None,
        person=visit.text("person"),
        action=visit.text("action"),
        since=visit.portal.now() - timedelta(days=days) if days else None,
        limit=SHOWN + 1,
    )
    lengths = {
        number: words.ngettext("the last %(num)d day", "the last %(num)d days", number) % {"num": number} for number in DAYS if number
    }
    return render(
        request,
        "audit.html",
        entries=found[:SHOWN],
        more=len(found) > SHOWN,
        names=trail.names(),
        actions=trail.actions(),
        person=visit.text("person"),
        action=visit.text("action"),
        days=days,
        lengths={0: words.gettext("whenever"), **lengths},
    )
