"""Runs, and sites that could become sources."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from newsportal.items.report import to_dict
from newsportal.portal.access import needs
from newsportal.portal.api.paging import fill
from newsportal.portal.context import Visit
from newsportal.portal.faults import ApiError, told_of
from newsportal.portal.pages.system import KEPT, chosen, log_file, tail
from newsportal.services.accounts import Right
from newsportal.services.jobs.records import job_of

router = APIRouter(tags=["Operation"], dependencies=[needs(Right.WATCH)])

RUNS = 50

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class RunTold(BaseModel):
    id: str
    started: datetime
    ended: datetime | None
    spiders: list[str]
    stored: int
    folded: int
    failed: int


class LineTold(BaseModel):
    at: datetime | None = Field(description="Null: the line goes on from the one before.")
    level: str
    logger: str
    text: str


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


@router.get("/runs", summary="The latest crawls")
def runs(request: Request, limit: Annotated[int, Query(ge=1, le=RUNS)] = RUNS) -> list[RunTold]:
    found = [(run, run.total) for run in Visit(request).portal.store.runs(limit)]
    return [
        fill(RunTold, run, stored=total.stored, folded=total.folded, failed=total.failures + sum(total.list_failed.values()))
        for run, total in found
    ]


@router.get("/runs/{id}", summary="The report of a crawl, by source", responses=told_of(404))
def run(request: Request, id: str) -> dict[str, Any]:
    found = Visit(request).portal.store.run(id)
    if found is None:
        raise ApiError(404, "no-run", "There is no such run.")
    return to_dict(found)


@router.get("/runs/{id}/log", summary="The end of a crawl's log, the latest line first", responses=told_of(404))
def log(
    request: Request,
    id: str,
    level: Annotated[Level | None, Query(description="At least of this level.")] = None,
    words: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=KEPT)] = 200,
) -> list[LineTold]:
    """Without passwords, tokens and keys. A crawl on another machine keeps its log there."""
    portal = Visit(request).portal
    found = portal.store.run(id)
    if found is None:
        raise ApiError(404, "no-run", "There is no such run.")
    file = log_file(portal, job_of(found))
    try:
        lines = tail(file) if file is not None else None
    except OSError:
        lines = None
    if lines is None:
        raise ApiError(404, "no-log", "This run has no log here, or none any more.")
    return [fill(LineTold, line, logger=line.from_) for line in chosen(lines, level, words, limit)]


@router.get("/suggestions", summary="Sites that could become sources")
def suggestions(request: Request) -> list[SuggestionTold]:
    found = request.app.state.suggesting.suggestions()
    return [fill(SuggestionTold, one) for one in found]
