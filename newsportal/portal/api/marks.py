"""Marks of a person: read and starred stories, and saved searches."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, Field

from newsportal.portal.access import KEEP, ApiError, api_error_for, describe, log_change, or_404, require
from newsportal.portal.account.marks import accounts_and_person
from newsportal.portal.api.paging import Cursor, Limit, Page
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.reading.search_query import parse_search
from newsportal.services.accounts.marks import MAX_NAME, MAX_QUERY_CHARS, Search, SearchNotSaved, TooManyStarred
from newsportal.store.lists import cursor as cursor_behind
from newsportal.store.lists import parse_cursor
from newsportal.store.results import Story

router = APIRouter(tags=["Marks and searches"], dependencies=KEEP)

LIMIT = 50
MAX_STORIES = 100


class MarkOut(BaseModel):
    story_id: str = Field(description="The story's current id: of a folded story, the id of the story that contains it.")
    title: str
    read: bool
    starred: bool


class MarkIn(BaseModel):
    """Fields that are left out keep their values."""

    read: bool | None = None
    starred: bool | None = None


class StarredStory(BaseModel):
    story_id: str
    title: str
    url: str
    since: datetime


class MarkAllReadIn(BaseModel):
    topic: str = Field("", max_length=200, description="A topic; empty for everything.")


class SavedSearchOut(BaseModel):
    id: str
    name: str
    query: str = Field(description="Query string of the search page, such as `q=…&topic=…`.")
    created: datetime


class SavedSearchIn(BaseModel):
    name: str = Field(min_length=1, max_length=MAX_NAME)
    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)


@router.get("/marks", summary="Marks of stories")
def list_marks(visit: VisitDep, story: Annotated[list[str], Query(max_length=MAX_STORIES, description="Story ids.")]) -> list[MarkOut]:
    """Unknown ids are ignored."""
    stories = {item.id: item for item in visit.portal.store.by_id(story).values()}
    return [_mark_out(visit, item) for item in stories.values()]


@router.put("/marks/{story_id}", summary="Mark a story as read or starred", responses=describe(404, 409))
def update_mark(visit: VisitDep, story_id: str, body: MarkIn) -> MarkOut:
    accounts, person = accounts_and_person(visit)
    story = or_404(visit.portal.store.by_id([story_id]).get(story_id), "no-story", "There is no such story.")
    now = visit.portal.now()
    if body.read is not None:
        accounts.marks.set_read(person, story.id, body.read, now=now)
    if body.starred is not None:
        with api_error_for(TooManyStarred, status=409, code="too-many-starred", remedy="Take the star off some first."):
            accounts.marks.star(person, story.id, body.starred, now=now)
    return _mark_out(visit, story)


@router.get("/starred", summary="The starred stories, last starred first")
def list_starred(visit: VisitDep, limit: Limit = LIMIT, cursor: Cursor = None) -> Page[StarredStory]:
    accounts, person = accounts_and_person(visit)
    before = parse_cursor(cursor)
    if cursor is not None and before is None:
        raise ApiError(400, "invalid-cursor", "This is not a cursor.", "Send `next` of the previous page unchanged.")
    rows = accounts.marks.starred(person, before=before, limit=limit + 1)
    stories = visit.portal.store.by_id([story_id for _, story_id in rows])
    items = [
        StarredStory(story_id=story.id, title=story.head.title, url=story.head.url, since=since)
        for since, story_id in rows[:limit]
        if (story := stories.get(story_id)) is not None
    ]
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(items=items, next=cursor_behind(*last) if last else None)


@router.post("/marks/all-read", summary="Mark all stories as read, of a topic or of everything", status_code=204, responses=describe(404))
def mark_all_read(visit: VisitDep, body: MarkAllReadIn) -> None:
    accounts, person = accounts_and_person(visit)
    topic = body.topic and or_404(visit.portal.renamed_topic(body.topic), "no-topic", "There is no such topic.", "See /api/v1/topics.")
    accounts.marks.mark_all_read(person, topic, now=visit.portal.now())


@router.post("/marks/all-read/undo", summary="Undo the last «all read»", status_code=204)
def undo_mark_all_read(request: Request, body: MarkAllReadIn) -> None:
    accounts, person = accounts_and_person(Visit(request))
    accounts.marks.undo_mark_all_read(person, body.topic)


@router.get("/searches", summary="The saved searches, by name", response_model=list[SavedSearchOut])
def list_searches(request: Request) -> Sequence[Search]:
    accounts, person = accounts_and_person(Visit(request))
    return accounts.searches.of(person)


@router.post("/searches", summary="Save a search", status_code=201, response_model=SavedSearchOut, responses=describe(400, 409))
def save_search(request: Request, visit: VisitDep, body: SavedSearchIn) -> Search:
    """A search that is saved already gets the new name."""
    accounts, person = accounts_and_person(visit)
    search = parse_search(visit.portal, body.query)
    require(not search.empty, 400, "no-search", "The search is empty.", "Send the query of the search page's address, such as q=flood.")
    with api_error_for(SearchNotSaved, status=409, code="search-not-saved"):
        saved = accounts.searches.save(person, body.name, search.address("").removeprefix("?"), now=visit.portal.now())
    log_change(request, "search.keep", saved.id, {"name": saved.name})
    return saved


@router.patch("/searches/{id}", summary="Rename a saved search", response_model=SavedSearchOut, responses=describe(400, 404))
def rename_search(request: Request, id: str, name: Annotated[str, Body(embed=True, min_length=1, max_length=MAX_NAME)]) -> Search:
    accounts, person = accounts_and_person(Visit(request))
    with api_error_for(SearchNotSaved, status=400, code="name-missing"):
        renamed = accounts.searches.rename(person, id, name)
    search = or_404(accounts.searches.search(person, id) if renamed else None, "no-search", "There is no such search.")
    log_change(request, "search.rename", id, {"name": search.name})
    return search


@router.delete("/searches/{id}", summary="Remove a saved search", status_code=204, responses=describe(404))
def delete_search(request: Request, id: str) -> None:
    accounts, person = accounts_and_person(Visit(request))
    removed = or_404(accounts.searches.remove(person, id), "no-search", "There is no such search.")
    log_change(request, "search.remove", removed.id, {"name": removed.name})


def _mark_out(visit: Visit, story: Story) -> MarkOut:
    marked = visit.marks_on([story.id])
    return MarkOut(story_id=story.id, title=story.head.title, read=marked.read(story), starred=marked.starred(story.id))
