"""``/jobs``: background jobs with their progress; and functions for pages that start a job from a form."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import EDIT, identity_of, log_change, or_404
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


def assign_command(days: str, name: str | None = None, deleted: str | None = None) -> list[str]:
    """Return the arguments of ``newsportal topic assign`` for all topics or one; ``deleted``: a name no longer in ``sources.yaml``."""
    return ["topic", "assign", "--days", days, "--json", *([f"--gone={deleted}"] if deleted else []), *([NAMES, name] if name else [])]


def begin_job(request: Request, kind: str, subject: str, words: Sequence[str], params: Mapping[str, str] | None = None) -> Job:
    """Start a job in the name of the signed-in person. Raises ``Busy``."""
    user = identity_of(request)
    job = jobs_of(request).start(kind, subject, words, by=user.person.name if user else "", params=params)
    log_change(request, f"job.{kind}", subject, {"command": list(words)})
    return job


def start_job(
    request: Request, kind: str, subject: str, words: Sequence[str], *, back: str, params: Mapping[str, str] | None = None
) -> Response:  # fmt: skip
    """Start a job and return to the page that shows it; if another one runs, show that there."""
    path_of(request)
    try:
        begin_job(request, kind, subject, words, params)
    except Busy:
        return notify(request, back, _("Another job is running; only one can run at a time. Wait until it is done, or end it."))
    return notify(request, back, _("It has started; this page shows its progress."))


router = APIRouter(dependencies=EDIT)

MAX_SHOWN: Final = 50


@router.get("/jobs")
def jobs(request: Request) -> Response:
    """The jobs of this machine, except crawls that found nothing due."""
    jobs = jobs_of(request).all()
    idle = {job.id for job in jobs if job.kind == CRAWL and job.state == "done" and any(row.get("sources") == 0 for row in job.outcome)}
    return render(request, "jobs.html", jobs=[job for job in jobs if job.id not in idle][:MAX_SHOWN])


@router.get("/jobs/{id}")
def job(request: Request, id: str) -> Response:
    """Show a job's progress: a fragment for the script of a page, or a page of its own."""
    job = or_404(jobs_of(request).runner.get(id))
    if not request.headers.get("hx-request"):
        return render(request, "jobs.html", jobs=[job], job=job)
    response = render(request, "parts/job.html", job=job, back=safe_next(Visit(request).params.get("back")))
    if job.state != "running":
        response.headers["hx-refresh"] = "true"  # the page shows the results
    return response


@router.post("/jobs/{id}/cancel")
def cancel_job(request: Request, id: str, fields: Form) -> Response:
    back = safe_next(fields.get("back", ""))
    if jobs_of(request).runner.cancel(id):
        log_change(request, "job.cancel", id)
        if (job := jobs_of(request).runner.get(id)) is not None and job.kind == CRAWL:
            return notify(request, back, _("The crawl is ending: pages in progress are stored, the rest is left to the next one."))
        return notify(request, back, _("It was ended; unfinished results were discarded."))
    return notify(request, back, _("It had ended already."))
