"""A reader without an account: a random name in his cookie, ``POST /seen`` of his views, ``/profile`` to see, clear and switch it off.

No account, no address, no fingerprint: the name is made when something is first kept. ``profile=off`` says that nothing shall be kept; so
do ``Sec-GPC`` and ``DNT``. Without JavaScript nothing is recorded: a page that is fetched is not yet read.
"""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.errors import StoreError
from newsportal.portal.access import address_of
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Here, Portal, Visit
from newsportal.portal.preferences import YEAR
from newsportal.portal.render import render
from newsportal.portal.request_body import Form, json_object
from newsportal.store.results import is_gallery
from newsportal.store.store import Store

NAME = "reader"
SWITCH = "profile"
RANDOM_BYTES = 16  # 128 bits: nobody guesses another reader's name
WELL_FORMED = re.compile(rf"[0-9a-f]{{{2 * RANDOM_BYTES}}}")

MACHINES = re.compile(r"bot\b|bot[/;_-]|spider|crawler|slurp|preview|archiver|monitor", re.IGNORECASE)
"""Programs that say so. What they open is nobody's taste."""

Wish = Literal["on", "off", "browser", "portal"]
"""Whether a profile may be kept: yes; switched off here; the browser asks not to be tracked; this portal keeps none."""


@dataclass(frozen=True, slots=True)
class Reader:
    """``name`` None: nothing was kept yet. ``person``: no prefetch, and no program that says it is one."""

    name: str | None
    wish: Wish
    person: bool

    @property
    def is_recorded(self) -> bool:
        """Whether what this reader does may be recorded."""
        return self.wish == "on" and self.person


def reader_of(request: Request) -> Reader:
    headers, found = request.headers, request.cookies.get(NAME, "")
    purpose = f"{headers.get('sec-purpose', '')} {headers.get('purpose', '')}"
    person = "prefetch" not in purpose and not MACHINES.search(headers.get("user-agent", ""))
    wish: Wish = "browser" if "1" in (headers.get("sec-gpc"), headers.get("dnt")) else "on"
    if not request.app.state.portal.site.recommends:
        wish = "portal"
    elif request.cookies.get(SWITCH) == "off":
        wish = "off"
    return Reader(found if WELL_FORMED.fullmatch(found) else None, wish, person)


def introduce(response: Response, request: Request, name: str) -> None:
    """Let the browser bring ``name`` from now on. No script can read it."""
    secure = request.url.scheme == "https"
    response.set_cookie(NAME, name, max_age=YEAR, samesite="lax", path="/", httponly=True, secure=secure)


log = logging.getLogger(__name__)

router = APIRouter()

STORY = re.compile(r"[0-9a-f]{1,64}")  # as stores name articles


@router.post("/seen")
async def seen(request: Request) -> Response:
    """``{"article": ID, "places": [1, 2, 5]}``; 204 whether or not it was kept, 404 for an unknown article, else 400."""
    told = await json_object(request)
    article, places = told.get("article"), told.get("places")
    if not isinstance(article, str) or not STORY.fullmatch(article):
        raise HTTPException(400)
    if not isinstance(places, list) or not all(type(place) is int for place in places):  # True is a number to Python
        raise HTTPException(400)
    portal: Portal = Visit(request).portal
    reader = reader_of(request)
    answer = Response(status_code=204, headers={"cache-control": "no-store"})
    if not reader.is_recorded or not portal.pace.allows(address_of(request)):
        return answer
    name = reader.name or secrets.token_hex(RANDOM_BYTES)
    if await run_in_threadpool(record, portal, name, article, frozenset(places)):
        introduce(answer, request, name)
    return answer


def record(portal: Portal, reader: str, article_id: str, places: frozenset[int]) -> bool:
    """Whether it was kept. Only places that the story has count; a busy store costs a view, never a page."""
    try:
        pictures = or_404(pictures_of(portal.store, article_id))
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


SHOWN = 200  # stories that the page lists; the profile itself has a few more (`Readers.history`)


@router.get("/profile")
def profile(request: Request, visit: Here) -> Response:
    reader = reader_of(request)
    lines = lines_of(visit.portal, reader)
    return render(request, "profile.html", reader=reader, lines=lines, feed=None)


def lines_of(portal: Portal, reader: Reader) -> list[dict[str, Any]]:
    """The reader's profile, the latest first: ``pictures`` of a photo story, ``None`` of an article. Stories that are gone are left out."""
    if reader.name is None or reader.wish == "off":
        return []
    views = portal.store.readers.history(reader.name, limit=SHOWN)
    stories = portal.store.listed([view.story for view in views])
    return [
        {"story": story, "seen": view.seen, "pictures": view.pictures if is_gallery(story.head.source) else None, "at": view.at}
        for view in views
        if (story := stories.get(view.story)) is not None
    ]


@router.post("/profile/remove")
def remove(request: Request, sent: Form) -> Response:
    """Take one story out of the profile."""
    story, reader = sent.get("story", ""), reader_of(request)
    if reader.name is not None and story:
        Visit(request).portal.store.readers.forget(reader.name, story)
    return back()


@router.post("/profile/clear")
def clear(request: Request) -> Response:
    """Forget the reader: the profile goes, and the name with it."""
    reader = reader_of(request)
    if reader.name is not None:
        Visit(request).portal.store.readers.forget(reader.name)
    answer = back()
    answer.delete_cookie(NAME, path="/")
    return answer


@router.post("/profile/switch")
def switch(request: Request, sent: Form) -> Response:
    """``profile=off``: forget the reader, whose old name the store refuses, and keep nothing from now on; ``profile=on``: begin anew."""
    wanted, reader, portal = sent.get(SWITCH), reader_of(request), Visit(request).portal
    answer = back()
    if wanted == "off":
        if reader.name is not None:
            portal.store.readers.switch(reader.name, False, now=portal.now())
        answer.delete_cookie(NAME, path="/")
        answer.set_cookie(SWITCH, "off", max_age=YEAR, samesite="lax", path="/")
    elif wanted == "on":
        answer.delete_cookie(SWITCH, path="/")
    return answer


def back() -> Response:
    """To the page, by GET, so that loading it again sends nothing."""
    return RedirectResponse("/profile", 303, headers={"cache-control": "no-store"})
