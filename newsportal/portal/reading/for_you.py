"""Readers without an account: a random name in a cookie, ``POST /seen`` for views, ``/profile`` to see, clear and disable the profile; and
``/for-you`` (为你推荐): recommended stories with reasons, some of which are also shown at the end of other pages.

No account, no IP address, no fingerprint is stored: the name is generated when the first view is recorded. ``profile=off`` forbids
recording, as do ``Sec-GPC`` and ``DNT``. Without JavaScript nothing is recorded: a page that was fetched may not have been read.
"""

import logging
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from newsportal.errors import StoreError
from newsportal.events.summaries import shorten
from newsportal.portal.access import address_of, or_404, require
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.language import _
from newsportal.portal.preferences import YEAR
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form, json_object
from newsportal.portal.safe_text import title
from newsportal.recommend.base import Recommendation
from newsportal.store.results import Story, is_gallery
from newsportal.store.store import Store

NAME = "reader"
SWITCH = "profile"
RANDOM_BYTES = 16  # 128 bits: names cannot be guessed
WELL_FORMED = re.compile(rf"[0-9a-f]{{{2 * RANDOM_BYTES}}}")

BOTS = re.compile(r"bot\b|bot[/;_-]|spider|crawler|slurp|preview|archiver|monitor", re.IGNORECASE)
"""User agents of programs, whose views are not recorded."""

Wish = Literal["on", "off", "browser", "portal"]
"""Whether a profile may be kept: yes; disabled by the reader; the browser sends a do-not-track signal; disabled for this portal."""


@dataclass(frozen=True, slots=True)
class Reader:
    """``name`` None: nothing is recorded yet. ``person`` False: a prefetch or a program."""

    name: str | None
    wish: Wish
    person: bool

    @property
    def is_recorded(self) -> bool:
        """Whether actions of this reader may be recorded."""
        return self.wish == "on" and self.person


def reader_of(request: Request) -> Reader:
    headers, name = request.headers, request.cookies.get(NAME, "")
    purpose = f"{headers.get('sec-purpose', '')} {headers.get('purpose', '')}"
    person = "prefetch" not in purpose and not BOTS.search(headers.get("user-agent", ""))
    wish: Wish = "browser" if "1" in (headers.get("sec-gpc"), headers.get("dnt")) else "on"
    if not request.app.state.portal.site.recommends:
        wish = "portal"
    elif request.cookies.get(SWITCH) == "off":
        wish = "off"
    return Reader(name if WELL_FORMED.fullmatch(name) else None, wish, person)


def set_reader_cookie(response: Response, request: Request, name: str) -> None:
    """Set the cookie with the reader's name. Scripts cannot read it."""
    secure = request.url.scheme == "https"
    response.set_cookie(NAME, name, max_age=YEAR, samesite="lax", path="/", httponly=True, secure=secure)


log = logging.getLogger(__name__)

router = APIRouter()

STORY = re.compile(r"[0-9a-f]{1,64}")  # ids of articles in stores


@router.post("/seen")
async def seen(request: Request) -> Response:
    """Record a view, ``{"article": ID, "places": [1, 2, 5]}``; 204 whether or not it was recorded, 404 for an unknown article, else 400."""
    body = await json_object(request)
    article, places = body.get("article"), body.get("places")
    if not isinstance(article, str) or not STORY.fullmatch(article):
        raise HTTPException(400)
    if not isinstance(places, list) or not all(type(place) is int for place in places):  # True is an int in Python
        raise HTTPException(400)
    portal: Portal = Visit(request).portal
    reader = reader_of(request)
    response = Response(status_code=204, headers={"cache-control": "no-store"})
    if not reader.is_recorded or not portal.pace.allows(address_of(request)):
        return response
    name = reader.name or secrets.token_hex(RANDOM_BYTES)
    if await run_in_threadpool(record, portal, name, article, frozenset(places)):
        set_reader_cookie(response, request, name)
    return response


def record(portal: Portal, reader: str, article_id: str, places: frozenset[int]) -> bool:
    """Record a view and return whether it was. Places that the story does not have are ignored; if the store is busy, the view is lost."""
    try:
        pictures = or_404(pictures_of(portal.store, article_id))
        valid = places & frozenset(range(1, max(pictures, 1) + 1))
        return bool(valid) and portal.store.readers.record_view(reader, article_id, sorted(valid), pictures=pictures, now=portal.now())
    except StoreError as error:
        portal.unrecorded["seen"] += 1
        log.warning("a view was not recorded: %s", error)
        return False


def pictures_of(store: Store, article_id: str) -> int | None:
    """Return the number of visible pictures of a photo story, 0 for other articles; None for an unknown article."""
    gallery = store.galleries.gallery(article_id)
    if gallery is not None:
        return gallery.pictures
    article = store.article(article_id)
    return None if article is None else len(article.images) if is_gallery(article.source) else 0


LISTED = 200  # stories shown on the page; the profile has a few more (`Readers.history`)


@router.get("/profile")
def profile(request: Request, visit: VisitDep) -> Response:
    reader = reader_of(request)
    lines = profile_rows(visit.portal, reader)
    return render(request, "profile.html", reader=reader, lines=lines, feed=None)


def profile_rows(portal: Portal, reader: Reader) -> list[dict[str, Any]]:
    """Return the reader's profile, latest first: ``pictures`` of a photo story, ``None`` for an article. Deleted stories are left out."""
    if reader.name is None or reader.wish == "off":
        return []
    views = portal.store.readers.history(reader.name, limit=LISTED)
    stories = portal.store.by_id([view.story for view in views])
    return [
        {"story": story, "seen": view.seen, "pictures": view.pictures if is_gallery(story.head.source) else None, "at": view.at}
        for view in views
        if (story := stories.get(view.story)) is not None
    ]


