"""``sources.yaml`` as the desk changes it: written whole or not at all, kept as it was, logged, and in force at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastapi import HTTPException, Request

from newsportal.errors import SourcesError
from newsportal.portal.access import log, may
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import FAMILIES
from newsportal.portal.language import _
from newsportal.services.accounts import Right
from newsportal.sources import Source, Sources, mask
from newsportal.sources.changing import EntryChanged, NoEntry, entry_of
from newsportal.sources.editing import EditConflict, OtherKeys, go_back
from newsportal.sources.history import NoVersion, Version, digest_of, versions


@dataclass(frozen=True, slots=True)
class Entry:
    """A source: ``kind`` is its list, ``place`` where it stands there, ``written`` its keys as the file has them."""

    source: Source
    kind: str
    place: int
    written: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a change. ``undo``: where a form is sent that takes it back; ``None``: nothing had to be changed."""

    digest: str
    undo: str | None


def config_of(request: Request) -> Sources:
    """``sources.yaml`` as it counts now; 404 for a portal that was not opened over one."""
    known = Visit(request).portal.config
    if known is None:
        raise HTTPException(404)
    return known


def path_of(request: Request) -> Path:
    """Where the file lies; 404 where there is none."""
    path = config_of(request).path
    if path is None:
        raise HTTPException(404)
    return path


def entry(request: Request, key: str) -> Entry:
    """The source ``feed:NAME``; 404 where there is none."""
    kind = FAMILIES.get(key.partition(":")[0])
    source = next((one for one in config_of(request).find(key) if one.key == key), None)
    if kind is None or source is None:
        raise HTTPException(404)
    try:
        found = entry_of(path_of(request).read_bytes(), kind, source.name)
    except OSError:
        found = None
    if found is None:
        raise HTTPException(404)
    return Entry(source, kind, *found)


def write(
    request: Request, change: Callable[[Path], str], action: str, thing: str = "", details: Mapping[str, Any] | None = None
) -> Written:
    """Let ``change`` write the file, log it, and let it count. Raises what ``change`` raises; then nothing was written."""
    path = path_of(request).resolve()
    before = digest_of(path.read_bytes())
    after = change(path)
    if after == before:
        return Written(after, None)
    log(request, action, thing, masked(details))
    request.app.state.reloading.look()
    kept = versions(path)
    undo = f"/sources/undo/{kept[0].id}/{after}" if kept and kept[0].digest == before else None
    return Written(after, undo)


EDITORS_KEYS: Final = frozenset({*FAMILIES.values(), "topics", "categories"})
"""What of the file is in editors' hands. All else (where things are stored, who reads, what may be asked for, where articles are
published) is administrators'."""


def restored(request: Request, version: Version, seen: str | None, action: str) -> Written:
    """Put an earlier version in place of the file. Raises as ``go_back``: ``OtherKeys`` where more would change than who asks may.

    Of two who do so at once (or one who clicks twice) the second finds it done, and is told no conflict.
    """
    within = None if may(request, Right.ADMINISTER) else EDITORS_KEYS
    try:
        return write(request, lambda path: go_back(path, version, seen, within=within), action, version.id)
    except EditConflict:
        if digest_of(path_of(request).read_bytes()) != version.digest:
            raise
        return Written(version.digest, None)


GONE: Final = _("The source is gone: somebody has removed it meanwhile.")
ELSEWHERE: Final = _("sources.yaml was changed since; look at its earlier versions.")
CANNOT: Final = _("sources.yaml cannot be written: %(why)s")
OTHERS: Final = _("Only administrators may go back here: more would change than sources, topics and categories (%(keys)s).")

NOT_WRITTEN: Final = (SourcesError, EditConflict, EntryChanged, NoEntry, NoVersion, OSError)
"""What a change of one source raises where nothing was written."""


def failure_of(request: Request, error: Exception) -> str:
    """Why nothing was written, in the reader's language."""
    say = Visit(request).say
    if isinstance(error, OSError | SourcesError):
        return say(CANNOT, why=(error.strerror or error) if isinstance(error, OSError) else error.problems[0])
    if isinstance(error, OtherKeys):
        return say(OTHERS, keys=", ".join(error.keys))
    return say(GONE if isinstance(error, NoEntry) else ELSEWHERE)


def masked(value: Any) -> Any:
    """JSON values fit to be logged: passwords and tokens in addresses replaced by ``***``."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {name: masked(item) for name, item in value.items()}
    return [masked(item) for item in value] if isinstance(value, list | tuple) else value
