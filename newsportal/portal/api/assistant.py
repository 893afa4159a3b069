"""Texts that the assistant writes about an article or an event, if ``sources.yaml`` configures one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from newsportal.portal.access import KEEP, api_error_for, describe, or_404
from newsportal.portal.api.stories import article_of
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.reading.assistant import article_tasks, ask, event_tasks, visible_event
from newsportal.services.assistant import EVENT_STORIES, AssistantError, Purpose, Task
from newsportal.services.events.timeline import view

router = APIRouter(tags=["Assistant"], dependencies=KEEP, responses=describe(404, 429, 503))


class AssistantIn(BaseModel):
    purpose: Purpose = Field(description="Articles: `summary`, `translation`. Events: `summary`, and `title` for editors.")
    language: Literal["zh", "en"] = "zh"


class AssistantAnswer(BaseModel):
    purpose: Purpose
    text: str = Field(description="Generated, and not checked by anyone.")
    model: str
    at: datetime
    sources: list[str] = Field(description="URLs of the articles it is based on.")


@router.post("/articles/{id}/assistant", summary="Summarise or translate an article")
def ask_about_article(visit: VisitDep, id: str, body: AssistantIn) -> AssistantAnswer:
    article = article_of(visit, id)
    return _answer(visit, article_tasks(visit, article, body.language), body, id, [article.url])


@router.post("/events/{id}/assistant", summary="Summarise or name an event")
def ask_about_event(visit: VisitDep, id: str, body: AssistantIn) -> AssistantAnswer:
    event = or_404(visible_event(visit, id), "no-event", "There is no such event.")
    page = view(visit.portal.store, event, visit.portal.site.zone)
    return _answer(visit, event_tasks(visit, page, body.language), body, id, [article.url for article in page.articles[-EVENT_STORIES:]])


def _answer(visit: Visit, tasks: Sequence[Task], body: AssistantIn, thing: str, sources: list[str]) -> AssistantAnswer:
    """An existing answer is returned again."""
    with api_error_for(AssistantError, status=503, code="assistant"):
        answer = ask(visit, tasks, body.purpose, thing)
    return AssistantAnswer(purpose=body.purpose, text=answer.text, model=answer.model, at=answer.at, sources=sources)
