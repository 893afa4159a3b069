"""Search, with its facets, and completions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, Field

from newsportal.errors import SearchError
from newsportal.portal.api.faults import ApiError, told_of
from newsportal.portal.api.paging import Cursor, Limit, cursor_of, fill, place_of
from newsportal.portal.api.tagged import tagged
from newsportal.portal.context import Visit
from newsportal.portal.search_query import MAX_PAGES, PAGE, found
from newsportal.search.base import Index
from newsportal.search.base import Query as Asked

router = APIRouter(tags=["Search"])

LAST = MAX_PAGES * PAGE
"""So many hits can be paged through; who wants more narrows the search."""

MAX_TYPED = 200

Filter = Annotated[str | None, Query(max_length=300)]


class HitTold(BaseModel):
    id: str
    story_id: str
    url: str
    title: str
    title_html: str = Field(description="Escaped; found words stand in <mark>.")
    snippet_html: str
    site: str | None
    published: datetime | None
    score: float
    folded: int = Field(description="Other hits of the same story.")


class Found(BaseModel):
    items: list[HitTold]
    next: str | None = None
    total: int
    capped: bool = Field(description="There are more than total.")
    loose: bool = Field(description="Nothing holds all the words; these hold some.")
    words: list[str]
    facets: dict[str, dict[str, int]] = Field(description="site, category, topic, day: values with how many stories.")


def _index(request: Request) -> Index:
    found = Visit(request).portal.index
    if found is None:
        raise ApiError(503, "no-search", "This portal runs without a search index.")
    return found


@router.get("/search", summary="Search", response_model=Found, responses=told_of(400))
def search(
    request: Request,
    q: Annotated[str, Query(max_length=10_000, description='Words, "phrases", -not, field:word, since:2026-03.')],
    topic: Filter = None,
    site: Filter = None,
    category: Filter = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    sort: Literal["relevance", "time"] = "relevance",
    collapse: Annotated[bool, Query(description="One hit a story.")] = True,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> Response:
    offset = (place_of(cursor, int) or (0,))[0]
    if not 0 <= offset <= LAST:
        raise ApiError(400, "no-cursor", "This is no cursor.", "Take `next` of the page before as it is.")
    zone = Visit(request).clock.zone
    query = Asked(q, topic, site, category, since, until, sort, collapse, offset, limit, zone)
    try:
        results = found(Visit(request).portal, _index(request), query)
    except SearchError as error:
        raise ApiError(503, "search-away", "Search is away for the moment.", "Try again in a minute.") from error
    reached = offset + limit
    told = fill(
        Found, results, items=[fill(HitTold, hit) for hit in results.hits], words=list(results.words),
        next=cursor_of(reached) if results.hits and reached < min(results.total, LAST) else None,
        facets={name: dict(values) for name, values in results.facets.items()},
    )  # fmt: skip
    return tagged(request, told)


@router.get("/search/suggestions", summary="What may be meant by a word that is being typed")
def suggestions(
    request: Request, q: Annotated[str, Query(max_length=MAX_TYPED)], limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> list[str]:
    try:
        return list(_index(request).suggest(q, limit))
    except SearchError as error:
        raise ApiError(503, "search-away", "Search is away for the moment.", "Try again in a minute.") from error
