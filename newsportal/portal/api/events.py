"""Events: lists, one event with its timeline, and the edits of editors."""

from datetime import date, datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import AliasPath, AwareDatetime, BaseModel, Field

from newsportal.errors import StoreError
from newsportal.portal.access import EDIT, ApiError, api_error_for, describe
from newsportal.portal.api.articles import Id, Ids
from newsportal.portal.api.paging import Cursor, Limit, Page, etag_response
from newsportal.portal.api.stories import LIMIT, BriefStory, Filter, StoryOut
from newsportal.portal.context import PortalDep, VisitDep
from newsportal.portal.desk.article_changes import editor_arguments
from newsportal.portal.reading.compilations import board_of, boards_of, topic_of
from newsportal.services.boards import board_row, rising_row
from newsportal.services.events import editing
from newsportal.services.events.timeline import view
from newsportal.store.events import Event, ReportingSite

router = APIRouter(tags=["Events"])
Days = Annotated[int, Query(ge=1, le=28)]


class EventOut(BaseModel):
    id: str
    title: str
    stories: int
    sites: int
    first: datetime
    last: datetime
    heat: float = Field(description="Orders events: a report counts half after 12 hours.")
    pinned: datetime | None = Field(description="When an editor pinned it.")


class KeyMoment(BaseModel):
    day: date
    sentence: str
    story: str = Field(validation_alias=AliasPath("story", "id"))
    dated: bool = Field(description="The text names the day; otherwise it is the day of publication.")
    more: int = Field(description="Other stories of the day.")


class MemberOut(BaseModel):
    story: StoryOut
    score: float = Field(description="Similarity with the event; 1 for the first story and those added by an editor.")
    words: list[str] = Field(description="The decisive words.")
    by: str | None = Field(description="The editor who added it.")


class EventDetail(BaseModel):
    event: EventOut
    points: list[KeyMoment] = Field(description="Turning points, earliest first.")
    publishers: list[ReportingSite] = Field(description="Sites that reported, earliest first.")
    members: list[MemberOut] = Field(description="Earliest first.")


class RisingSubject(BaseModel):
    title: str = Field(description="The word, or the title of the event.")
    event: str | None = Field(description="The event, or the one that most stories with the word belong to.")
    related_words: list[str] = Field(description="Words in the same stories.")
    stories: int
    sites: int
    expected: float = Field(description="Expected number of stories, from its past.")
    surprise: float = Field(description="Negative decimal logarithm of the probability of so many stories.")
    days: list[int] = Field(description="Stories per day, earliest first: four weeks, then the days of the board.")
    latest: list[BriefStory]


class BoardOut(BaseModel):
    topic: str | None
    since: datetime
    until: datetime
    stories: int
    past: int = Field(description="Stories of the four weeks before; if fewer than `stories`, or none on most days, the board is empty.")
    events: list[RisingSubject] = Field(description="Most surprising first.")
    words: list[RisingSubject] = Field(description="Most surprising first.")


class RankPoint(BaseModel):
    at: datetime
    rank: int


class ListRank(BaseModel):
    name: str
    rank: int


class RankedEntry(BaseModel):
    rank: int
    title: str
    url: str
    heat: float | None = Field(description="In the unit of the list.")
    since: datetime = Field(description="The first recorded visit with the entry.")
    best: int
    curve: list[RankPoint] = Field(description="Rank at each visit, earliest first.")
    event: str | None
    others: list[ListRank] = Field(description="Other lists with the entry.")
    stories: list[BriefStory] = Field(description="Stories about it.")


class HotListOut(BaseModel):
    key: str
    name: str
    at: datetime | None = Field(description="Its last visit; null before the first.")
    entries: list[RankedEntry]


class EventIn(BaseModel):
    """Fields that are left out keep their values."""

    title: str | None = Field(None, max_length=200, description="Empty: the title of the story that most sites reported.")
    pinned: bool | None = None


class EventEditResult(BaseModel):
    number: int = Field(description="For undoing it.")
    event: str


class EventEditRow(BaseModel):
    number: int
    kind: str
    at: datetime
    by: str
    undone: int | None = Field(description="The edit that undid it.")


