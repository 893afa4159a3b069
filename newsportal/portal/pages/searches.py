"""``/searches``: the searches that a reader who is signed in keeps under a name, each with its feed."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.accounts import Right
from newsportal.accounts.marks import MAX_NAME, NotKept, Search
from newsportal.portal.access import log, needs
from newsportal.portal.asked import Asked, asked_in
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.pages.feeds import FeedAddresses
from newsportal.portal.pages.marks import mine
from newsportal.portal.pages.search import chips, feed_of
from newsportal.portal.render import address, render
from newsportal.portal.sent import Form

router = APIRouter(dependencies=[needs(Right.KEEP)])

MAX_UNDO = 1_500
"""Characters of an address that takes a removal back: it travels in a cookie."""


@dataclass(frozen=True, slots=True)
class Line:
    search: Search
    address: str
    text: str
    filters: tuple[str, ...]
    feed: FeedAddresses


@router.get("/searches")
def searches(request: Request) -> Response:
    visit = Visit(request)
    accounts, person = mine(visit)
    lines = [line_of(search, visit) for search in accounts.searches.of(person)]
    return render(request, "searches.html", lines=lines, most=MAX_NAME)


def line_of(search: Search, visit: Visit) -> Line:
    asked = asked_in(search.asked)
    return Line(search, asked.address(), asked.text, tuple(chip.label for chip in chips(asked, visit)), feed_of(asked, visit))


@router.post("/searches")
def keep(request: Request, sent: Form) -> Response:
    """Keep the search ``asked`` (the query of its address) as ``name``, else as its words."""
    asked = asked_in(sent.get("asked", ""))
    if asked.empty:
        raise HTTPException(400)
    return _keep(request, asked, sent.get("name", "").strip() or named_by(asked), asked.address())


def named_by(asked: Asked) -> str:
    """What a search is called that nobody gave a name."""
    return asked.text or " · ".join(asked.filters.values())


def _keep(request: Request, asked: Asked, name: str, back: str) -> Response:
    visit = Visit(request)
    accounts, person = mine(visit)
    try:
        kept = accounts.searches.keep(person, name[:MAX_NAME], asked.address("").removeprefix("?"), now=visit.portal.now())
    except NotKept:
        return notify(request, back, _("The search was not kept: there are as many as can be kept. Remove one first."))
    log(request, "search.keep", kept.id, {"name": kept.name})
    return notify(request, back, _("The search is kept as “%(name)s”."), name=kept.name)


@router.post("/searches/rename")
def rename(request: Request, sent: Form) -> Response:
    accounts, person = mine(Visit(request))
    search_id, name = sent.get("search", ""), sent.get("name", "")
    try:
        if not accounts.searches.rename(person, search_id, name):
            raise HTTPException(404)
    except NotKept:
        return notify(request, "/searches", _("A search needs a name; it is called what it was."))
    log(request, "search.rename", search_id, {"name": name[:MAX_NAME]})
    return RedirectResponse("/searches", 303)


@router.post("/searches/remove")
def remove(request: Request, sent: Form) -> Response:
    accounts, person = mine(Visit(request))
    removed = accounts.searches.remove(person, sent.get("search", ""))
    if removed is None:
        raise HTTPException(404)
    log(request, "search.remove", removed.id, {"name": removed.name})
    undo = address("/searches/back", name=removed.name, asked=removed.asked)
    return notify(request, "/searches", _("“%(name)s” was removed."), name=removed.name, undo=undo if len(undo) < MAX_UNDO else None)


@router.post("/searches/back")
def back(request: Request) -> Response:
    """Keep again what was removed."""
    visit = Visit(request)
    asked = asked_in(visit.text("asked", MAX_UNDO) or "")
    if asked.empty:
        raise HTTPException(400)
    return _keep(request, asked, visit.text("name") or named_by(asked), "/searches")
