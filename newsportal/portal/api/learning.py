"""What corpora and models are told of beyond their lists: labels, mistakes, words; and the work that is done in jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from newsportal.accounts import Right
from newsportal.errors import ModelError, StoreError
from newsportal.learning.evaluation import mistakes, opened, words_for
from newsportal.portal.access import needs
from newsportal.portal.api.faults import ApiError, told_of
from newsportal.portal.api.paging import Limit, fill
from newsportal.portal.api.topics import JobOut, begun, job_out
from newsportal.portal.context import Visit
from newsportal.portal.pages.jobs import jobs_of
from newsportal.store.labels import CATEGORIES, LabelSource

router = APIRouter(tags=["Models"], dependencies=[needs(Right.EDIT)])


class CountedOut(BaseModel):
    label: str
    documents: int
    sources: dict[LabelSource, int] = Field(description="How many of them came from where.")
    oldest: datetime
    newest: datetime


class WordOut(BaseModel):
    word: str
    weight: float


class MistakeOut(BaseModel):
    document: str
    article: str | None = Field(description="The stored article that it is; null: it came with a file.")
    story: str | None
    title: str
    true: str | None
    given: str | None = Field(description="Null: none of the labels.")
    score: float
    words: list[WordOut] = Field(description="Those that decided.")


class MistakesOut(BaseModel):
    looked: int = Field(description="Documents held back that were asked about.")
    wrong: int
    shown: list[MistakeOut]


@router.get("/jobs", summary="The jobs, the newest first")
def jobs(request: Request) -> list[JobOut]:
    """Those of this machine that are recorded, whoever started them: crawls, training, the work of the night."""
    return [job_out(one) for one in jobs_of(request).all()]


@router.post("/models/retrain", summary="Train all models that are worth it in a job", status_code=202, responses=told_of(409))
def retrained(request: Request) -> JobOut:
    """As `newsportal up` does after enough new articles. A version that is worse than the one in use is kept, but not used."""
    return begun(request, "retrain", "", ["retrain", "--force", "--json"])


@router.post("/corpora/gather", summary="Gather stored articles in a job", status_code=202, responses=told_of(409))
def gathered(request: Request) -> JobOut:
    """Articles of sources with a category, and those that an editor corrected, join the corpus of categories."""
    return begun(request, "gather", CATEGORIES, ["corpus", "from-store", CATEGORIES, "--json"])


@router.get("/corpora/{name}/labels", summary="The labels of a corpus, the largest first", responses=told_of(404))
def labels(request: Request, name: str) -> list[CountedOut]:
    try:
        found = Visit(request).portal.store.corpora.count(name)
    except StoreError as error:
        raise ApiError(404, "no-corpus", str(error)) from error
    return [fill(CountedOut, one) for one in found]


@router.get("/models/{corpus}/{version}/mistakes", summary="Where a version errs on what was held back", responses=told_of(404, 409))
def wrong(
    request: Request,
    corpus: str,
    version: int,
    true: Annotated[str | None, Query(max_length=255, description="Only documents of this label.")] = None,
    given: Annotated[str | None, Query(max_length=255, description="Only those taken for this label; empty: for none.")] = None,
    limit: Limit = 50,
) -> MistakesOut:
    """What stands behind a cell of the table of confusion. 409: of this version the figures alone are kept."""
    try:
        Visit(request).portal.store.corpora.model(corpus, version)
    except StoreError as error:
        raise ApiError(404, "no-model", str(error)) from error
    try:
        seen = mistakes(Visit(request).portal.store, corpus, version, true=true, given=given, limit=limit)
    except (StoreError, ModelError) as error:
        raise ApiError(409, "let-go", str(error)) from error
    shown = [
        fill(
            MistakeOut, one, document=one.document.id, article=one.document.article_id, story=one.document.story_id,
            title=one.document.title, true=one.document.label.label, words=[fill(WordOut, reason) for reason in one.words],
        )
        for one in seen.shown
    ]  # fmt: skip
    return MistakesOut(looked=seen.looked, wrong=seen.wrong, shown=shown)


@router.get("/models/{corpus}/{version}/words", summary="The words that speak for a label", responses=told_of(404, 409))
def words(
    request: Request, corpus: str, version: int, label: Annotated[str, Query(max_length=255)], limit: Limit = 30
) -> list[WordOut]:  # fmt: skip
    store = Visit(request).portal.store
    try:
        found = store.corpora.model(corpus, version)
    except StoreError as error:
        raise ApiError(404, "no-model", str(error)) from error
    if label not in found.facts.get("labels", ()):
        raise ApiError(404, "no-label", f"Version {version} does not know the label {label!r}.")
    try:
        known = opened(store, corpus, version)
    except (StoreError, ModelError) as error:
        raise ApiError(409, "let-go", str(error)) from error
    return [fill(WordOut, one) for one in words_for(store, corpus, known, label, limit)]
