"""``/publishing``: what waits to be published elsewhere, what failed and why, and a button to try that again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right
from newsportal.portal.access import log, needs
from newsportal.portal.context import Portal, Visit
from newsportal.portal.language import _
from newsportal.portal.render import render
from newsportal.portal.sent import form
from newsportal.storage.base import StoredArticle
from newsportal.storage.outbox import OPEN, STATES, Entry, State

router = APIRouter(dependencies=[needs(Right.WATCH)])

SHOWN: Final = 100
"""Articles of each list."""


NAMES: Final[Mapping[State, str]] = {
    "waiting": _("waiting"),
    "under-way": _("under way"),
    "done": _("published"),
    "failed": _("failed"),
    "withdrawn": _("taken back or left out"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """``there`` False: sources.yaml does not name the target any more."""

    target: str
    counts: tuple[int, ...]
    there: bool


@dataclass(frozen=True, slots=True)
class Line:
    """``article`` ``None``: it is not in the store any more."""

    entry: Entry
    article: StoredArticle | None


@router.get("/publishing")
def publishing(request: Request) -> Response:
    visit = Visit(request)
    portal = visit.portal
    counts = portal.store.outbox.counts()
    names = dict.fromkeys((*portal.site.publishes, *counts))
    rows = [Row(name, tuple(counts.get(name, {}).get(state, 0) for state in STATES), name in portal.site.publishes) for name in names]
    lists = {"failed": _lines(portal, ("failed",)), "waiting": _lines(portal, OPEN), "done": _lines(portal, ("done",))}
    said = visit.clock.words.gettext
    return render(request, "publishing.html", rows=rows, states=[said(NAMES[state]) for state in STATES], lists=lists, feed=None)


@router.post("/publishing/again", dependencies=[needs(Right.EDIT)])
async def again(request: Request) -> Response:
    """``target`` and ``article`` name one that failed; without them all wait anew. The next publisher takes them."""
    told = await form(request)
    portal: Portal = Visit(request).portal
    article = told.get("article")
    chosen = [article] if article else None
    target = told.get("target") or None
    await run_in_threadpool(portal.store.outbox.again, target, chosen, now=portal.now())
    await run_in_threadpool(log, request, "publishing.again", article or "", {"target": target})
    return RedirectResponse("/publishing", 303, headers={"cache-control": "no-store"})


def _lines(portal: Portal, states: tuple[State, ...]) -> list[Line]:
    entries = portal.store.outbox.entries(states=states, limit=SHOWN)
    found = {article.id: article for article in portal.store.articles([entry.article_id for entry in entries])}
    return [Line(entry, found.get(entry.article_id)) for entry in entries]
