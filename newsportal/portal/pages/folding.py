"""Put a version into another story, or take it out: ``/story/ID/ARTICLE/fold`` looks for the story and shows why they are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from newsportal.accounts import Right
from newsportal.editing.differences import Likeness, likeness
from newsportal.errors import StoreError
from newsportal.portal import articles
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import told
from newsportal.portal.render import render
from newsportal.portal.sent import form
from newsportal.portal.versions import said_in, version_of
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
def search(request: Request, story_id: str, article_id: str) -> Response:
    """``?q=``: words of the story, its address or its id; without them the article's own title."""
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    return _page(request, article)


@router.post("/story/{story_id}/{article_id}/fold")
async def put_together(request: Request, story_id: str, article_id: str) -> Response:
    """``story`` in the form, or in the address (a link that takes something back)."""
    wanted = (await form(request)).get("story") or request.query_params.get("story", "")
    return await run_in_threadpool(_fold, request, story_id, article_id, wanted)


@router.post("/story/{story_id}/{article_id}/unfold")
async def take_out(request: Request, story_id: str, article_id: str) -> Response:
    return await run_in_threadpool(_unfold, request, story_id, article_id)


def _fold(request: Request, story_id: str, article_id: str, wanted: str) -> Response:
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    visit = Visit(request)
    try:
        moved = articles.put_into(request, article_id, named(wanted))
    except StoreError:
        return _page(request, article, said_in(visit, _("There is no such story, or the article is in it already: choose another one.")))
    back = f"/story/{moved.story}/{article_id}"
    undo = f"{back}/fold?story={moved.back}" if moved.back else f"{back}/unfold"
    return told(request, f"/story/{moved.story}#versions", said_in(visit, _("The article was put into this story.")), undo=undo)


def _unfold(request: Request, story_id: str, article_id: str) -> Response:
    article = version_of(request, story_id, article_id)
    if isinstance(article, Response):
        return article
    visit = Visit(request)
    try:
        moved = articles.take_out(request, article_id)
    except StoreError:
        here = f"/story/{article.story_id}/{article_id}"
        return told(request, here, said_in(visit, _("The article stands in a story of its own already.")))
    undo = f"/story/{moved.story}/{article_id}/fold?story={moved.came_from}"
    return told(request, f"/story/{moved.story}", said_in(visit, _("The article stands in a story of its own now.")), undo=undo)


def named(text: str) -> str:
    """The id of the story that an editor names: its id, or its address in this portal."""
    _, found, rest = text.strip().partition("/story/")
    return (rest if found else text.strip()).split("/")[0].split("?")[0].split("#")[0][:100]


def _page(request: Request, article: StoredArticle, wrong: str | None = None) -> Response:
    visit = Visit(request)
    asked = visit.text("q")
    found = candidates(visit, article, asked or article.title)
    searched = visit.portal.index is not None
    here = f"/story/{article.story_id}/{article.id}"
    values = {"article": article, "here": here, "asked": asked or "", "candidates": found, "searched": searched, "wrong": wrong}
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
