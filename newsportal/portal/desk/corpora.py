"""``/corpora``: labelled texts for training classifiers; ``/models``: the trained versions, their quality, and which one is in use."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect

from newsportal.classify.base import CLASSIFIERS, DEFAULT
from newsportal.classify.measure import Report, confusion_matrix
from newsportal.errors import CorpusError, ModelError, StoreError
from newsportal.portal.access import EDIT, api_error_for, log_change, or_404, require
from newsportal.portal.context import PortalDep, Visit, VisitDep
from newsportal.portal.desk.jobs import jobs_of, start_job
from newsportal.portal.language import _
from newsportal.portal.render import address, notify, render
from newsportal.portal.request_body import MAX_FILE, Form, Refused
from newsportal.services.learning.evaluation import activate_version, load_classifier, mistakes, words_for
from newsportal.services.learning.files import UTF8, is_empty, plain, read_stream
from newsportal.services.learning.files import find_mistakes as bad_lines
from newsportal.services.learning.gathering import label_document
from newsportal.store.columns import NAME_CHARS
from newsportal.store.labels import CATEGORIES, RANKS, Corpus
from newsportal.store.models import Model
from newsportal.store.store import Store

router = APIRouter(dependencies=EDIT)

SHOWN: Final = 30  # documents per page
MAX_PAGES: Final = 200  # pages of a list: a store reads all those before one
ENCODINGS: Final = (UTF8, "gb18030", "big5", "utf-16")

JOBS: Final = ("gather", "train", "retrain")


@router.get("/corpora")
def corpora(request: Request) -> Response:
    return _list(request)


def _list(request: Request, faults: tuple[str, ...] = (), name: str = "", status: int = 200) -> Response:
    portal = Visit(request).portal
    return render(
        request, "corpora.html", status, corpora=portal.store.corpora.all(), job=jobs_of(request).latest(JOBS), errors=faults, name=name,
        encodings=ENCODINGS, megabytes=MAX_FILE >> 20, categories=CATEGORIES, configured=portal.config.path is not None,
    )  # fmt: skip


@router.post("/corpora/upload")
async def import_file(request: Request) -> Response:
    """Import a file of labelled texts: streamed to the disk, then imported completely or not at all."""
    try:
        async with request.form(max_files=1, max_fields=10) as fields:
            return await run_in_threadpool(_import_file, request, fields)
    except (ClientDisconnect, Refused):
        text = Visit(request).say("The file is too large or incomplete; the maximum is %(number)s MB.", number=MAX_FILE >> 20)
        return await run_in_threadpool(_list, request, (text,), "", 413)
    except MultiPartException:
        raise HTTPException(400) from None


def _import_file(request: Request, fields: FormData) -> Response:
    visit = Visit(request)
    file, name, encoding = fields.get("file"), str(fields.get("name", "")).strip(), str(fields.get("encoding", UTF8))
    if not name or len(name) > NAME_CHARS or "/" in name:
        return _list(request, (visit.say("The corpus needs a name without a slash."),), name, 422)
    if not isinstance(file, UploadFile) or not file.filename or encoding not in ENCODINGS:
        return _list(request, (visit.say("Choose a file."),), name, 422)
    form = "csv" if file.filename.lower().endswith(".csv") else "jsonl"
    filename = file.filename.replace("\\", "/").rpartition("/")[2][:NAME_CHARS]
    if errors := bad_lines(file.file, form, filename, encoding):
        return _list(request, tuple(visit.clock.says(error.message) for error in errors), name, 422)
    file.file.seek(0)
    documents = (document for document in read_stream(file.file, form, filename, encoding) if not is_empty(document))
    try:
        result = visit.portal.store.corpora.add(name, documents, source="imported", by=filename, now=visit.portal.now())
    except CorpusError as error:
        raise HTTPException(422) from error
    log_change(request, "corpus.upload", name, {"file": filename, "added": result.added, "relabelled": result.relabelled})
    text = _("%(added)s {document was|documents were} added, %(relabelled)s given another label, %(same)s {was|were} there already.")
    same = result.same + result.outranked + result.repeated
    return notify(request, f"/corpora/{quote(name, safe='')}", text, added=result.added, relabelled=result.relabelled, same=same)


@router.post("/corpora/gather")
def gather_documents(request: Request) -> Response:
    """Add articles of sources with a category, and those corrected by an editor, to the corpus of categories."""
    return start_job(request, "gather", CATEGORIES, ["corpus", "from-store", CATEGORIES, "--json"], back="/corpora")


@router.get("/corpora/{name}")
def corpus(request: Request, visit: VisitDep, name: str) -> Response:
    store = visit.portal.store.corpora
    require(name != "upload" or store.find(name) is not None, 405)  # after a form with mistakes
    corpus = corpus_of(request, name)
    label, editors = visit.text("label", NAME_CHARS), visit.params.get("by") == "editor"
    page = min(max(1, visit.integer("page")), MAX_PAGES)
    documents = (document for document in store.documents(name, label=label) if not editors or document.label.source == "editor")
    rows = list(islice(documents, (page - 1) * SHOWN, page * SHOWN + 1))
    counts = store.count(name)
    return render(
        request, "corpus.html", corpus=corpus, label_counts=counts, ranks=tuple(RANKS), label=label, by_editors=editors, page=page,
        documents=rows[:SHOWN], more=len(rows) > SHOWN and page < MAX_PAGES, labels=sorted({*(count.label for count in counts)}),
    )  # fmt: skip


@router.post("/corpora/{name}/label")
def relabel(request: Request, visit: VisitDep, name: str, fields: Form) -> Response:
    """Save an editor's label of a document; an empty label excludes it from training for ever."""
    id, new_label = fields.get("id", ""), fields.get("label", "").strip()
    back = address(f"/corpora/{quote(name, safe='')}", label=fields.get("filter", ""), page=fields.get("page", ""))
    if len(new_label) > NAME_CHARS:
        return notify(request, back, _("The label is too long."))
    corpus_of(request, name)
    try:
        by = visit.signed_in.person.name if visit.signed_in else None
        label_document(visit.portal.store, name, id, new_label or None, by=by, now=visit.portal.now())
    except StoreError:
        return notify(request, back, _("The document was deleted."))
    log_change(request, "corpus.label", name, {"document": id, "label": new_label or None})
    return notify(request, back, _("Its label is now %(label)s.") if new_label else _("It is excluded from training."), label=new_label)


