"""``/for-you`` (为你推荐): stories for this reader, each with the reason why; some of them at the end of other pages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from gettext import NullTranslations

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import StoreError
from newsportal.events.summaries import shorten
from newsportal.portal.context import Here, Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.preferences import YEAR
from newsportal.portal.reading.reader_profile import STORY, Reader, reader_of
from newsportal.portal.render import render
from newsportal.portal.request_body import Form
from newsportal.portal.safe_text import title
from newsportal.recommend.base import Recommendation
from newsportal.store.results import Story

log = logging.getLogger(__name__)

DISMISSED = "dismissed"
MOST_DISMISSED = 100  # as many as a cookie holds; what is older is hardly recommended any more
FURTHER = 3  # stories at the end of another
TITLE_CHARS = 40  # of the story that speaks for another: enough to know it by


WHY = {
    "neighbours": _("Readers who look at what you look at liked it"),
    "content": _("Close to what you look at"),
    "popular": _("Many read it these days"),
    "fresh": _("New"),
    "explore": _("Something different, to see whether you like it"),
}
"""Why a story is recommended, by the slug of the method that found it."""

BECAUSE = {"content": _("Like “%(title)s”, which you looked at")}
BECAUSE_SEEN = _("Because you looked at “%(title)s”")


@dataclass(frozen=True, slots=True)
class Suggested:
    story: Story
    why: str


def offered(visit: Visit, n: int) -> list[Suggested]:
    """What is recommended to this reader, kept as shown to him (the precision of paper C's formula 4 counts what was shown)."""
    reader = reader_of(visit.request)
    found = recommended(visit, reader, n)
    if reader.is_recorded and reader.name is not None and found:
        try:
            visit.portal.store.readers.offer(reader.name, [one for _story, one, _because in found], now=visit.portal.now())
        except StoreError as error:
            visit.portal.missed["offer"] += 1
            log.warning("what was recommended was not recorded: %s", error)
    return [Suggested(story, why(one, because, visit.clock.words)) for story, one, because in found]


def further(visit: Visit, story_id: str | None = None, n: int = FURTHER) -> list[Suggested]:
    """A few stories for the end of another (``story_id``) or for the front page: no offers, since nobody knows whether they are seen."""
    reader = reader_of(visit.request)
    if reader.name is None or not reader.is_recorded:
        return []
    try:
        found = recommended(visit, reader, n + 1)
    except StoreError as error:
        log.warning("nothing is recommended on this page: %s", error)
        return []
    others = [Suggested(story, why(one, because, visit.clock.words)) for story, one, because in found if story.id != story_id]
    return others[:n]


def recommended(visit: Visit, reader: Reader, n: int) -> Sequence[tuple[Story, Recommendation, Story | None]]:
    """The best for this reader, without what he does not want; for one of whom nothing is kept, what is the best for anybody."""
    unwanted = dismissed(visit.request)
    found = visit.portal.recommender.recommended(reader.name if reader.is_recorded else None, visit.portal.now(), n + len(unwanted))
    return [one for one in found if one[0].id not in unwanted][:n]


def dismissed(request: Request) -> list[str]:
    """The stories of which this reader said that they do not interest him, the last one first."""
    return [id for id in request.cookies.get(DISMISSED, "").split(".") if STORY.fullmatch(id)][:MOST_DISMISSED]


def why(one: Recommendation, because: Story | None, words: NullTranslations) -> str:
    if because is not None:
        return words.gettext(BECAUSE.get(one.by, BECAUSE_SEEN)) % {"title": shorten(title(because.head), TITLE_CHARS)}
    return words.gettext(WHY[one.by]) if one.by in WHY else one.by


router = APIRouter()

SHOWN = 30


@router.post("/for-you/dismiss")
def dismiss(request: Request, visit: Here, sent: Form) -> Response:
    """``story``: it is not recommended to this browser any more."""
    story = sent.get("story", "")
    if not STORY.fullmatch(story):
        raise HTTPException(400)
    answer = notify(request, "/for-you", _("It is not recommended to you any more."))
    kept = [story, *(id for id in dismissed(request) if id != story)][:MOST_DISMISSED]
    answer.set_cookie(DISMISSED, ".".join(kept), max_age=YEAR, samesite="lax", path="/", httponly=True)
    return answer


@router.get("/for-you")
def for_you(request: Request, visit: Here) -> Response:
    reader = reader_of(request)
    if reader.wish == "portal":
        raise HTTPException(404)
    history = visit.portal.store.readers.history(reader.name, limit=1) if reader.name and reader.is_recorded else []
    return render(request, "for_you.html", reader=reader, new=not history, suggested=offered(visit, SHOWN), feed=None)
