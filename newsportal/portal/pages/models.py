"""``/models``: what classifiers were trained on which corpus, how good each version is, where it errs, which one is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.accounts import Right
from newsportal.classify.base import CLASSIFIERS, DEFAULT
from newsportal.classify.measure import Report, matrix
from newsportal.errors import ModelError, StoreError
from newsportal.learning.evaluation import mistakes, opened, put_to_use, words_for
from newsportal.portal.access import log, needs
from newsportal.portal.context import Visit
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.pages.jobs import jobs_of, start_job
from newsportal.portal.render import render
from newsportal.portal.source_file import Fields, one
from newsportal.store.models import Model

router = APIRouter(dependencies=[needs(Right.EDIT)])

SHADES: Final = 5
"""Steps of a cell's shade: the share of its row."""

TRAINED: Final = tuple(name for name in CLASSIFIERS if name != "lexicon")
"""Algorithms that learn; the lexicon is written by hand."""


@router.get("/models")
def models(request: Request) -> Response:
    visit = Visit(request)
    store = visit.portal.store.corpora
    rows = [(corpus, store.model(corpus.name) if corpus.active is not None else None) for corpus in store.all()]
    job = jobs_of(request).latest(("train", "retrain"))
    return render(request, "models.html", rows=rows, job=job, changes=visit.portal.known is not None)


@router.post("/models/retrain")
def retrain(request: Request) -> Response:
    """All models that are worth it, as ``newsportal up`` does after enough new articles."""
    return start_job(request, "retrain", "", ["retrain", "--force", "--json"], back="/models")


@router.get("/models/{corpus}")
def versions(request: Request, corpus: str) -> Response:
    store = Visit(request).portal.store.corpora
    found = store.find(corpus)
    if found is None:
        raise HTTPException(404)
    job = jobs_of(request).latest(("train",), corpus)
    return render(request, "model_versions.html", corpus=found, models=store.models(corpus), job=job, algorithms=TRAINED, default=DEFAULT)


@router.post("/models/{corpus}/train")
def train(request: Request, corpus: str, fields: Fields) -> Response:
    if Visit(request).portal.store.corpora.find(corpus) is None:
        raise HTTPException(404)
    algorithm = one(fields, "algorithm") or DEFAULT
    if algorithm not in TRAINED:
        raise HTTPException(400)
    words = ["train", "--corpus", corpus, "--algorithm", algorithm, "--json"]
    return start_job(request, "train", corpus, words, back=f"/models/{quote(corpus, safe='')}")


@router.post("/models/{corpus}/{version}/use")
def use(request: Request, corpus: str, version: int) -> Response:
    portal = Visit(request).portal
    text = _("Version %(version)s is in use now.")
    return _changed(request, corpus, "model.use", version, lambda: put_to_use(portal.store, corpus, version, portal.now()), text)


@router.post("/models/{corpus}/back")
def back(request: Request, corpus: str) -> Response:
    """To the version that was in use before."""
    portal = Visit(request).portal
    text = _("The version that was in use before is in use again.")
    return _changed(request, corpus, "model.back", None, lambda: portal.store.corpora.rollback(corpus, now=portal.now()), text)


def _changed(request: Request, corpus: str, action: str, version: int | None, change: Callable[[], object], text: str) -> Response:
    target = f"/models/{quote(corpus, safe='')}"
    if Visit(request).portal.store.corpora.find(corpus) is None:
        raise HTTPException(404)
    try:
        change()
    except (StoreError, ModelError) as error:
        return notify(request, target, _("It cannot be put to use: %(why)s"), why=str(error))
    log(request, action, corpus, {"version": version})
    return notify(request, target, text, version=version)


@router.get("/models/{corpus}/{version}")
def model(request: Request, corpus: str, version: int) -> Response:
    """The figures on what the version has not seen, and who is taken for whom."""
    found = _model(request, corpus, version)
    report = Report.from_json(found.facts["report"]) if found.facts.get("report") else None
    rows, headings = matrix(report) if report else ([], [])
    return render(request, "model.html", corpus=corpus, model=found, report=report, rows=rows, headings=headings, shade=shade)


def shade(share: float) -> int:
    """The step of a cell's shade; what is not nothing has one."""
    return min(SHADES, max(1, round(SHADES * share))) if share else 0


@router.get("/models/{corpus}/{version}/mistakes")
def wrong(request: Request, corpus: str, version: int) -> Response:
    """Documents held back that the version takes for another label; ``true`` and ``given`` narrow them."""
    visit = Visit(request)
    found = _model(request, corpus, version)
    true, given = visit.text("true"), visit.asked.get("given")
    try:
        seen = mistakes(visit.portal.store, corpus, version, true=true, given=given) if found.size else None
    except ModelError:
        seen = None
    return render(request, "model_mistakes.html", corpus=corpus, model=found, seen=seen, was=true, answer=given)


@router.get("/models/{corpus}/{version}/words")
def words(request: Request, corpus: str, version: int) -> Response:
    """The words that speak for a label."""
    visit = Visit(request)
    found = _model(request, corpus, version)
    labels = sorted(found.facts.get("labels", ()))
    label = visit.text("label") or next(iter(labels), None)
    try:
        known = opened(visit.portal.store, corpus, version) if found.size and label in labels else None
    except ModelError:
        known = None
    reasons = words_for(visit.portal.store, corpus, known, label) if known and label else ()
    most = max((reason.weight for reason in reasons), default=1.0)
    return render(request, "model_words.html", corpus=corpus, model=found, labels=labels, label=label, reasons=reasons, most=most)


@router.get("/models/{corpus}/{version}/delete")
def asked(request: Request, corpus: str, version: int) -> Response:
    return render(request, "model_delete.html", corpus=corpus, model=_model(request, corpus, version))


@router.post("/models/{corpus}/{version}/delete")
def deleted(request: Request, corpus: str, version: int) -> Response:
    """Never the one in use."""
    visit, target = Visit(request), f"/models/{quote(corpus, safe='')}"
    if _model(request, corpus, version).active:
        return notify(request, target, _("Version %(version)s is in use; put another one to use first."), version=version)
    try:
        visit.portal.store.corpora.delete_model(corpus, version)
    except StoreError:
        return notify(request, target, _("Version %(version)s cannot be deleted any more."), version=version)
    log(request, "model.delete", corpus, {"version": version})
    return notify(request, target, _("Version %(version)s was deleted."), version=version)


def _model(request: Request, corpus: str, version: int) -> Model:
    try:
        return Visit(request).portal.store.corpora.model(corpus, version)
    except StoreError as error:
        raise HTTPException(404) from error
