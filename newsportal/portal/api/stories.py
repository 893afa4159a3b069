"""Topics, stories, articles and search, as readers see them. Hidden articles are visible to editors only."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import AliasPath, AwareDatetime, BaseModel, Field, model_validator

from newsportal.extractors.article.sanitise import sanitise
from newsportal.portal.access import ApiError, describe, may, or_404, require
from newsportal.portal.api.paging import Cursor, Limit, Page, cursor_of, etag_response, parse_cursor
from newsportal.portal.context import PortalDep, Visit, VisitDep
from newsportal.portal.reading.assistant import visible
from newsportal.portal.reading.compilations import briefing_of, day_of, topic_of
from newsportal.portal.reading.search_query import MAX_PAGES, PAGE, search_index
from newsportal.search.base import Index
from newsportal.search.base import Query as Asked
from newsportal.services.accounts import Right
from newsportal.services.briefing import DAY, Quote, as_dict, day_range
from newsportal.store.gallery_tables import WallFilter, WallOrder
from newsportal.store.results import StoredArticle, StoryFilter, Tally

router = APIRouter(tags=["Reading"])

LIMIT = 30

Filter = Annotated[str | None, Query(max_length=300)]


class TopicSummaryOut(BaseModel):
    name: str
    stories: int


class Picture(BaseModel):
    url: str
    caption: str | None = None


class ArticleOut(BaseModel):
    """An article; single articles also have their text."""

    id: str
    story_id: str
    url: str
    title: str
    site: str = Field(description="The publisher: a name, or a host.", validation_alias="publisher")
    published: datetime | None
    first_seen: datetime
    author: str | None
    origin: str | None
    summary: str | None
    category: str | None
    topics: list[str]
    keywords: list[str]
    source: str
    revision: int
    fold_reason: str | None = Field(description="Why it is a version of the story; null for the original.")
    corrected: datetime | None = Field(description="When an editor corrected it.")
    hidden: datetime | None = Field(description="When it was hidden; for editors only.")


class ArticleDetail(ArticleOut):
    text: str
    html: str | None = Field(description="Sanitised markup of the body.")
    images: list[Picture]

    @model_validator(mode="after")
    def _sanitise(self) -> ArticleDetail:
        self.html = self.html and sanitise(self.html, self.url)  # the store may have been filled by another program
        return self


class StoryOut(BaseModel):
    id: str
    head: ArticleOut
    versions: int = Field(validation_alias="count")
    sites: int
    heat: float
    first_seen: datetime
    last_seen: datetime


class StoryDetail(StoryOut):
    head: ArticleDetail
    articles: list[ArticleOut] = Field(description="All versions, the original first.", validation_alias="versions")


class PhotoStory(BaseModel):
    article: ArticleOut
    pictures: int = Field(validation_alias=AliasPath("gallery", "pictures"))
    complete: bool = Field(validation_alias=AliasPath("gallery", "complete"))
    missing: list[int] = Field(description="Missing pages.", validation_alias=AliasPath("gallery", "missing"))
    sites: int


class Revisions(BaseModel):
    items: list[ArticleDetail] = Field(description="Its earlier texts, newest first.")


class BriefStory(BaseModel):
    id: str
    title: str
    url: str


class BriefEventOut(BaseModel):
    title: str
    event: str | None = Field(description="Id of the event, if it has several stories.")
    sites: int
    continues: bool = Field(description="Whether it was in the briefing of the day before.")
    last: datetime = Field(description="Time of the latest news.")
    stories: list[BriefStory]
    sentences: list[Quote]


class BriefingOut(BaseModel):
    topic: str | None
    since: datetime
    until: datetime
    stories: int
    events: list[BriefEventOut] = Field(description="Most reported first.")


@router.get("/topics", summary="The topics, with how many stories each has")
def list_topics(portal: PortalDep) -> list[TopicSummaryOut]:
    counts = portal.tally().by_topic
    return [TopicSummaryOut(name=name, stories=counts.get(name, 0)) for name in portal.topics()]


@router.get("/tally", summary="Totals")
def get_tally(portal: PortalDep) -> Tally:
    return portal.tally()


@router.get("/stories", summary="Stories, the newest or the hottest first", response_model=Page[StoryOut], responses=describe(400))
def list_stories(
    request: Request,
    portal: PortalDep,
    topic: Filter = None,
    category: Filter = None,
    source: Filter = None,
    site: Filter = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    order: Literal["newest", "hottest"] = "newest",
    limit: Limit = LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Filters are combined with AND. An invalid cursor returns the first page."""
    selection = StoryFilter(topic, category, source, site, since, until, order, cursor, limit)
    page = portal.store.stories(selection)
    return etag_response(request, Page[StoryOut], {"items": page.stories, "next": page.next})


