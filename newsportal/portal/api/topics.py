"""Topics: their settings, a preview of what their words find, and the assignment of stored articles."""

from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request
from pydantic import AliasPath, BaseModel, BeforeValidator, Field

from newsportal.classify.topics import make_rule
from newsportal.portal.access import EDIT, ApiError, describe, log_change, or_404, require
from newsportal.portal.api.paging import change_sources
from newsportal.portal.context import PortalDep
from newsportal.portal.desk.jobs import assign_command, begin_job, jobs_of
from newsportal.portal.desk.sources_yaml import config_of
from newsportal.portal.desk.topics import rename_articles
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.local import Busy
from newsportal.services.topics import DAYS, Draft, Preview, drop_topic, preview, put_topic, reorder_topic
from newsportal.sources import Sources, Topic, digest, load

router = APIRouter(tags=["Topics"], dependencies=EDIT)

MAX_WORDS = 500
Words = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=MAX_WORDS)]


class TopicIn(BaseModel):
    name: str = Field(max_length=100)
    any: Words = Field([], description="Words, one of which must occur; default: the topic's name.")
    must: Words = Field([], description="Words that must all occur.")
    never: Words = Field([], description="Words that must not occur.")
    query: Words = Field([], description="Queries for engines; default: the topic's name.")
    engines: Words = Field([], description="Search engines to query.")
    pages: int | None = Field(None, description="Result pages per engine engine; null: unchanged, or as the schedule learned.")
    enabled: bool = True
    auto_classify: bool = False

    def draft(self) -> Draft:
        return Draft(
            self.name.strip(), tuple(self.must), tuple(self.any), tuple(self.never), tuple(self.query), tuple(self.engines),
            None if self.pages is None else str(self.pages), False, self.enabled, self.auto_classify,
        )  # fmt: skip


class TopicOut(TopicIn):
    digest: str = Field(description="Digest of sources.yaml; sent with a change, it detects changes by others.")


class TopicPreviewIn(BaseModel):
    name: str | None = Field(None, description="Name of the topic in the store; null for a new one.", max_length=100)
    any: Words = []
    must: Words = []
    never: Words = []
    days: int = Field(DAYS, ge=1, le=365)


class PreviewStory(BaseModel):
    id: str = Field(validation_alias=AliasPath("article", "id"))
    story: str = Field(validation_alias=AliasPath("article", "story_id"))
    title: str = Field(validation_alias=AliasPath("article", "title"))
    moment: datetime = Field(validation_alias=AliasPath("article", "moment"))
    words: list[str]
    in_topic: bool = Field(description="Whether it is in the topic already.")


class TopicPreview(BaseModel):
    stories: int
    added: int
    capped: bool = Field(description="There may be more: a word is in more articles than are searched.")
    newest: list[PreviewStory]
    removed: list[Annotated[str, BeforeValidator(attrgetter("id"))]] = Field(
        description="Articles that the topic's former words found and these do not."
    )


class TopicAssignmentIn(BaseModel):
    topic: str | None = Field(None, description="Null: all enabled topics.", max_length=100)
    deleted: str | None = Field(None, description="A topic no longer in sources.yaml: its articles lose it.", max_length=100)
    days: int = Field(30, ge=1, le=36_500)


class JobOut(BaseModel):
    id: str
    kind: str
    subject: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "lost"]
    progress: float
    failure: Annotated[str | None, BeforeValidator(lambda error: error["text"] if error else None)] = Field(validation_alias="error")
    started: datetime | None = None
    ended: datetime | None = None
    outcome: list[dict[str, Any]] = Field(default=[], description="Its result: of a crawl the totals, else the rows of the command.")


@router.get("/topics/settings", summary="The topics in sources.yaml")
def list_topic_settings(request: Request) -> list[TopicOut]:
    stamp, sources = _read_sources(request)
    return [_topic_out(topic, stamp) for topic in sources.topics]


