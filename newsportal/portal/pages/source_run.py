"""``/sources/KEY/run``: visit a source now, and see what it brought. Whoever crawls takes it; where nobody does, the page says so."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.access import log, needs
from newsportal.portal.context import Here, Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import address, render
from newsportal.portal.source_fields import address_of
from newsportal.services.accounts import Right
from newsportal.sources.timing import visit_soon
from newsportal.sources.watched import Watched
from newsportal.store.lists import ArticleFilter

router = APIRouter(dependencies=[needs(Right.EDIT)])

SHOWN: Final = 10  # of its articles, the newest


@router.post("/sources/{key}/run")
def run(request: Request, visit: Here, key: str) -> Response:
    if not watched_as(visit, key).enabled:
        return notify(request, address_of(key), _("It is switched off: switch it on first."))
    since = visit.portal.now()
    visit_soon(visit.portal.store, key, since)
    log(request, "source.run", key)
    request.app.state.pushed()
    return RedirectResponse(address(address_of(key, "/run"), since=since.isoformat()), 303)


@router.get("/sources/{key}/run")
def state(request: Request, visit: Here, key: str) -> Response:
    """How far it is; htmx asks for the inner part every few seconds."""
    portal, source = visit.portal, watched_as(visit, key)
    since = moment(visit.text("since"))
    known = portal.store.source_state(key)
    visits = portal.store.visits.recent([key], each=1).get(key, ())
    done = known.last_run is not None and (since is None or known.last_run >= since)
    came = portal.store.pick(ArticleFilter(source=key, limit=SHOWN)).articles if done else ()
    rests = known.rest_until if known.rest_until is not None and known.rest_until > portal.now() else None
    return render(
        request, "parts/source_run.html" if "hx-request" in request.headers else "source_run.html", source=source, since=since,
        done=done and bool(visits), visits=visits, came=came, rests=rests,
        crawls=portal.crawls or bool(portal.queues and portal.queues().workers),
    )  # fmt: skip


def watched_as(visit: Visit, key: str) -> Watched:
    """The source that is visited under this key, a search engine too; 404 where there is none."""
    found = next((one for one in visit.portal.sources if one.key == key), None)
    if found is None:
        raise HTTPException(404)
    return found


def moment(text: str | None) -> datetime | None:
    """An aware moment of an address; ``None`` for anything else."""
    try:
        found = datetime.fromisoformat((text or "").replace(" ", "+"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