@router.get("/events", summary="Events, the weightiest or the newest first", response_model=Page[EventOut])
def list_events(
    request: Request,
    portal: PortalDep,
    topic: Filter = None,
    since: AwareDatetime | None = None,
    order: Literal["hottest", "newest"] = "hottest",
    min_stories: Annotated[int, Field(ge=1, le=1000, description="Minimum number of stories.")] = 2,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
) -> Response:
    found = portal.store.events.list_events(since=since, topic=topic, min_stories=min_stories, order=order, before=cursor, limit=limit)
    return etag_response(request, Page[EventOut], {"items": found.events, "next": found.next})


@router.get("/rising", summary="Rising words and events", responses=describe(400, 404, 429))
def get_rising(visit: VisitDep, topic: Filter = None, days: Days = 1, at: AwareDatetime | None = None) -> BoardOut:
    """`at`: the board at that time, from stories fetched by then."""
    try:
        return BoardOut.model_validate(rising_row(board_of(visit, at or visit.clock.now, days, topic_of(visit))))
    except OverflowError as error:
        raise ApiError(400, "invalid-time", "That time is out of range.", "Choose a later one.") from error


@router.get("/boards", summary="Hot lists, as of their last visits", responses=describe(429))
def list_hot_lists(visit: VisitDep) -> list[HotListOut]:
    return [HotListOut.model_validate(board_row(board)) for board in boards_of(visit)]


@router.get("/events/{id}", summary="An event with its stories and turning points", response_model=EventDetail, responses=describe(404))
def get_event(request: Request, portal: PortalDep, id: str) -> Response:
    page = view(portal.store, _existing(portal, id), portal.site.zone)
    members = [
        {"story": story, "score": placed.score, "words": placed.words, "by": placed.by}
        for story in page.stories
        if (placed := page.placed.get(story.id)) is not None
    ]
    found = {"event": page.event, "points": page.points, "publishers": page.publishers, "members": members}
    return etag_response(request, EventDetail, found)


def _existing(portal: PortalDep, id: str) -> Event:
    event = portal.store.events.event(id)
    if event is None:
        joined = portal.store.events.merged_into(id)
        raise ApiError(404, "no-event", "There is no such event.", f"It was joined with {joined}." if joined else "")
    return event


conflicts = partial(api_error_for, StoreError, status=409, code="conflict", remedy="Read the event again, then send the change again.")
editing_router = APIRouter(tags=["Events"], dependencies=EDIT, responses=describe(404, 409))


@editing_router.get("/events/{id}/edits", summary="Edits of an event, latest first")
def list_edits(portal: PortalDep, id: str) -> list[EventEditRow]:
    _existing(portal, id)
    return [EventEditRow.model_validate(edit, from_attributes=True) for edit in portal.store.events.edits(id)]


@editing_router.patch("/events/{id}", summary="Name or pin an event")
def update_event(visit: VisitDep, id: str, body: EventIn) -> list[EventEditResult]:
    _existing(visit.portal, id)
    numbers = []
    with conflicts():
        if body.title is not None:
            numbers.append(editing.rename(visit.portal.store, id, body.title, **editor_arguments(visit)))
        if body.pinned is not None:
            numbers.append(editing.pin(visit.portal.store, id, body.pinned, **editor_arguments(visit)))
    return [EventEditResult(number=number, event=id) for number in numbers]


class SplitIn(BaseModel):
    stories: Ids


class JoinIn(BaseModel):
    other: Id = Field(description="The event whose stories are moved.")


@editing_router.post("/events/{id}/split", summary="Split stories off into a new event")
def split_event(visit: VisitDep, id: str, body: SplitIn) -> EventEditResult:
    _existing(visit.portal, id)
    with conflicts():
        new, number = editing.split(visit.portal.store, id, body.stories, **editor_arguments(visit))
    return EventEditResult(number=number, event=new)


@editing_router.post("/events/{id}/join", summary="Join another event with this one")
def join_events(visit: VisitDep, id: str, body: JoinIn) -> EventEditResult:
    _existing(visit.portal, id)
    with conflicts():
        return EventEditResult(number=editing.join(visit.portal.store, id, body.other, **editor_arguments(visit)), event=id)


@editing_router.post("/events/edits/{number}/undo", summary="Undo an edit")
def undo_edit(visit: VisitDep, number: int) -> EventEditResult:
    with conflicts():
        return EventEditResult(event=editing.undo(visit.portal.store, number, **editor_arguments(visit)).event_id, number=number)
