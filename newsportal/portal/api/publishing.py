"""What is published elsewhere: the queue, trying again, publishing anew, taking back, dry runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, Field

from newsportal.portal.access import log, needs
from newsportal.portal.api.paging import Limit, fill
from newsportal.portal.api_errors import ApiError, describe
from newsportal.portal.context import Visit
from newsportal.services.accounts import Right
from newsportal.services.publishing.base import TargetAway, TargetUnfit, UnknownTarget
from newsportal.services.publishing.dry_run import try_target
from newsportal.services.publishing.targets import ask_for
from newsportal.store.outbox import STATES, State

router = APIRouter(tags=["Publishing"], dependencies=[needs(Right.WATCH)])

EDIT = [needs(Right.EDIT)]


class EntryOut(BaseModel):
    target: str
    article: str
    state: State
    wanted: Literal["there", "gone"]
    changed: datetime
    due: datetime
    tries: int
    place: str | None
    reason: str | None


class AgainIn(BaseModel):
    target: str | None = Field(None, max_length=300, description="Null: all.")
    articles: list[str] | None = Field(None, max_length=1000, description="Null: all that failed.")


class AskIn(BaseModel):
    target: str = Field(max_length=300)
    article: str = Field(max_length=40)
    wanted: Literal["there", "gone"]


class StepOut(BaseModel):
    what: str
    values: dict[str, Any]


class TriedOut(BaseModel):
    article: str
    steps: list[StepOut]
    refused: str | None = Field(description="Why the target would not take it.")


class AgainOut(BaseModel):
    articles: int = Field(description="How many wait anew.")


@router.get("/publishing/counts", summary="How many articles are in which state at each target")
def counts(request: Request) -> Mapping[str, Mapping[State, int]]:
    return {target: dict(found) for target, found in Visit(request).portal.store.outbox.counts().items()}


@router.get("/publishing/entries", summary="Articles at targets, those that changed last first")
def entries(
    request: Request,
    target: Annotated[str | None, Query(max_length=300)] = None,
    state: Annotated[State | None, Query()] = None,
    article: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = 50,
) -> list[EntryOut]:
    found = Visit(request).portal.store.outbox.entries(target, states=(state,) if state else STATES, article_id=article, limit=limit)
    return [fill(EntryOut, one, article=one.article_id) for one in found]


@router.post("/publishing/again", summary="Try again what failed", dependencies=EDIT)
def again(request: Request, sent: AgainIn) -> AgainOut:
    portal = Visit(request).portal
    number = portal.store.outbox.again(sent.target, sent.articles, now=portal.now())
    log(request, "publishing.again", "", {"target": sent.target, "articles": number})
    return AgainOut(articles=number)


@router.post("/publishing/ask", summary="Publish an article anew, or take it back", dependencies=EDIT, responses=describe(404))
def ask(request: Request, sent: AskIn) -> EntryOut:
    """The next publisher does it."""
    portal = Visit(request).portal
    try:
        ask_for(portal.store, portal.site.publishes, sent.target, sent.article, sent.wanted, portal.now())
    except UnknownTarget as error:
        raise HTTPException(404) from error
    log(request, "publishing.ask", sent.article, {"target": sent.target, "wanted": sent.wanted})
    return entries(request, sent.target, None, sent.article, 1)[0]


@router.get("/publishing/trial", summary="What a target would do; nothing is done", dependencies=EDIT, responses=describe(404, 409))
def trial(
    request: Request,
    target: Annotated[str, Query(max_length=300)],
    article: Annotated[str | None, Query(max_length=40, description="None: what waits.")] = None,
) -> list[TriedOut]:
    portal = Visit(request).portal
    try:
        with closing(try_target(portal.store, portal.config, target, article, portal.now)) as found:
            return [
                TriedOut(
                    article=one.entry.article_id,
                    steps=[StepOut(what=step.what, values={name: str(value) for name, value in step.values.items()}) for step in one.steps],
                    refused=one.refused,
                )
                for one in found
            ]
    except UnknownTarget as error:
        raise HTTPException(404) from error
    except (TargetAway, TargetUnfit) as error:
        raise ApiError(409, "target-unfit", str(error), "Mend it, then try again; what is new waits.") from error
