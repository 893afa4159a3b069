"""``sources.yaml`` as the desk changes it: written whole or not at all, kept as it was, logged, and in force at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastapi import HTTPException, Request, Response

from newsportal.errors import SourcesError
from newsportal.portal.access import log, may
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import FAMILIES
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.wording import worded
from newsportal.services.accounts import Right
from newsportal.services.topics.changing import NoSuchTopic
from newsportal.sources import Source, Sources, edit, mask
from newsportal.sources.categories import NameTaken
from newsportal.sources.changing import EntryChanged, NoEntry, entry_of
from newsportal.sources.editing import Change, EditConflict, OtherKeys, Written, go_back
from newsportal.sources.history import NoVersion, Version, digest_of


@dataclass(frozen=True, slots=True)
class Entry:
    """A source: ``kind`` is its list, ``place`` where it stands there, ``written`` its keys as the file has them."""

    source: Source
    kind: str
    place: int
    written: dict[str, Any]


def config_of(request: Request) -> Sources:
    """``sources.yaml`` as it counts now."""
    return Visit(request).portal.config


def path_of(request: Request) -> Path:
    """Where the file lies; 404 where there is none."""
    return or_404(config_of(request).path)


def entry(request: Request, key: str) -> Entry:
    """The source ``feed:NAME``; 404 where there is none."""
    kind = or_404(FAMILIES.get(key.partition(":")[0]))
    source = or_404(next((one for one in config_of(request).find(key) if one.key == key), None))
    try:
        return Entry(source, kind, *or_404(entry_of(path_of(request).read_bytes(), kind, source.name)))
    except OSError as error:
        raise HTTPException(404) from error


def write(
    request: Request, change: Callable[[Path], Written], action: str, thing: str = "", details: Mapping[str, Any] | None = None
) -> str | None:
    """Let ``change`` write the file, log it, and let it count. Raises what ``change`` raises; then nothing was written.

    Returns where a form is sent that takes the change back; ``None`` where the file stays as it was.
    """
    path = path_of(request).resolve()
    after = change(path)
    if after.replaced is None:
        return None
    log(request, action, thing, masked(details))
    request.app.state.reloading.look()
    return f"/sources/undo/{after.replaced}/{after}"


EDITORS_KEYS: Final = frozenset({*FAMILIES.values(), "topics", "categories"})
"""What of the file is in editors' hands. All else (where things are stored, who reads, what may be asked for, where articles are
published) is administrators'."""


def restored(request: Request, version: Version, seen: str | None, action: str) -> str | None:
    """Put an earlier version in place of the file. Raises as ``go_back``: ``OtherKeys`` where more would change than who asks may.

    Of two who do so at once (or one who clicks twice) the second finds it done, and is told no conflict.
    """
    within = None if may(request, Right.ADMINISTER) else EDITORS_KEYS
    try:
        return write(request, lambda path: go_back(path, version, seen, within=within), action, version.id)
    except EditConflict:
        if digest_of(path_of(request).read_bytes()) != version.digest:
            raise
        return None


GONE: Final = _("The source is gone: somebody has removed it meanwhile.")
ELSEWHERE: Final = _("sources.yaml was changed since; look at its earlier versions.")
CANNOT: Final = _("sources.yaml cannot be written: %(why)s")
OTHERS: Final = _("Only administrators may go back here: more would change than sources, topics and categories (%(keys)s).")

MOST_PROBLEMS: Final = 3  # that are shown: one of an interval comes once for each source

NOT_WRITTEN: Final = (SourcesError, EditConflict, EntryChanged, NoEntry, NoSuchTopic, NoVersion, OSError)
"""What a change raises where nothing was written."""


def failure_of(request: Request, error: Exception) -> str:
    """Why nothing was written, in the reader's language."""
    visit = Visit(request)
    if isinstance(error, SourcesError):
        problems = list(dict.fromkeys(worded(problem, visit.clock.words) for problem in error.problems))
        return " ".join((visit.say("Nothing was changed."), *problems[:MOST_PROBLEMS]))
    if isinstance(error, OSError):
        return visit.say(CANNOT, why=error.strerror or error)
    if isinstance(error, OtherKeys):
        return visit.say(OTHERS, keys=", ".join(error.keys))
    return visit.say(GONE if isinstance(error, NoEntry) else ELSEWHERE)


def status_of(error: Exception) -> int:
    """The status of a page that shows why nothing was written."""
    return 422 if isinstance(error, SourcesError | NameTaken) else 503 if isinstance(error, OSError) else 409


def apply(
    request: Request, change: Change, action: str, thing: str, target: str, text: str, details: Mapping[str, Any] | None = None,
    **params: object,
) -> Response:  # fmt: skip
    """Make ``change`` and return to ``target``, where ``text`` (with its ``params``), or why nothing was written, is shown."""
    try:
        undo = write(request, lambda path: edit(path, change), action, thing, details)
    except NOT_WRITTEN as error:
        return redirect_with(request, target, failure_of(request, error))
    return notify(request, target, text, undo=undo, **params)


def masked(value: Any) -> Any:
    """JSON values fit to be logged: passwords and tokens in addresses replaced by ``***``."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {name: masked(item) for name, item in value.items()}
    return [masked(item) for item in value] if isinstance(value, list | tuple) else value
