"""An editor names, pins, splits and joins events, and takes that back."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import StoreError
from newsportal.portal.access import log, needs
from newsportal.portal.context import Here, Visit
from newsportal.portal.desk.article_changes import editor_name
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.services.events import editing

router = APIRouter(dependencies=[needs(Right.EDIT)])

NO_STORIES = _("Choose some stories of the event, but not all of them.")
NO_OTHER = _("No other event has this address.")
LONG_TITLE = _("The title is too long.")
CHANGED = _("The event was changed meanwhile: look at it again.")


def rename(visit: Visit, event_id: str, title: str | None) -> int:
    """Each of these answers the number of the edit, logs it, and raises ``StoreError``."""
    number = editing.rename(visit.portal.store, event_id, title, by=editor_name(visit), now=visit.portal.now())
    log(visit.request, "event.rename", event_id, {"title": title})
    return number


def pin(visit: Visit, event_id: str, pinned: bool) -> int:
    number = editing.pin(visit.portal.store, event_id, pinned, by=editor_name(visit), now=visit.portal.now())
    log(visit.request, "event.pin", event_id, {"pinned": pinned})
    return number


def split(visit: Visit, event_id: str, stories: Sequence[str]) -> tuple[str, int]:
    new, number = editing.split(visit.portal.store, event_id, stories, by=editor_name(visit), now=visit.portal.now())
    log(visit.request, "event.split", event_id, {"to": new, "stories": list(stories)})
    return new, number


def join(visit: Visit, event_id: str, other: str) -> int:
    number = editing.join(visit.portal.store, event_id, other, by=editor_name(visit), now=visit.portal.now())
    log(visit.request, "event.join", event_id, {"from": other})
    return number


def undo(visit: Visit, number: int) -> str:
    """Answers the event that the edit was of."""
    done = editing.undo(visit.portal.store, number, by=editor_name(visit), now=visit.portal.now())
    log(visit.request, "event.undo", done.event_id, {"edit": number, "kind": done.kind})
    return done.event_id


@router.post("/event/{event_id}")
def change(request: Request, visit: Here, event_id: str, sent: Form) -> Response:
    """``do``: ``rename`` (``title``), ``pin``, ``unpin``, ``split`` (``story``, several), ``join`` (``other``, an id or address)."""
    here, do = f"/event/{event_id}", sent.get("do", "")
    if visit.portal.store.events.event(event_id) is None:
        raise HTTPException(404)
    stories, other = sent.getlist("story"), sent.get("other", "").strip().rstrip("/").rpartition("/")[2]
    try:
        if do == "rename":
            number = rename(visit, event_id, sent.get("title", ""))
        elif do in ("pin", "unpin"):
            number = pin(visit, event_id, do == "pin")
        elif do == "split":
            _new, number = split(visit, event_id, stories)
        elif do == "join":
            number = join(visit, event_id, other)
        else:
            raise HTTPException(422)
    except StoreError:
        wrong = {"rename": LONG_TITLE, "split": NO_STORIES, "join": NO_OTHER}.get(do, CHANGED)
        return notify(request, here, wrong)
    return notify(request, here, _("The event was changed."), undo=f"{here}/undo/{number}")


@router.post("/event/{event_id}/undo/{number}")
def undone(request: Request, visit: Here, event_id: str, number: int) -> Response:
    try:
        event_id = undo(visit, number)
    except StoreError:
        return notify(request, f"/event/{event_id}", CHANGED)
    return notify(request, f"/event/{event_id}", _("The change was taken back."))
