"""``/health`` for monitors: JSON, 200 while the store answers, 503 when it does not."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from newsportal import __version__
from newsportal.accounts import Right
from newsportal.errors import SearchError, StoreError
from newsportal.portal.access import may
from newsportal.portal.context import Portal, Visit
from newsportal.report import Run

router = APIRouter()

HIDDEN = "the index does not follow the store; the log says why"
"""For everybody: the error itself may name hosts and files."""


@router.get("/health")
def health(request: Request) -> Response:
    portal = Visit(request).portal
    try:
        told, status = {"status": "ok", **store_health(portal)}, 200
    except StoreError:
        told, status = {"status": "store-unavailable"}, 503
    search = search_health(portal, int(told.get("seq", 0)))
    if status == 200 and search.get("status") == "unavailable":
        told["status"] = "degraded"
    if portal.missed:
        told["not_recorded"] = dict(portal.missed)
    following = getattr(request.app.state, "follower", None)
    if following and following.error:
        search["error"] = following.error if may(request, Right.WATCH) else HIDDEN
    return JSONResponse({**told, "version": __version__, "search": search}, status, headers={"cache-control": "no-store"})


def store_health(portal: Portal) -> dict[str, Any]:
    tally = portal.tally()
    last = next(iter(portal.store.runs(1)), None)
    return {
        "articles": tally.articles,
        "stories": tally.stories,
        "newest": tally.newest.isoformat() if tally.newest else None,
        "seq": portal.store.last_seq(),
        "last_run": _run_told(last) if last else None,
    }


def _run_told(run: Run) -> dict[str, Any]:
    return {"id": run.id, "started": run.started.isoformat(), "ended": run.ended.isoformat() if run.ended else None}


def search_health(portal: Portal, seq: int) -> dict[str, Any]:
    """How far the index is behind the store, in rows of the change log."""
    if portal.index is None:
        return {"status": "off"}
    try:
        return {"status": "ok", "behind": max(0, seq - portal.index.position())}
    except SearchError:
        return {"status": "unavailable"}
