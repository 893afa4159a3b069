"""Publishing to other systems: the queue, retries, publishing again, withdrawal, dry runs."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AliasPath, BaseModel, BeforeValidator, Field

from newsportal.portal.access import EDIT, WATCH, api_error_for, describe, log_change
from newsportal.portal.api.paging import Limit
from newsportal.portal.context import PortalDep
from newsportal.services.publishing.base import BadTarget, TargetDown
from newsportal.services.publishing.dry_run import Outcome, try_target
from newsportal.services.publishing.targets import request_publication
from newsportal.store.outbox import STATES, Action, OutboxEntry, State

router = APIRouter(tags=["Publishing"], dependencies=WATCH)


class OutboxEntryOut(BaseModel):
    target: str
    article: str = Field(validation_alias="article_id")
    state: State
    action: Action
    changed: datetime
    due: datetime
    tries: int
    location: str | None
    reason: str | None


class RetryIn(BaseModel):
    target: str | None = Field(None, max_length=300, description="Null: all.")
    articles: list[str] | None = Field(None, max_length=1000, description="Null: all that failed.")


class PublishRequestIn(BaseModel):
    target: str = Field(max_length=300)
    article: str = Field(max_length=40)
    action: Action


class DryRunStep(BaseModel):
    operation: str
    values: dict[str, Annotated[Any, BeforeValidator(str)]]


class DryRunResult(BaseModel):
    article: str = Field(validation_alias=AliasPath("entry", "article_id"))
    steps: list[DryRunStep]
    refused: str | None = Field(description="Why the target would refuse it.")


class RetryOut(BaseModel):
    articles: int = Field(description="Number of articles waiting again.")


@router.get("/publishing/counts", summary="Number of articles by target and state")
def get_publishing_counts(portal: PortalDep) -> Mapping[str, Mapping[State, int]]:
    return {target: dict(counts) for target, counts in portal.store.outbox.counts().items()}


@router.get("/publishing/entries", summary="Articles at targets, the last changed first", response_model=list[OutboxEntryOut])
def list_entries(
    portal: PortalDep,
    target: Annotated[str | None, Query(max_length=300)] = None,
    state: Annotated[State | None, Query()] = None,
    article: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = 50,
) -> Sequence[OutboxEntry]:
    return portal.store.outbox.entries(target, states=(state,) if state else STATES, article_id=article, limit=limit)


@router.post("/publishing/again", summary="Retry failed articles", dependencies=EDIT)
def retry_articles(request: Request, portal: PortalDep, body: RetryIn) -> RetryOut:
    number = portal.store.outbox.retry(body.target, body.articles, now=portal.now())
    log_change(request, "publishing.again", "", {"target": body.target, "articles": number})
    return RetryOut(articles=number)


@router.post(
    "/publishing/ask", summary="Publish an article again, or withdraw it", dependencies=EDIT, response_model=OutboxEntryOut,
    responses=describe(404),
)  # fmt: skip
def publish_or_withdraw(request: Request, portal: PortalDep, body: PublishRequestIn) -> OutboxEntry:
    """The next publisher run does it."""
    request_publication(portal.store, portal.site.publishes, body.target, body.article, body.action, portal.now())
    log_change(request, "publishing.ask", body.article, {"target": body.target, "action": body.action})
    return list_entries(portal, body.target, None, body.article, 1)[0]


@router.get(
    "/publishing/trial", summary="Dry run of a target", dependencies=EDIT, response_model=list[DryRunResult],
    responses=describe(404, 409),
)  # fmt: skip
def try_publishing(
    portal: PortalDep,
    target: Annotated[str, Query(max_length=300)],
    article: Annotated[str | None, Query(max_length=40, description="Omitted: the waiting articles.")] = None,
) -> list[Outcome]:
    unfit = api_error_for(TargetDown, BadTarget, status=409, code="target-unfit", remedy="Fix it, then try again; new articles wait.")
    with unfit, closing(try_target(portal.store, portal.config, target, article, portal.now)) as steps:
        return list(steps)
