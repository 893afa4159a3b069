"""``/sources/file``: the whole of ``sources.yaml`` as text, for what forms lack. ``/sources/versions``: what it said before.

The text holds addresses of databases and may name files, so only administrators see and write it. Who edits
sources may go back, as far as nothing else changes by it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import needs
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Visit
from newsportal.portal.desk.sources_yaml import failure_of, path_of, restored, write
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.render import render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.sources.editing import EditConflict, rewrite
from newsportal.sources.history import content_of, digest_of, versions

router = APIRouter(dependencies=[needs(Right.EDIT)])

CONTEXT: Final = 3  # lines around a difference, as diff has them
MAX_LINES: Final = 2000  # of a difference: more is no reading

CONFLICT = _(
    "Somebody else has changed the file meanwhile. Your text stands here, with what it would change; save again to put it in place."
)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference: ``way`` is ``added``, ``removed``, ``same`` or ``place``."""

    way: str
    text: str


@router.get("/sources/file", dependencies=[needs(Right.ADMINISTER)])
def whole(request: Request) -> Response:
    content = _content(request)
    return _editor(request, content.decode("utf-8", "replace"), digest_of(content))


@router.post("/sources/file", dependencies=[needs(Right.ADMINISTER)])
def save(request: Request, fields: Form) -> Response:
    """Write the text if it loads and nobody else wrote; else show both, with every mistake and its line."""
    visit, before = Visit(request), _content(request)
    text, seen = fields.get("text", ""), fields.get("seen", "")
    written = text.replace("\r\n", "\n") if b"\r\n" not in before else text
    try:
        undo = write(request, lambda path: rewrite(path, written.encode(), seen), "sources.rewrite")
    except SourcesError as error:
        return _editor(request, text, seen, 422, problems=error.problems)
    except EditConflict:
        now = _content(request)
        diff = list(difference(now, written.encode()))
        return _editor(request, text, digest_of(now), 409, fault=visit.say(CONFLICT), diff=diff)
    except OSError as error:
        return _editor(request, text, seen, 503, fault=failure_of(request, error))
    return notify(request, "/sources/file", _("sources.yaml was saved.") if undo else _("It was the same as before."), undo=undo)


@router.get("/sources/versions")
def earlier(request: Request) -> Response:
    path = path_of(request).resolve()
    return render(request, "sources_versions.html", versions=versions(path), file=path, diff=None, version=None)


@router.get("/sources/versions/{id}")
def version(request: Request, id: str) -> Response:
    """What would change if the file went back to this version. Secrets are not shown: see :func:`difference`."""
    path = path_of(request).resolve()
    before, now = content_of(path, id), _content(request)
    known, lines = versions(path), list(difference(now, before))
    return render(
        request, "sources_versions.html", versions=known, file=path, version=next(one for one in known if one.id == id),
        seen=digest_of(now), diff=lines if Visit(request).may("administer") else None,
        numbers=[sum(line.way == way for line in lines) for way in ("added", "removed")],
    )  # fmt: skip


@router.post("/sources/versions/{id}")
def restore(request: Request, id: str, fields: Form) -> Response:
    found = or_404(next((one for one in versions(path_of(request).resolve()) if one.id == id), None))
    try:
        undo = restored(request, found, fields.get("seen", ""), "sources.restore")
    except SourcesError as error:
        return notify(request, "/sources/versions", _("That version would not load: %(why)s"), why=error.problems[0])
    except (NewsportalError, OSError) as error:
        return redirect_with(request, "/sources/versions", failure_of(request, error))
    return notify(request, "/sources/versions", _("sources.yaml is as it was then."), undo=undo)


def difference(before: bytes, after: bytes) -> Iterator[DiffLine]:
    """What changes from one text to the other, with lines around it; cut where it is too long to be read."""
    was, now = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
    lines = difflib.unified_diff(was, now, lineterm="", n=CONTEXT)
    ways = {"+": "added", "-": "removed", "@": "place"}
    for place, line in enumerate(lines):
        if place >= MAX_LINES:
            yield DiffLine("place", "…")
            return
        if place >= 2:  # the first two name files
            yield DiffLine(ways.get(line[:1], "same"), line[1:] if line[:1] != "@" else line)


def _content(request: Request) -> bytes:
    try:
        return path_of(request).read_bytes()
    except OSError as error:
        raise HTTPException(404) from error


def _editor(
    request: Request,
    text: str,
    seen: str,
    status: int = 200,
    *,
    fault: str | None = None,
    problems: tuple[object, ...] = (),
    diff: list[DiffLine] | None = None,
) -> Response:
    values = {"text": text, "seen": seen, "fault": fault, "problems": problems, "diff": diff, "file": path_of(request)}
    return render(request, "sources_file.html", status, lines=min(40, max(12, text.count("\n") + 2)), **values)
