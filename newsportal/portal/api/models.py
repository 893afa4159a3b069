"""Corpora and their models: import and export of texts, training in a job, figures, errors, words, and the version in use."""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AliasPath, BaseModel, Field
from starlette.concurrency import run_in_threadpool

from newsportal.classify.base import DEFAULT, Reason
from newsportal.errors import CorpusError, ModelError, StoreError
from newsportal.portal.access import EDIT, ApiError, api_error_for, describe, identity_of, log_change, require
from newsportal.portal.api.paging import Limit, fill
from newsportal.portal.api.topics import JobOut, begin_api_job
from newsportal.portal.context import PortalDep, Visit
from newsportal.portal.desk.corpora import TRAINED, corpus_of, json_lines, model_of
from newsportal.portal.desk.jobs import jobs_of
from newsportal.services.jobs.base import Job
from newsportal.services.learning.evaluation import Mistakes, activate_version, load_classifier, mistakes, words_for
from newsportal.services.learning.files import find_mistakes as bad_lines
from newsportal.services.learning.files import is_empty, read_stream
from newsportal.services.learning.gathering import label_document
from newsportal.store.columns import NAME_CHARS
from newsportal.store.labels import CATEGORIES, Corpus, ImportResult, LabelStatistics
from newsportal.store.models import Model

router = APIRouter(tags=["Models"], dependencies=EDIT)


class MistakeOut(BaseModel):
    document: str = Field(validation_alias=AliasPath("document", "id"))
    article: str | None = Field(
        description="Id of the stored article; null: imported from a file.", validation_alias=AliasPath("document", "article_id")
    )
    story: str | None = Field(validation_alias=AliasPath("document", "story_id"))
    title: str = Field(validation_alias=AliasPath("document", "title"))
    true: str | None = Field(validation_alias=AliasPath("document", "label", "label"))
    predicted: str | None = Field(description="Null: none of the labels.")
    score: float
    words: list[Reason] = Field(description="The decisive words.")


class MistakesOut(BaseModel):
    evaluated: int = Field(description="Held-out documents that were classified.")
    wrong: int
    documents: list[MistakeOut]


@router.get("/jobs", summary="The jobs, the newest first", response_model=list[JobOut])
def list_jobs(request: Request) -> Sequence[Job]:
    """The recorded jobs of this machine, whoever started them: crawls, training, nightly maintenance."""
    return jobs_of(request).all()


@router.post(
    "/models/retrain", summary="Retrain all models with enough new texts, in a job", status_code=202, response_model=JobOut,
    responses=describe(409),
)  # fmt: skip
def retrain_all(request: Request) -> Job:
    """As `newsportal up` does after enough new articles. A version that is worse than the one in use is kept, but not used."""
    return begin_api_job(request, "retrain", "", ["retrain", "--force", "--json"])


@router.post("/corpora/gather", summary="Add stored articles in a job", status_code=202, response_model=JobOut, responses=describe(409))
def gather_documents(request: Request) -> Job:
    """Articles of sources with a category, and those corrected by an editor, are added to the corpus of categories."""
    return begin_api_job(request, "gather", CATEGORIES, ["corpus", "from-store", CATEGORIES, "--json"])


@router.get("/corpora/{name}/labels", summary="The labels of a corpus, the largest first", responses=describe(404))
def list_labels(portal: PortalDep, name: str) -> list[LabelStatistics]:
    with api_error_for(StoreError, status=404, code="no-corpus"):
        return portal.store.corpora.count(name)


@router.get(
    "/models/{corpus}/{version}/mistakes", summary="Errors of a version on held-out documents", response_model=MistakesOut,
    responses=describe(404, 409),
)  # fmt: skip
def list_mistakes(
    request: Request,
    portal: PortalDep,
    corpus: str,
    version: int,
    true: Annotated[str | None, Query(max_length=255, description="Only documents of this label.")] = None,
    predicted: Annotated[str | None, Query(max_length=255, description="Only documents classified as this label; empty: as none.")] = None,
    limit: Limit = 50,
) -> Mistakes:
    """The documents behind a cell of the confusion matrix. 409: only the figures of this version are kept."""
    model_of(request, corpus, version)
    with api_error_for(StoreError, ModelError, status=409, code="model-deleted"):
        return mistakes(portal.store, corpus, version, label=true, predicted=predicted, limit=limit)


@router.get("/models/{corpus}/{version}/words", summary="The words with most weight for a label", responses=describe(404, 409))
def list_words(
    request: Request, portal: PortalDep, corpus: str, version: int, label: Annotated[str, Query(max_length=255)], limit: Limit = 30
) -> Sequence[Reason]:  # fmt: skip
    store, model = portal.store, model_of(request, corpus, version)
    require(label in model.facts.get("labels", ()), 404, "no-label", f"Version {version} does not know the label {label!r}.")
    with api_error_for(StoreError, ModelError, status=409, code="model-deleted"):
        classifier = load_classifier(store, corpus, version)
    return words_for(store, corpus, classifier, label, limit)


class LabelIn(BaseModel):
    label: str | None = Field(description="Null: excluded from training for ever.", max_length=NAME_CHARS)


class ModelOut(BaseModel):
    corpus: str
    version: int
    algorithm: str
    created: datetime
    active: bool
    stored: bool = Field(description="Whether the model is stored; of older versions only the figures are.")
    documents: int
    held_out: int
    report: dict[str, Any] | None = Field(description="Figures on the held-out documents: labels, confusion, calibration.")


