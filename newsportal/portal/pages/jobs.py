"""``/jobs``: what runs beside the portal and how far it is; a fragment of it for pages that show one job, and a button that ends it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.portal.access import log, needs
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import render
from newsportal.portal.source_file import Fields, one
from newsportal.portal.working import jobs_of
from newsportal.services.jobs.base import CRAWL, Job

router = APIRouter(dependencies=[needs(Right.EDIT)])

SHOWN: Final = 50


@router.get("/jobs")
def jobs(request: Request) -> Response:
    """Those of this machine, but for crawls that found nothing due."""
    return render(request, "jobs.html", jobs=[job for job in jobs_of(request).all() if not _idle(job)][:SHOWN])


@router.get("/jobs/{id}")
def job(request: Request, id: str) -> Response:
    """How far it is: for the script of a page that shows it, and a page of its own without one."""
    found = jobs_of(request).find(id)
    if found is None:
        raise HTTPException(404)
    if not request.headers.get("hx-request"):
        return render(request, "jobs.html", jobs=[found])
    answer = render(request, "parts/job.html", job=found, back=safe_next(Visit(request).asked.get("back")))
    if found.state != "running":
        answer.headers["hx-refresh"] = "true"  # what it brought is on the page
    return answer


@router.post("/jobs/{id}/cancel")
def cancel(request: Request, id: str, sent: Fields) -> Response:
    back = safe_next(one(sent, "back"))
    if jobs_of(request).cancel(id):
        log(request, "job.cancel", id)
        if (found := jobs_of(request).find(id)) is not None and found.kind == CRAWL:
            return notify(request, back, _("The crawl ends: what it has in hand is stored, the rest waits for the next one."))
        return notify(request, back, _("It was ended; what it had not finished is not kept."))
    return notify(request, back, _("It had ended already."))


def _idle(job: Job) -> bool:
    return job.kind == CRAWL and job.state == "done" and any(row.get("sources") == 0 for row in job.outcome)
