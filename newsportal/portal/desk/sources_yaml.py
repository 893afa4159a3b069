"""Changes of ``sources.yaml`` by the desk: atomic, with a copy of the former version, logged, and in force at once. ``/sources/file``: the
file as text, for keys that have no form. ``/sources/versions``: its earlier versions.

The text has URLs of databases and may name files, so it is for administrators only. Editors may restore versions if only their keys change.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import ADMINISTER, EDIT, log_change, may, or_404
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import FAMILIES
from newsportal.portal.language import _
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import problem_text
from newsportal.services.accounts import Right
from newsportal.sources import EditConflict, Source, Sources, edit, mask
from newsportal.sources.categories import NameTaken
from newsportal.sources.changing import EntryChanged, NoEntry, entry_of
from newsportal.sources.editing import Change, Digest, NoVersion, OtherKeys, Version, content_of, digest_of, rewrite, roll_back, versions


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source: ``kind`` is its list, ``place`` its position there, ``written`` its keys as they are in the file."""

    source: Source
    kind: str
    place: int
    written: dict[str, Any]


def config_of(request: Request) -> Sources:
    """Return the ``sources.yaml`` in force."""
    return Visit(request).portal.config


def path_of(request: Request) -> Path:
    """Return the path of the file. Raises 404 if there is none."""
    return or_404(config_of(request).path)


def source_entry(request: Request, key: str) -> SourceEntry:
    """Return the source with this key, such as ``feed:NAME``. Raises 404."""
    kind = or_404(FAMILIES.get(key.partition(":")[0]))
    source = or_404(next((source for source in config_of(request).find(key) if source.key == key), None))
    try:
        return SourceEntry(source, kind, *or_404(entry_of(path_of(request).read_bytes(), kind, source.name)))
    except OSError as error:
        raise HTTPException(404) from error


def write(
    request: Request, change: Callable[[Path], Digest], action: str, thing: str = "", details: Mapping[str, Any] | None = None
) -> str | None:
    """Let ``change`` write the file, log it, and reload. Raises the errors of ``change``; then nothing was written.

    Returns the path to which a form that undoes the change is sent; ``None`` if the file did not change.
    """
    path = path_of(request).resolve()
    after = change(path)
    if after.replaced is None:
        return None
    log_change(request, action, thing, mask_values(details))
    request.app.state.reloader.reload()
    return f"/sources/undo/{after.replaced}/{after}"


EDITORS_KEYS: Final = frozenset({*FAMILIES.values(), "topics", "categories"})
"""The keys that editors may change. All others (stores, readers' access, allowed requests, publishing) are for administrators."""


def restore_version(request: Request, version: Version, digest: str | None, action: str) -> str | None:
    """Restore an earlier version of the file. Raises the errors of ``roll_back``: ``OtherKeys`` if it would change more than the user may.

    Of two simultaneous requests (such as a double click) the second finds it done and raises no conflict.
    """
    within = None if may(request, Right.ADMINISTER) else EDITORS_KEYS
    try:
        return write(request, lambda path: roll_back(path, version, digest, within=within), action, version.id)
    except EditConflict:
        if digest_of(path_of(request).read_bytes()) != version.digest:
            raise
        return None


ENTRY_DELETED: Final = _("It was removed meanwhile by another editor.")
FILE_CHANGED: Final = _("sources.yaml was changed afterwards; see its earlier versions.")
NOT_WRITABLE: Final = _("sources.yaml cannot be written: %(why)s")
ADMINISTRATORS_ONLY: Final = _("Only administrators may restore it: it changes more than sources, topics and categories (%(keys)s).")

MAX_PROBLEMS: Final = 3  # problems shown: a wrong interval is reported for each source

WRITE_ERRORS: Final = (SourcesError, EditConflict, EntryChanged, NoEntry, NoVersion, OSError)
"""Errors of a change after which nothing was written."""


def failure_of(request: Request, error: Exception) -> str:
    """Return why nothing was written, in the reader's language."""
    visit = Visit(request)
    if isinstance(error, SourcesError):
        problems = list(dict.fromkeys(problem_text(problem, visit.clock.words) for problem in error.problems))
        return " ".join((visit.say("Nothing was changed."), *problems[:MAX_PROBLEMS]))
    if isinstance(error, OSError):
        return visit.say(NOT_WRITABLE, why=error.strerror or error)
    if isinstance(error, OtherKeys):
        return visit.say(ADMINISTRATORS_ONLY, keys=", ".join(error.keys))
    return visit.say(ENTRY_DELETED if isinstance(error, NoEntry) else FILE_CHANGED)


def status_of(error: Exception) -> int:
    """Return the status of a page that shows why nothing was written."""
    return 422 if isinstance(error, SourcesError | NameTaken) else 503 if isinstance(error, OSError) else 409


