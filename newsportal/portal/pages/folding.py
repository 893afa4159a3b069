"""Put a version into another story, or take it out: ``/story/ID/ARTICLE/fold`` looks for the story and shows why they are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.editing.differences import Likeness, likeness
from newsportal.errors import StoreError
from newsportal.portal import articles
from newsportal.portal.access import needs
from newsportal.portal.articles import Version, page_of
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import render
from newsportal.portal.sent import Form
from newsportal.search.base import Query
from newsportal.store.results import StoredArticle, Story

router = APIRouter(dependencies=[needs(Right.EDIT)])

CANDIDATES: Final = 10
"""Stories that are offered."""

HITS: Final = 30
"""Articles that are asked for: several may be of one story."""


@dataclass(frozen=True, slots=True)
class Candidate:
    story: Story
    likeness: Likeness


@router.get("/story/{story_id}/{article_id}/fold")
def search(request: Request, article: Version) -> Response:
    """``?q=``: words of the story, its address or its id; without them the article's own title."""
    return _page(request, article)


@router.post("/story/{story_id}/{article_id}/fold")
def put_together(request: Request, article: Version, sent: Form) -> Response:
    """``story`` in the form, or in the address (a link that takes something back)."""
    try:
        moved = articles.put_into(request, article.id, named(sent.get("story") or request.query_params.get("story", "")))
    except StoreError:
        wrong = _("There is no such story, or the article is in it already: choose another one.")
        return _page(request, article, Visit(request).say(wrong))
    back = f"/story/{moved.story}/{article.id}"
    undo = f"{back}/fold?story={moved.back}" if moved.back else f"{back}/unfold"
    return notify(request, f"/story/{moved.story}#versions", _("The article was put into this story."), undo=undo)


@router.post("/story/{story_id}/{article_id}/unfold")
def take_out(request: Request, article: Version) -> Response:
    try:
        moved = articles.take_out(request, article.id)
    except StoreError:
        return notify(request, page_of(article), _("The article stands in a story of its own already."))
    undo = f"/story/{moved.story}/{article.id}/fold?story={moved.came_from}"
    return notify(request, f"/story/{moved.story}", _("The article stands in a story of its own now."), undo=undo)


def named(text: str) -> str:
    """The id of the story that an editor names: its id, or its address in this portal."""
    _, found, rest = text.strip().partition("/story/")
    return (rest if found else text.strip()).split("/")[0].split("?")[0].split("#")[0][:100]


def _page(request: Request, article: StoredArticle, wrong: str | None = None) -> Response:
    visit = Visit(request)
    asked = visit.text("q")
    found = candidates(visit, article, asked or article.title)
    searched = visit.portal.index is not None
    values = {"article": article, "here": page_of(article), "asked": asked or "", "candidates": found, "searched": searched, "wrong": wrong}
    return render(request, "fold.html", 422 if wrong else 200, **values)


def candidates(visit: Visit, article: StoredArticle, asked: str) -> list[Candidate]:
    """Stories that are found by ``asked``, the most alike first."""
    store, ids = visit.portal.store, [named(asked)]
    if visit.portal.index is not None:
        ids += [hit.story_id for hit in visit.portal.index.search(Query(asked, limit=HITS)).hits]
    stories = [story for story in store.listed(list(dict.fromkeys(ids))).values() if story.id != article.story_id]
    chosen = list({story.id: story for story in stories}.values())[:CANDIDATES]
    whole = {head.id: head for head in store.articles([story.head.id for story in chosen])}
    found = [Candidate(story, likeness(article, whole[story.head.id])) for story in chosen if story.head.id in whole]
    return sorted(found, key=lambda one: -one.likeness.shared)
