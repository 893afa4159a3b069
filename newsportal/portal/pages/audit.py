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


@router.get("/audit")
def audit(request: Request) -> Response:
    visit, trail = Visit(request), accounts_of(request).trail
    asked, words = visit.whole("days", 0), visit.clock.words
    days = asked if asked in DAYS else 0
    found = trail.entries(
        before=visit.whole("before", 0) or None,
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
