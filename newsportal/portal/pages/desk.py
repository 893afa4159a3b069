"""``/desk``: where editors begin: what needs somebody, and the ways to everything."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.portal.tasks import tasks

LOOKED = 50
"""Of so many reports, the last is told of for which something was due."""

router = APIRouter(dependencies=[needs(Right.WATCH)])


@router.get("/desk")
def desk(request: Request) -> Response:
    visit = Visit(request)
    runs = visit.portal.store.runs(LOOKED)
    last = next((run for run in runs if not run.idle), next(iter(runs), None))
    return render(request, "desk_start.html", tasks=tasks(visit), last=last)
