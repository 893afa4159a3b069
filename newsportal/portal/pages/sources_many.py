"""``/sources/many``: the same change of all sources that were chosen in the list, taken back as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.errors import SourcesError
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify, redirect_with
from newsportal.portal.pages.sources import Filter
from newsportal.portal.problems import worded
from newsportal.portal.source_fields import number_of
from newsportal.portal.source_file import NOT_WRITTEN, Fields, failure_of, known_of, one, write
from newsportal.sources import Source, edit
from newsportal.sources.changing import WAYS, Way, change_many

router = APIRouter(dependencies=[needs(Right.EDIT)])

DONE: Final[Mapping[Way, str]] = {
    "enable": _("%(number)s sources were switched on."),
    "disable": _("%(number)s sources were switched off."),
    "interval": _("%(number)s sources have this interval now."),
    "remove": _("%(number)s sources were removed; their articles stay."),
}

MOST_MISTAKES: Final = 3
"""That are told: one of an interval comes once for each source."""


@router.post("/sources/many")
def many(request: Request, fields: Fields) -> Response:
    visit, back = Visit(request), one(fields, "next") or "/sources"
    words, way = visit.clock.words, cast(Way, one(fields, "do"))
    if way not in WAYS:
        raise HTTPException(400)
    chosen = _chosen(request, fields)
    if not chosen:
        return notify(request, back, _("Choose at least one source."))
    minutes = number_of(one(fields, "interval").strip()) if one(fields, "interval").strip() else None
    keys = [source.key for source in chosen]
    change = change_many(way, chosen, minutes)
    try:
        done = write(
            request, lambda path: edit(path, change), f"sources.{way}", ", ".join(keys)[:500], {"sources": keys, "interval": minutes}
        )
    except SourcesError as error:
        said = dict.fromkeys(worded(problem, words) for problem in error.problems)
        return redirect_with(request, back, " ".join((words.gettext(_("Nothing was changed.")), *list(said)[:MOST_MISTAKES])))
    except NOT_WRITTEN as error:
        return redirect_with(request, back, failure_of(request, error))
    text = DONE[way] if done.undo else _("It was the same as before.")
    return notify(request, back, text, number=len(chosen), undo=done.undo)


def _chosen(request: Request, fields: Mapping[str, Sequence[str]]) -> list[Source]:
    """The sources of the file that were ticked; or all that fit what the list was narrowed to."""
    known_of(request)
    portal = Visit(request).portal
    keys: Sequence[str] = fields.get("key", ())
    if one(fields, "all"):
        asked = Filter(one(fields, "q").strip() or None, one(fields, "state") or None, one(fields, "kind") or None)
        keys = [found.source.key for found in portal.health() if asked.fits(found, portal)]
    return [portal.by_key[key] for key in dict.fromkeys(keys) if key in portal.by_key]