@router.post("/profile/remove")
def remove(request: Request, fields: Form) -> Response:
    """Remove one story from the profile."""
    story, reader = fields.get("story", ""), reader_of(request)
    if reader.name is not None and story:
        Visit(request).portal.store.readers.forget(reader.name, story)
    return redirect_to_profile()


@router.post("/profile/clear")
def clear(request: Request) -> Response:
    """Delete the profile and the reader's name."""
    reader = reader_of(request)
    if reader.name is not None:
        Visit(request).portal.store.readers.forget(reader.name)
    response = redirect_to_profile()
    response.delete_cookie(NAME, path="/")
    return response


@router.post("/profile/switch")
def switch(request: Request, fields: Form) -> Response:
    """``profile=off``: delete the profile, block its name in the store, and record nothing from now on; ``profile=on``: start a new one."""
    choice, reader, portal = fields.get(SWITCH), reader_of(request), Visit(request).portal
    response = redirect_to_profile()
    if choice == "off":
        if reader.name is not None:
            portal.store.readers.set_recording(reader.name, False, now=portal.now())
        response.delete_cookie(NAME, path="/")
        response.set_cookie(SWITCH, "off", max_age=YEAR, samesite="lax", path="/")
    elif choice == "on":
        response.delete_cookie(SWITCH, path="/")
    return response


def redirect_to_profile() -> Response:
    """Redirect to the page, so that reloading it sends nothing."""
    return RedirectResponse("/profile", 303, headers={"cache-control": "no-store"})


DISMISSED = "dismissed"
MAX_DISMISSED = 100  # as many as a cookie holds; older ones are hardly recommended any more
FURTHER = 3  # stories at the end of another
TITLE_CHARS = 40  # of the story named as the reason: enough to recognise it

REASONS = {
    "neighbours": _("Liked by readers of the same stories"),
    "content": _("Similar to stories you viewed"),
    "popular": _("Popular at present"),
    "fresh": _("New"),
    "explore": _("Something different for variety"),
}  # reason of a recommendation, by the slug of the method that found it

BECAUSE = {"content": _("Similar to “%(title)s”, which you viewed")}
BECAUSE_SEEN = _("Because you viewed “%(title)s”")


@dataclass(frozen=True, slots=True)
class Suggestion:
    story: Story
    reason: str


def recommend_and_record(visit: Visit, n: int) -> list[Suggestion]:
    """Return recommendations and record them as shown, which the precision of paper C's formula 4 counts."""
    reader = reader_of(visit.request)
    results = recommend(visit, reader, n)
    if reader.is_recorded and reader.name is not None and results:
        try:
            visit.portal.store.readers.record_offer(reader.name, [item for _story, item, _because in results], now=visit.portal.now())
        except StoreError as error:
            visit.portal.unrecorded["offer"] += 1
            log.warning("recommendations were not recorded: %s", error)
    return [Suggestion(story, reason_text(item, origin, visit.clock.words)) for story, item, origin in results]


def recommend_some(visit: Visit, story_id: str | None = None, n: int = FURTHER) -> list[Suggestion]:
    """Return some stories for the end of another (``story_id``) or the front page; not recorded, since they may not be seen."""
    reader = reader_of(visit.request)
    if reader.name is None or not reader.is_recorded:
        return []
    try:
        results = recommend(visit, reader, n + 1)
    except StoreError as error:
        log.warning("no recommendations on this page: %s", error)
        return []
    others = [Suggestion(story, reason_text(item, origin, visit.clock.words)) for story, item, origin in results if story.id != story_id]
    return others[:n]


def recommend(visit: Visit, reader: Reader, n: int) -> Sequence[tuple[Story, Recommendation, Story | None]]:
    """Return the best stories for this reader, without dismissed ones; for a reader without a profile, the best for everyone."""
    unwanted = dismissed_stories(visit.request)
    results = visit.portal.recommender.recommended(reader.name if reader.is_recorded else None, visit.portal.now(), n + len(unwanted))
    return [item for item in results if item[0].id not in unwanted][:n]


def dismissed_stories(request: Request) -> list[str]:
    """Return the ids of the stories that the reader dismissed, the last first."""
    return [id for id in request.cookies.get(DISMISSED, "").split(".") if STORY.fullmatch(id)][:MAX_DISMISSED]


def reason_text(recommendation: Recommendation, origin: Story | None, words: NullTranslations) -> str:
    if origin is not None:
        return words.gettext(BECAUSE.get(recommendation.by, BECAUSE_SEEN)) % {"title": shorten(title(origin.head), TITLE_CHARS)}
    return words.gettext(REASONS[recommendation.by]) if recommendation.by in REASONS else recommendation.by


SHOWN = 30


@router.post("/for-you/dismiss")
def dismiss(request: Request, visit: VisitDep, fields: Form) -> Response:
    """``story``: do not recommend it in this browser any more."""
    story = fields.get("story", "")
    require(STORY.fullmatch(story), 400)
    response = notify(request, "/for-you", _("It will no longer be recommended to you."))
    dismissed = [story, *(id for id in dismissed_stories(request) if id != story)][:MAX_DISMISSED]
    response.set_cookie(DISMISSED, ".".join(dismissed), max_age=YEAR, samesite="lax", path="/", httponly=True)
    return response


@router.get("/for-you")
def for_you(request: Request, visit: VisitDep) -> Response:
    reader = reader_of(request)
    require(reader.wish != "portal")
    history = visit.portal.store.readers.history(reader.name, limit=1) if reader.name and reader.is_recorded else []
    return render(request, "for_you.html", reader=reader, new=not history, recommendations=recommend_and_record(visit, SHOWN), feed=None)
