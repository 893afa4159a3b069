"""``/for-you`` (为你推荐): stories for this reader, each with the reason why."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.portal.context import Visit
from newsportal.portal.reader import reader_of
from newsportal.portal.recommending import offered
from newsportal.portal.render import render

router = APIRouter()

SHOWN = 30


@router.get("/for-you")
def for_you(request: Request) -> Response:
    visit = Visit(request)
    reader = reader_of(request)
    if reader.wish == "portal":
        raise HTTPException(404)
    history = visit.portal.store.readers.history(reader.name, limit=1) if reader.name and reader.kept else []
    return render(request, "for_you.html", reader=reader, new=not history, suggested=offered(visit, SHOWN), feed=None)
