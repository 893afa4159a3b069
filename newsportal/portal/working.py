"""Long work of the desk: where its pages find the jobs, and how one is begun from a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from newsportal.portal.access import log, signed
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.source_file import path_of
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.desk import Busy, Jobs
from newsportal.services.jobs.local import NAMES


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