def apply_change(
    request: Request, change: Change, action: str, thing: str, target: str, text: str, details: Mapping[str, Any] | None = None,
    **params: object,
) -> Response:  # fmt: skip
    """Make ``change`` and redirect to ``target``, which shows ``text`` (with its ``params``) or why nothing was written."""
    try:
        undo = write(request, lambda path: edit(path, change), action, thing, details)
    except WRITE_ERRORS as error:
        return redirect_with(request, target, failure_of(request, error))
    return notify(request, target, text, undo=undo, **params)


def mask_values(value: Any) -> Any:
    """Return JSON values for the log: passwords and tokens in URLs are replaced by ``***``."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {name: mask_values(item) for name, item in value.items()}
    return [mask_values(item) for item in value] if isinstance(value, list | tuple) else value


router = APIRouter(dependencies=EDIT)

CONTEXT: Final = 3  # lines around a difference, as diff prints
MAX_LINES: Final = 2000  # of a difference: a longer one is unreadable

CONFLICT = _("Someone else has changed the file meanwhile. Your text is kept below with its changes; save again to apply it.")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference: ``way`` is ``added``, ``removed``, ``same`` or ``place``."""

    way: str
    text: str


@router.get("/sources/file", dependencies=ADMINISTER)
def edit_file(request: Request) -> Response:
    content = _content(request)
    return _editor(request, content.decode("utf-8", "replace"), digest_of(content))


@router.post("/sources/file", dependencies=ADMINISTER)
def save_file(request: Request, fields: Form) -> Response:
    """Save the text if it is valid and the file has not changed; else show both, with every error and its line."""
    visit, before = Visit(request), _content(request)
    text, digest = fields.get("text", ""), fields.get("digest", "")
    written = text.replace("\r\n", "\n") if b"\r\n" not in before else text
    try:
        undo = write(request, lambda path: rewrite(path, written.encode(), digest), "sources.rewrite")
    except SourcesError as error:
        return _editor(request, text, digest, 422, problems=error.problems)
    except EditConflict:
        now = _content(request)
        diff = list(difference(now, written.encode()))
        return _editor(request, text, digest_of(now), 409, error=visit.say(CONFLICT), diff=diff)
    except OSError as error:
        return _editor(request, text, digest, 503, error=failure_of(request, error))
    return notify(request, "/sources/file", _("sources.yaml was saved.") if undo else _("There were no changes."), undo=undo)


@router.get("/sources/versions")
def list_versions(request: Request) -> Response:
    path = path_of(request).resolve()
    return render(request, "sources_versions.html", versions=versions(path), file=path, diff=None, version=None)


@router.get("/sources/versions/{id}")
def show_version(request: Request, id: str) -> Response:
    """Show what restoring this version would change. Secrets are not shown to editors."""
    path = path_of(request).resolve()
    before, now = content_of(path, id), _content(request)
    history, lines = versions(path), list(difference(now, before))
    return render(
        request, "sources_versions.html", versions=history, file=path, version=next(version for version in history if version.id == id),
        digest=digest_of(now), diff=lines if Visit(request).may("administer") else None,
        line_counts=[sum(line.way == way for line in lines) for way in ("added", "removed")],
    )  # fmt: skip


@router.post("/sources/versions/{id}")
def restore(request: Request, id: str, fields: Form) -> Response:
    former = or_404(next((version for version in versions(path_of(request).resolve()) if version.id == id), None))
    try:
        undo = restore_version(request, former, fields.get("digest", ""), "sources.restore")
    except SourcesError as error:
        return notify(request, "/sources/versions", _("That version is invalid: %(why)s"), why=error.problems[0])
    except (NewsportalError, OSError) as error:
        return redirect_with(request, "/sources/versions", failure_of(request, error))
    return notify(request, "/sources/versions", _("The earlier version of sources.yaml was restored."), undo=undo)


def difference(before: bytes, after: bytes) -> Iterator[DiffLine]:
    """Yield the differences of two texts with lines around them, cut after ``MAX_LINES``."""
    was, now = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
    lines = difflib.unified_diff(was, now, lineterm="", n=CONTEXT)
    ways = {"+": "added", "-": "removed", "@": "place"}
    for place, line in enumerate(lines):
        if place >= MAX_LINES:
            yield DiffLine("place", "…")
            return
        if place >= 2:  # the first two lines are file names
            yield DiffLine(ways.get(line[:1], "same"), line[1:] if line[:1] != "@" else line)


def _content(request: Request) -> bytes:
    try:
        return path_of(request).read_bytes()
    except OSError as error:
        raise HTTPException(404) from error


def _editor(
    request: Request,
    text: str,
    digest: str,
    status: int = 200,
    *,
    error: str | None = None,
    problems: tuple[object, ...] = (),
    diff: list[DiffLine] | None = None,
) -> Response:
    values = {"text": text, "digest": digest, "error": error, "problems": problems, "diff": diff, "file": path_of(request)}
    return render(request, "sources_file.html", status, lines=min(40, max(12, text.count("\n") + 2)), **values)
