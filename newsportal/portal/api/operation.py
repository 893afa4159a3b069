"""Runs, and sites that could become sources."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from newsportal.accounts import Right
from newsportal.portal.access import needs
from newsportal.portal.api.faults import ApiError, told_of
from newsportal.portal.context import Visit
from newsportal.report import Run, to_dict

router = APIRouter(tags=["Operation"], dependencies=[needs(Right.WATCH)])

RUNS = 50


class RunTold(BaseModel):
    id: str
    started: datetime
    ended: datetime | None
    spiders: list[str]
    stored: int
    folded: int
    failed: int


class SuggestionTold(BaseModel):
    site: str
    score: float
    linked: int = Field(description="Articles that link there.")
    sites: int = Field(description="From so many other sites.")
    reposted: int
    found: int = Field(description="Of its articles that search engines brought.")
    topics: list[str]
    url: str | None
    title: str | None
    name: str | None


def run_told(run: Run) -> RunTold:
    total = run.total
    failed = total.failures + sum(total.list_failed.values())
    return RunTold(
        id=run.id,
        started=run.started,
        ended=run.ended,
        spiders=list(run.spiders),
        stored=total.stored,
        folded=total.folded,
        failed=failed,
    )


@router.get("/runs", summary="The latest crawls")
def runs(request: Request, limit: Annotated[int, Query(ge=1, le=RUNS)] = RUNS) -> list[RunTold]:
    return [run_told(run) for run in Visit(request).portal.store.runs(limit)]


@router.get("/runs/{id}", summary="The report of a crawl, by source", responses=told_of(404))
def run(request: Request, id: str) -> dict[str, Any]:
    found = Visit(request).portal.store.run(id)
    if found is None:
        raise ApiError(404, "no-run", "There is no such run.")
    return to_dict(found)


@router.get("/suggestions", summary="Sites that could become sources")
def suggestions(request: Request) -> list[SuggestionTold]:
    found = request.app.state.suggesting.suggestions()
    return [SuggestionTold.model_validate({name: getattr(one, name) for name in SuggestionTold.model_fields}) for one in found]
