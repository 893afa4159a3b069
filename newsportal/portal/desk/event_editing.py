"""An editor names, pins, splits and joins events, and takes that back."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import StoreError
from newsportal.portal.access import needs
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Here
from newsportal.portal.desk.article_changes import by_editor
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


@router.post("/event/{event_id}")
def change(request: Request, visit: Here, event_id: str, sent: Form) -> Response:
    """``do``: ``rename`` (``title``), ``pin``, ``unpin``, ``split`` (``story``, several), ``join`` (``other``, an id or address)."""
    here, do, store = f"/event/{event_id}", sent.get("do", ""), visit.portal.store
    or_404(store.events.event(event_id))
    stories, other = sent.getlist("story"), sent.get("other", "").strip().rstrip("/").rpartition("/")[2]
    try:
        if do == "rename":
            number = editing.rename(store, event_id, sent.get("title", ""), **by_editor(visit))
        elif do in ("pin", "unpin"):
            number = editing.pin(store, event_id, do == "pin", **by_editor(visit))
        elif do == "split":
            _new, number = editing.split(store, event_id, stories, **by_editor(visit))
        elif do == "join":
            number = editing.join(store, event_id, other, **by_editor(visit))
        else:
            raise HTTPException(422)
    except StoreError:
        return notify(request, here, {"rename": LONG_TITLE, "split": NO_STORIES, "join": NO_OTHER}.get(do, CHANGED))
    return notify(request, here, _("The event was changed."), undo=f"{here}/undo/{number}")


@router.post("/event/{event_id}/undo/{number}")
def undone(request: Request, visit: Here, event_id: str, number: int) -> Response:
    try:
        event_id = editing.undo(visit.portal.store, number, **by_editor(visit)).event_id
    except StoreError:
        return notify(request, f"/event/{event_id}", CHANGED)
    return notify(request, f"/event/{event_id}", _("The change was taken back."))
