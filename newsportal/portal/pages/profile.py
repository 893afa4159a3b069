"""``/profile``: what is kept of a reader, to see, to clear and to switch off. Plain forms; without a profile there is nothing to see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from newsportal.portal.context import Portal, Visit
from newsportal.portal.preferences import YEAR
from newsportal.portal.reader import NAME, SWITCH, Reader, reader_of
from newsportal.portal.render import render
from newsportal.portal.sent import Form
from newsportal.store.results import Story, is_gallery

router = APIRouter()

SHOWN = 200
"""Stories that the page lists; the profile itself has a few more (``Readers.history``)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A story of the profile. ``pictures`` None: an article, read or not."""

    story: Story
    seen: int
    pictures: int | None
    at: datetime


@router.get("/profile")
def profile(request: Request) -> Response:
    visit = Visit(request)
    reader = reader_of(request)
    lines = lines_of(visit.portal, reader)
    return render(request, "profile.html", reader=reader, lines=lines, feed=None)


def lines_of(portal: Portal, reader: Reader) -> list[Line]:
    """The reader's profile, the latest first. Stories that are gone are left out."""
    if reader.name is None or reader.wish == "off":
        return []
    views = portal.store.readers.history(reader.name, limit=SHOWN)
    stories = portal.store.listed([view.story for view in views])
    return [
        Line(story, view.seen, view.pictures if is_gallery(story.head.source) else None, view.at)
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
    """``profile=off``: forget the reader and keep nothing from now on; ``profile=on``: begin anew.

    What other pages of this reader still send under the old name is refused by the store.
    """
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