@router.get("/corpora/{name}/export.jsonl")
def export_corpus(request: Request, portal: PortalDep, name: str) -> Response:
    """Return the corpus as JSON lines, in the format that ``/corpora`` imports."""
    corpus_of(request, name)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}.jsonl"}
    return StreamingResponse(json_lines(portal.store, name), media_type="application/x-ndjson", headers=headers)


@router.get("/corpora/{name}/delete")
def confirm_delete(request: Request, name: str) -> Response:
    return render(request, "corpus_delete.html", corpus=corpus_of(request, name))


@router.post("/corpora/{name}/delete")
def delete_corpus(request: Request, portal: PortalDep, name: str) -> Response:
    corpus = corpus_of(request, name)
    portal.store.corpora.delete(name)
    log_change(request, "corpus.delete", name, {"documents": corpus.documents, "versions": corpus.versions})
    return notify(request, "/corpora", _("The corpus %(name)s was deleted."), name=name)


def corpus_of(request: Request, name: str) -> Corpus:
    return or_404(Visit(request).portal.store.corpora.find(name), "no-corpus", f"There is no corpus {name!r}.")


def model_of(request: Request, corpus: str, version: int) -> Model:
    with api_error_for(StoreError, status=404, code="no-model"):
        return Visit(request).portal.store.corpora.model(corpus, version)


def json_lines(store: Store, name: str) -> Iterator[str]:
    """Yield the lines of a corpus, as ``newsportal corpus export`` writes them."""
    for document in store.corpora.documents(name):
        row = {key: value.isoformat() if isinstance(value, datetime) else value for key, value in plain(document).items()}
        yield json.dumps(row, ensure_ascii=False) + "\n"


SHADES: Final = 5  # levels of a cell's shade, by its share of the row
TRAINED: Final = tuple(name for name in CLASSIFIERS if name != "lexicon")  # algorithms that are trained; the lexicon is written by hand


@router.get("/models")
def models(request: Request, visit: VisitDep) -> Response:
    store = visit.portal.store.corpora
    rows = [(corpus, store.model(corpus.name) if corpus.active_version is not None else None) for corpus in store.all()]
    job = jobs_of(request).latest(("train", "retrain"))
    return render(request, "models.html", rows=rows, job=job, configured=visit.portal.config.path is not None)


@router.post("/models/retrain")
def retrain(request: Request) -> Response:
    """Retrain all models that have enough new texts, as ``newsportal up`` does."""
    return start_job(request, "retrain", "", ["retrain", "--force", "--json"], back="/models")


@router.get("/models/{corpus}")
def versions(request: Request, portal: PortalDep, corpus: str) -> Response:
    found, models = corpus_of(request, corpus), portal.store.corpora.models(corpus)
    job = jobs_of(request).latest(("train",), corpus)
    return render(request, "model_versions.html", corpus=found, models=models, job=job, algorithms=TRAINED, default=DEFAULT)


