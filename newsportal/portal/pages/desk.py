"""``/desk``: where editors begin: what needs somebody, and the ways to everything."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.portal.tasks import tasks

router = APIRouter(dependencies=[needs(Right.WATCH)])


@router.get("/desk")
def desk(request: Request) -> Response:
    visit = Visit(request)
    return render(request, "desk_start.html", tasks=tasks(visit), last=next(iter(visit.portal.store.runs(1)), None))