@router.post("/topics/preview", summary="Preview of what a topic's words find in recent stories", response_model=TopicPreview)
def preview_topic(portal: PortalDep, body: TopicPreviewIn) -> Preview:
    topic_rule = make_rule(body.name or "", body.must, body.any, body.never)
    return preview(portal.store, portal.index, topic_rule, topic=body.name, now=portal.now(), days=body.days)


@router.put("/topics/settings/{name}", summary="Add or change a topic", responses=describe(404, 409))
def save_topic(request: Request, portal: PortalDep, name: str, topic: TopicIn, digest: str | None = None) -> TopicOut:
    """``name`` is the current name; a new topic has the same name in both places."""
    after, exists = topic.name.strip(), _read_sources(request)[1].topic(name) is not None
    require(exists or after == name, 404, "no-topic", f"sources.yaml has no topic {name!r}.")
    before, action = (name, "topic.change") if exists else (None, "topic.add")
    change_sources(request, put_topic(topic.draft(), before), action, after, {"before": before, "any": topic.any}, digest)
    if after != name:
        rename_articles(portal, name, after)
    stamp, sources = _read_sources(request)
    return _topic_out(or_404(sources.topic(after)), stamp)


@router.post("/topics/settings/{name}/move", summary="Move a topic in the order of sources.yaml", responses=describe(404, 409))
def move_topic(request: Request, name: str, direction: Annotated[Literal["up", "down"], Body(embed=True)]) -> list[str]:
    """Returns the names in their order."""
    _check_topic(request, name)
    change_sources(request, reorder_topic(name, -1 if direction == "up" else 1), "topic.move", name, {})
    return [topic.name for topic in _read_sources(request)[1].topics]


@router.delete("/topics/settings/{name}", summary="Delete a topic", status_code=204, responses=describe(404, 409))
def delete_topic(request: Request, name: str, digest: str | None = None) -> None:
    _check_topic(request, name)
    change_sources(request, drop_topic(name), "topic.delete", name, {}, digest)


@router.post(
    "/topics/assign", summary="Reassign stored articles to topics", status_code=202, response_model=JobOut, responses=describe(404, 409)
)
def assign_articles(request: Request, body: TopicAssignmentIn) -> Job:
    if body.topic is not None:
        _check_topic(request, body.topic)
    return begin_api_job(request, "assign", body.topic or body.deleted or "", assign_command(str(body.days), body.topic, body.deleted))


@router.get("/jobs/{id}", summary="A job with its progress", response_model=JobOut, responses=describe(404))
def get_job(request: Request, id: str) -> Job:
    return or_404(jobs_of(request).runner.get(id), "no-job", "There is no such job, or its record was deleted.")


@router.delete("/jobs/{id}", summary="End a job", status_code=204, responses=describe(404))
def cancel_job(request: Request, id: str) -> None:
    require(jobs_of(request).runner.cancel(id), 404, "no-job", "There is no such job, or it has ended.")
    log_change(request, "job.cancel", id)


def begin_api_job(request: Request, kind: str, thing: str, words: list[str]) -> Job:
    _read_sources(request)
    try:
        return begin_job(request, kind, thing, words)
    except Busy as error:
        raise ApiError(409, "busy", "Another job is running; one runs at a time.", f"Wait, or cancel it: {error.running.id}") from error


def _read_sources(request: Request) -> tuple[str, Sources]:
    path = or_404(config_of(request).path, "no-file", "This portal was started without a sources.yaml.")
    return digest(path), load(path)


def _check_topic(request: Request, name: str) -> None:
    or_404(_read_sources(request)[1].topic(name), "no-topic", f"sources.yaml has no topic {name!r}.")


def _topic_out(topic: Topic, stamp: str) -> TopicOut:
    words, pages = topic.keywords, set(topic.breadth.by_hour)
    return TopicOut(
        name=topic.name, any=list(words.any), must=list(words.must), never=list(words.not_), query=list(topic.query),
        engines=list(topic.engines), pages=next(iter(pages)) if len(pages) == 1 else None, enabled=topic.enabled,
        auto_classify=topic.auto_classify, digest=stamp,
    )  # fmt: skip