@router.post("/models/{corpus}/train")
def train_model(request: Request, corpus: str, fields: Form) -> Response:
    corpus_of(request, corpus)
    algorithm = fields.get("algorithm") or DEFAULT
    require(algorithm in TRAINED, 400)
    words = ["train", "--corpus", corpus, "--algorithm", algorithm, "--json"]
    return start_job(request, "train", corpus, words, back=f"/models/{quote(corpus, safe='')}")


@router.post("/models/{corpus}/{version}/use")
def use_version(request: Request, portal: PortalDep, corpus: str, version: int) -> Response:
    text = _("Version %(version)s is now active.")
    return _change_model(request, corpus, "model.use", version, lambda: activate_version(portal.store, corpus, version, portal.now()), text)


@router.post("/models/{corpus}/back")
def roll_back_version(request: Request, portal: PortalDep, corpus: str) -> Response:
    """Return to the version that was in use before."""
    text = _("The previously active version is active again.")
    return _change_model(request, corpus, "model.back", None, lambda: portal.store.corpora.rollback(corpus, now=portal.now()), text)


def _change_model(request: Request, corpus: str, action: str, version: int | None, change: Callable[[], object], text: str) -> Response:
    target = f"/models/{quote(corpus, safe='')}"
    corpus_of(request, corpus)
    try:
        change()
    except (StoreError, ModelError) as error:
        return notify(request, target, _("It cannot be activated: %(why)s"), why=str(error))
    log_change(request, action, corpus, {"version": version})
    return notify(request, target, text, version=version)


@router.get("/models/{corpus}/{version}")
def model(request: Request, corpus: str, version: int) -> Response:
    """Show the version's figures on held-out documents, and its confusion matrix."""
    model = model_of(request, corpus, version)
    report = Report.from_json(model.facts["report"]) if model.facts.get("report") else None
    rows, headings = confusion_matrix(report) if report else ([], [])
    return render(request, "model.html", corpus=corpus, model=model, report=report, rows=rows, headings=headings, shade=shade)


def shade(share: float) -> int:
    """Return the level of a cell's shade; every share above 0 has one."""
    return min(SHADES, max(1, round(SHADES * share))) if share else 0


@router.get("/models/{corpus}/{version}/mistakes")
def model_errors(request: Request, visit: VisitDep, corpus: str, version: int) -> Response:
    """Show held-out documents that the version labels wrongly; ``true`` and ``given`` filter them."""
    model = model_of(request, corpus, version)
    true, predicted = visit.text("true"), visit.params.get("given")
    try:
        errors = mistakes(visit.portal.store, corpus, version, label=true, predicted=predicted) if model.size else None
    except ModelError:
        errors = None
    return render(request, "model_mistakes.html", corpus=corpus, model=model, errors=errors, label=true, predicted=predicted)


@router.get("/models/{corpus}/{version}/words")
def words(request: Request, visit: VisitDep, corpus: str, version: int) -> Response:
    model = model_of(request, corpus, version)
    labels = sorted(model.facts.get("labels", ()))
    label = visit.text("label") or next(iter(labels), None)
    try:
        classifier = load_classifier(visit.portal.store, corpus, version) if model.size and label in labels else None
    except ModelError:
        classifier = None
    reasons = words_for(visit.portal.store, corpus, classifier, label) if classifier and label else ()
    most = max((reason.weight for reason in reasons), default=1.0)
    return render(request, "model_words.html", corpus=corpus, model=model, labels=labels, label=label, reasons=reasons, max_weight=most)


@router.get("/models/{corpus}/{version}/delete")
def ask_delete_model(request: Request, corpus: str, version: int) -> Response:
    return render(request, "model_delete.html", corpus=corpus, model=model_of(request, corpus, version))


@router.post("/models/{corpus}/{version}/delete")
def delete_model(request: Request, corpus: str, version: int) -> Response:
    """Delete a version, unless it is in use."""
    visit, target = Visit(request), f"/models/{quote(corpus, safe='')}"
    if model_of(request, corpus, version).active:
        return notify(request, target, _("Version %(version)s is active; activate another one first."), version=version)
    try:
        visit.portal.store.corpora.delete_model(corpus, version)
    except StoreError:
        return notify(request, target, _("Version %(version)s can no longer be deleted."), version=version)
    log_change(request, "model.delete", corpus, {"version": version})
    return notify(request, target, _("Version %(version)s was deleted."), version=version)
