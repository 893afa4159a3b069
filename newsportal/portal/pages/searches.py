"""``/searches``: the searches that a reader who is signed in keeps under a name, each with its feed."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right
from newsportal.accounts.marks import MAX_NAME, NotKept, Search
from newsportal.portal.access import log, needs
from newsportal.portal.asked import Asked, asked_in
from newsportal.portal.context import Visit
from newsportal.portal.notices import told
from newsportal.portal.pages.feeds import FeedAddresses
from newsportal.portal.pages.marks import mine
from newsportal.portal.pages.search import chips, feed_of
from newsportal.portal.render import address, render
from newsportal.portal.sent import form

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
async def keep(request: Request) -> Response:
    """Keep the search ``asked`` (the query of its address) as ``name``, else as its words."""
    sent, visit = await form(request), Visit(request)
    asked = asked_in(sent.get("asked", ""))
    if asked.empty:
        raise HTTPException(400)
    return await run_in_threadpool(_keep, request, visit, asked, sent.get("name", "").strip() or named_by(asked))


def named_by(asked: Asked) -> str:
    """What a search is called that nobody gave a name."""
    return asked.text or " · ".join(asked.filters.values())


def _keep(request: Request, visit: Visit, asked: Asked, name: str, back: str | None = None) -> Response:
    accounts, person = mine(visit)
    said, back = visit.clock.words.gettext, back or asked.address()
    try:
        kept = accounts.searches.keep(person, name[:MAX_NAME], asked.address("").removeprefix("?"), now=visit.portal.now())
    except NotKept:
        return told(request, back, said("The search was not kept: there are as many as can be kept. Remove one first."))
    log(request, "search.keep", kept.id, {"name": kept.name})
    return told(request, back, said("The search is kept as “%(name)s”.") % {"name": kept.name})


@router.post("/searches/rename")
async def rename(request: Request) -> Response:
    sent, visit = await form(request), Visit(request)
    accounts, person = mine(visit)
    search_id, name = sent.get("search", ""), sent.get("name", "")
    try:
        if not await run_in_threadpool(accounts.searches.rename, person, search_id, name):
            raise HTTPException(404)
    except NotKept:
        return told(request, "/searches", visit.clock.words.gettext("A search needs a name; it is called what it was."))
    await run_in_threadpool(log, request, "search.rename", search_id, {"name": name[:MAX_NAME]})
    return RedirectResponse("/searches", 303)


@router.post("/searches/remove")
async def remove(request: Request) -> Response:
    sent, visit = await form(request), Visit(request)
    return await run_in_threadpool(_remove, request, visit, sent.get("search", ""))


def _remove(request: Request, visit: Visit, search_id: str) -> Response:
    accounts, person = mine(visit)
    removed = accounts.searches.remove(person, search_id)
    if removed is None:
        raise HTTPException(404)
    log(request, "search.remove", removed.id, {"name": removed.name})
    undo = address("/searches/back", name=removed.name, asked=removed.asked)
    said = visit.clock.words.gettext("“%(name)s” was removed.") % {"name": removed.name}
    return told(request, "/searches", said, undo=undo if len(undo) < MAX_UNDO else None)


@router.post("/searches/back")
def back(request: Request) -> Response:
    """Keep again what was removed."""
    visit = Visit(request)
    asked = asked_in(visit.text("asked", MAX_UNDO) or "")
    if asked.empty:
        raise HTTPException(400)
    return _keep(request, visit, asked, visit.text("name") or named_by(asked), back="/searches")