class TrainIn(BaseModel):
    algorithm: str = Field(DEFAULT, description=f"One of: {', '.join(TRAINED)}.")


@router.get("/corpora", summary="The corpora")
def list_corpora(portal: PortalDep) -> list[Corpus]:
    return portal.store.corpora.all()


@router.post("/corpora/{name}/documents", summary="Import labelled texts as JSON lines", responses=describe(413, 422))
async def import_documents(request: Request, name: str) -> ImportResult:
    """The body has a document per line: text and label, optionally title and id. Either all are imported or none."""
    body = await request.body()
    return await run_in_threadpool(_import_documents, request, name, body)


def _import_documents(request: Request, name: str, body: bytes) -> ImportResult:
    require(len(name) <= NAME_CHARS, 422, "not-valid", f"A name has at most {NAME_CHARS} characters.")
    if errors := bad_lines(BytesIO(body), "jsonl", "body"):
        raise ApiError(422, "not-valid", "; ".join(str(error.message) for error in errors), "Fix these lines; nothing was imported.")
    portal, user = Visit(request).portal, identity_of(request)
    documents = (document for document in read_stream(BytesIO(body), "jsonl", "body") if not is_empty(document))
    with api_error_for(CorpusError, status=422, code="not-valid"):
        result = portal.store.corpora.add(name, documents, source="imported", by=user.person.name if user else None, now=portal.now())
    log_change(request, "corpus.upload", name, {"added": result.added, "relabelled": result.relabelled})
    return result


@router.get("/corpora/{name}/documents", summary="A corpus as JSON lines", responses=describe(404), response_class=StreamingResponse)
def export_documents(request: Request, portal: PortalDep, name: str) -> StreamingResponse:
    corpus_of(request, name)
    return StreamingResponse(json_lines(portal.store, name), media_type="application/x-ndjson")


@router.put("/corpora/{name}/documents/{id}/label", summary="Change the label of a document", status_code=204, responses=describe(404))
def set_label(request: Request, name: str, id: str, body: LabelIn) -> None:
    """The label is final, like an editor's. In the corpus of categories it also changes the article's category."""
    corpus_of(request, name)
    portal, user = Visit(request).portal, identity_of(request)
    label = (body.label or "").strip() or None
    with api_error_for(StoreError, status=404, code="no-document"):
        label_document(portal.store, name, id, label, by=user.person.name if user else None, now=portal.now())
    log_change(request, "corpus.label", name, {"document": id, "label": label})


@router.delete("/corpora/{name}", summary="Delete a corpus with its models", status_code=204, responses=describe(404))
def delete_corpus(request: Request, portal: PortalDep, name: str) -> None:
    corpus = corpus_of(request, name)
    portal.store.corpora.delete(name)
    log_change(request, "corpus.delete", name, {"documents": corpus.documents, "versions": corpus.versions})


@router.get("/models/{corpus}", summary="The versions of a corpus' model, the newest first", responses=describe(404))
def list_versions(request: Request, portal: PortalDep, corpus: str) -> list[ModelOut]:
    corpus_of(request, corpus)
    return [_model_out(model) for model in portal.store.corpora.models(corpus)]


@router.post(
    "/models/{corpus}/train", summary="Train a new version in a job", status_code=202, response_model=JobOut, responses=describe(404, 409)
)
def train_model(request: Request, corpus: str, body: TrainIn) -> Job:
    corpus_of(request, corpus)
    if body.algorithm not in TRAINED:
        raise ApiError(422, "not-valid", f"There is no trainable classifier {body.algorithm!r}.", f"Take one of: {', '.join(TRAINED)}.")
    return begin_api_job(request, "train", corpus, ["train", "--corpus", corpus, "--algorithm", body.algorithm, "--json"])


@router.post("/models/{corpus}/{version}/use", summary="Use a version", status_code=204, responses=describe(404))
def use_version(request: Request, portal: PortalDep, corpus: str, version: int) -> None:
    corpus_of(request, corpus)
    with api_error_for(StoreError, ModelError, status=404, code="no-model"):
        activate_version(portal.store, corpus, version, portal.now())
    log_change(request, "model.use", corpus, {"version": version})


@router.delete("/models/{corpus}/{version}", summary="Delete a version with its figures", status_code=204, responses=describe(404, 409))
def delete_version(request: Request, portal: PortalDep, corpus: str, version: int) -> None:
    """It cannot be restored, and its number is not used again. 409: it is in use; put another one to use first."""
    corpus_of(request, corpus)
    require(not model_of(request, corpus, version).active, 409, "in-use", f"Version {version} is in use.", "Put another one to use first.")
    with api_error_for(StoreError, status=404, code="no-model"):
        portal.store.corpora.delete_model(corpus, version)
    log_change(request, "model.delete", corpus, {"version": version})


@router.post("/models/{corpus}/back", summary="Return to the version that was used before", responses=describe(404, 409))
def roll_back_version(request: Request, portal: PortalDep, corpus: str) -> ModelOut:
    corpus_of(request, corpus)
    with api_error_for(StoreError, status=409, code="no-previous-version"):
        version = portal.store.corpora.rollback(corpus, now=portal.now())
    log_change(request, "model.back", corpus, {"version": version})
    return _model_out(portal.store.corpora.model(corpus, version))


def _model_out(model: Model) -> ModelOut:
    facts = model.facts
    documents, held_out = int(facts.get("documents", 0)), int(facts.get("held_out", len(model.held_out)))
    return fill(ModelOut, model, stored=model.size > 0, documents=documents, held_out=held_out, report=facts.get("report"))
