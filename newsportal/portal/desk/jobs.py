"""``/jobs``: what runs beside the portal and how far it is; how pages begin a job from a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import EDIT, log, or_404, signed
from newsportal.portal.context import Visit
from newsportal.portal.desk.sources_yaml import path_of
from newsportal.portal.language import _
from newsportal.portal.preferences import safe_next
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form
from newsportal.services.jobs.base import CRAWL, Job
from newsportal.services.jobs.local import NAMES, Busy, Jobs


def jobs_of(request: Request) -> Jobs:
    return cast(Jobs, request.app.state.jobs)


def assigning(days: str, name: str | None = None, gone: str | None = None) -> list[str]:
    """``newsportal topic assign``: all topics follow, or one; ``gone`` is a name that ``sources.yaml`` has no more."""
    return ["topic", "assign", "--days", days, "--json", *([f"--gone={gone}"] if gone else []), *([NAMES, name] if name else [])]


def begin_job(request: Request, kind: str, subject: str, words: Sequence[str], params: Mapping[str, str] | None = None) -> Job:
    """Begin a job for whoever sent the request. Raises ``Busy``."""
    who = signed(request)
    job = jobs_of(request).start(kind, subject, words, by=who.person.name if who else "", params=params)
    log(request, f"job.{kind}", subject, {"command": list(words)})
    return job


def start_job(
    request: Request, kind: str, subject: str, words: Sequence[str], *, back: str, params: Mapping[str, str] | None = None
) -> Response:  # fmt: skip
    """Begin a job and go back to the page that shows it; while another runs, say so there."""
    path_of(request)
    try:
        begin_job(request, kind, subject, words, params)
    except Busy:
        return notify(request, back, _("Another job runs; one runs at a time. Wait until it is done, or end it."))
    return notify(request, back, _("It has begun; this page shows how far it is."))


router = APIRouter(dependencies=EDIT)

SHOWN: Final = 50


@router.get("/jobs")
def jobs(request: Request) -> Response:
    """Those of this machine, but for crawls that found nothing due."""
    found = jobs_of(request).all()
    idle = {job.id for job in found if job.kind == CRAWL and job.state == "done" and any(row.get("sources") == 0 for row in job.outcome)}
    return render(request, "jobs.html", jobs=[job for job in found if job.id not in idle][:SHOWN])


@router.get("/jobs/{id}")
def job(request: Request, id: str) -> Response:
    """How far it is: for the script of a page that shows it, and a page of its own without one."""
    found = or_404(jobs_of(request).find(id))
    if not request.headers.get("hx-request"):
        return render(request, "jobs.html", jobs=[found], one=found)
    answer = render(request, "parts/job.html", job=found, back=safe_next(Visit(request).asked.get("back")))
    if found.state != "running":
        answer.headers["hx-refresh"] = "true"  # what it brought is on the page
    return answer


@router.post("/jobs/{id}/cancel")
def cancel(request: Request, id: str, sent: Form) -> Response:
    back = safe_next(sent.get("back", ""))
    if jobs_of(request).cancel(id):
        log(request, "job.cancel", id)
        if (found := jobs_of(request).find(id)) is not None and found.kind == CRAWL:
            return notify(request, back, _("The crawl ends: what it has in hand is stored, the rest waits for the next one."))
        return notify(request, back, _("It was ended; what it had not finished is not kept."))
    return notify(request, back, _("It had ended already."))