@router.get("/briefing", summary="The main events of a day, in sentences of their articles", responses=describe(404, 429))
def get_briefing(visit: VisitDep, day: date | None = None, topic: Filter = None) -> BriefingOut:
    """The last 24 hours by default. Facts reported the day before are not repeated."""
    now = visit.clock.now
    since, until = day_range(day_of(visit, str(day)), visit.portal.site.zone) if day else (now - DAY, now)
    return BriefingOut.model_validate(as_dict(briefing_of(visit, since, until, topic_of(visit))))


@router.get("/photos", summary="Photo stories, by rank or by time", response_model=Page[PhotoStory])
def list_photo_stories(
    request: Request,
    portal: PortalDep,
    topic: Filter = None,
    category: Filter = None,
    source: Filter = None,
    order: Annotated[WallOrder, Query(description="ranked: by pictures, sites and age.")] = "ranked",
    limit: Limit = LIMIT,
    cursor: Cursor = None,
) -> Response:
    wall = portal.store.galleries.wall(WallFilter(topic, category, source, order, cursor, limit))
    return etag_response(request, Page[PhotoStory], {"items": wall.stories, "next": wall.next})


@router.get("/stories/{id}", summary="A story with all its versions", response_model=StoryDetail, responses=describe(404))
def get_story(request: Request, portal: PortalDep, id: str) -> Response:
    found, text = portal.store.story(id, hidden=may(request, Right.EDIT)), "There is no such story; it may have been folded into another."
    return etag_response(request, StoryDetail, or_404(found, "no-story", text, "Request the article by its id."))


@router.get("/articles/{id}", summary="An article with its text", response_model=ArticleDetail, responses=describe(404))
def get_article(visit: VisitDep, id: str) -> Response:
    return etag_response(visit.request, ArticleDetail, article_of(visit, id))


@router.get("/articles/{id}/revisions", summary="The earlier texts of an article", response_model=Revisions, responses=describe(404))
def list_revisions(visit: VisitDep, id: str) -> Response:
    return etag_response(visit.request, Revisions, {"items": visit.portal.store.revisions(article_of(visit, id).id)})


def article_of(visit: Visit, id: str) -> StoredArticle:
    return or_404(visible(visit, id), "no-article", "There is no such article.")


search_router = APIRouter(tags=["Search"])

LAST = MAX_PAGES * PAGE  # limit of paging through hits; beyond it, narrow the search
MAX_TYPED = 200


class SearchHit(BaseModel):
    id: str
    story_id: str
    url: str
    title: str
    title_html: str = Field(description="Escaped HTML; matches are in <mark>.")
    snippet_html: str
    site: str | None
    published: datetime | None
    score: float
    folded: int = Field(description="Other hits of the same story.")


class SearchResults(BaseModel):
    items: list[SearchHit] = Field(validation_alias="hits")
    next: str | None = None
    total: int
    capped: bool = Field(description="Whether there are more than total.")
    relaxed: bool = Field(description="Nothing contains all the words; these contain some.")
    words: list[str]
    facets: dict[str, dict[str, int]] = Field(description="site, category, topic, day: values with the number of stories.")


def _index(request: Request) -> Index:
    index = Visit(request).portal.index
    if index is None:
        raise ApiError(503, "no-search", "This portal runs without a search index.")
    return index


@search_router.get("/search", summary="Search", response_model=SearchResults, responses=describe(400))
def search_stories(
    request: Request,
    portal: PortalDep,
    q: Annotated[str, Query(max_length=10_000, description='Words, "phrases", -not, field:word, since:2026-03.')],
    topic: Filter = None,
    site: Filter = None,
    category: Filter = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    sort: Literal["relevance", "time"] = "relevance",
    collapse: Annotated[bool, Query(description="One hit per story.")] = True,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> Response:
    offset = (parse_cursor(cursor, int) or (0,))[0]
    require(0 <= offset <= LAST, 400, "invalid-cursor", "This is not a cursor.", "Send `next` of the previous page unchanged.")
    query = Asked(q, topic, site, category, since, until, sort, collapse, offset, limit, Visit(request).clock.zone)
    results = search_index(portal, _index(request), query)
    page, end = SearchResults.model_validate(results, from_attributes=True), offset + limit
    page.next = cursor_of(end) if results.hits and end < min(results.total, LAST) else None
    return etag_response(request, SearchResults, page)


@search_router.get("/search/suggestions", summary="Completions of a query")
def suggest_queries(
    request: Request, q: Annotated[str, Query(max_length=MAX_TYPED)], limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> list[str]:
    return list(_index(request).suggest(q, limit))
