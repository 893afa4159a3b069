"""``POST /seen``: what a reader looked at, told by the script of a story's page (``static/seen.js``).

Without JavaScript nothing is told: a page that is fetched is not yet read, and a GET that records could be sent from anywhere.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool

from newsportal.errors import StoreError
from newsportal.portal.context import Portal, Visit
from newsportal.portal.pace import address_of
from newsportal.portal.reader import introduce, new_name, reader_of
from newsportal.portal.sent import said
from newsportal.store.results import is_gallery
from newsportal.store.store import Store

log = logging.getLogger(__name__)

router = APIRouter()

STORY = re.compile(r"[0-9a-f]{1,64}")  # as stores name articles


@router.post("/seen")
async def seen(request: Request) -> Response:
    """``{"article": ID, "places": [1, 2, 5]}``; 204 whether or not it was kept, 404 for an unknown article, else 400."""
    told = await said(request)
    article, places = told.get("article"), _places(told.get("places"))
    if not isinstance(article, str) or not STORY.fullmatch(article) or places is None:
        raise HTTPException(400)
    portal: Portal = Visit(request).portal
    reader = reader_of(request)
    answer = Response(status_code=204, headers={"cache-control": "no-store"})
    if not reader.kept or not portal.pace.allows(address_of(request)):
        return answer
    name = reader.name or new_name()
    if await run_in_threadpool(record, portal, name, article, places):
        introduce(answer, request, name)
    return answer


def record(portal: Portal, reader: str, article_id: str, places: frozenset[int]) -> bool:
    """Whether it was kept. Only places that the story has count; a busy store costs a view, never a page."""
    try:
        pictures = pictures_of(portal.store, article_id)
        if pictures is None:
            raise HTTPException(404)
        there = places & frozenset(range(1, max(pictures, 1) + 1))
        return bool(there) and portal.store.readers.saw(reader, article_id, sorted(there), pictures=pictures, now=portal.now())
    except StoreError as error:
        portal.missed["seen"] += 1
        log.warning("a view was not recorded: %s", error)
        return False


def pictures_of(store: Store, article_id: str) -> int | None:
    """How many pictures a reader can see of an article: those of a photo story, 0 of any other; None where there is no such article."""
    kept = store.galleries.gallery(article_id)
    if kept is not None:
        return kept.pictures
    article = store.article(article_id)
    return None if article is None else len(article.images) if is_gallery(article.source) else 0


def _places(told: Any) -> frozenset[int] | None:
    """Numbers of pictures, or None where it is anything else (``True`` is a number to Python)."""
    if not isinstance(told, list) or not all(type(place) is int for place in told):
        return None
    return frozenset(told)
