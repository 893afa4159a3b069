"""``/publishing``: what waits to be published, and what failed and why; editors retry, publish again, withdraw, or test a target.
``/publishing/new`` and ``/publishing/targets/{name}``: administrators add, test, change and remove destinations."""

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from newsportal.errors import NewsportalError
from newsportal.portal.access import ADMINISTER, EDIT, WATCH, log_change, or_404
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.desk.source_fields import Field, parse_form
from newsportal.portal.desk.source_form import NONE, FormErrors, field_view, form_errors, without_empty
from newsportal.portal.desk.sources_yaml import apply_change, config_of, path_of, status_of, write
from newsportal.portal.language import _
from newsportal.portal.render import address, notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.services.publishing.base import BadTarget, TargetDown
from newsportal.services.publishing.dry_run import DryRun, dry_run, try_target
from newsportal.services.publishing.targets import open_target, request_publication
from newsportal.sources import edit, parse
from newsportal.sources.changing import drop_entry, entry_digest, entry_of, set_entry
from newsportal.sources.editing import Change, append_entry, with_change
from newsportal.sources.uris import mask
from newsportal.store.outbox import OPEN, STATES, State

NAMES: Final[Mapping[State, str]] = {
    "waiting": _("waiting"),
    "under-way": _("under way"),
    "done": _("published"),
    "failed": _("failed"),
    "withdrawn": _("withdrawn or excluded"),
}

router = APIRouter(dependencies=WATCH)

SHOWN: Final = 100  # articles per list

LISTS: Final[Mapping[str, tuple[str, tuple[State, ...]]]] = {
    "failed": (_("What failed"), ("failed",)),
    "waiting": (_("Waiting"), OPEN),
    "done": (_("Last published"), ("done",)),
    "withdrawn": (_("Withdrawn or excluded"), ("withdrawn",)),
}  # ``?state=`` -> heading and states of a list


@router.get("/publishing")
def publishing(request: Request, visit: VisitDep) -> Response:
    """``target``, ``state`` and ``article`` filter the lists; for an article all targets are shown."""
    portal, filters = visit.portal, {name: visit.text(name) for name in ("target", "state", "article")}
    counts = portal.store.outbox.counts()
    names = dict.fromkeys((*portal.site.publishes, *counts))
    places = {target.name: mask(target.to) for target in portal.config.publish}
    behind = portal.store.outbox.behind(names)
    rows = [
        {"target": name, "counts": [*(counts.get(name, {}).get(state, 0) for state in STATES), behind[name]], "to": places.get(name)}
        for name in names
    ]  # ``to`` None: the target is no longer in sources.yaml
    selected = [name for name in LISTS if filters["state"] in (None, name) and (name != "withdrawn" or any(filters.values()))]
    lists = {name: (visit.say(LISTS[name][0]), _entry_rows(portal, LISTS[name][1], filters)) for name in selected}
    article = portal.store.article(filters["article"]) if filters["article"] else None
    targets = {line["entry"].target for _heading, lines in lists.values() for line in lines}
    return render(
        request, "publishing.html", rows=rows, lists=lists, filters=filters, article=article,
        states=[*(visit.say(NAMES[state]) for state in STATES), visit.say(_("unread changes"))],
        unpublished=[name for name in portal.site.publishes if name not in targets] if article else [], feed=None,
        kinds=[(visit.say(heading), address("/publishing", **{**filters, "state": name}), filters["state"] == name)
               for name, (heading, _states) in LISTS.items()],
    )  # fmt: skip


@router.post("/publishing/again", dependencies=EDIT)
def retry_articles(request: Request, fields: Form) -> Response:
    """Retry the failed ``target`` and ``article``, or without them all that failed. The next publisher run does it."""
    visit, article, target = Visit(request), fields.get("article"), fields.get("target") or None
    number = visit.portal.store.outbox.retry(target, [article] if article else None, now=visit.portal.now())
    log_change(request, "publishing.again", article or "", {"target": target, "articles": number})
    text = visit.say("%(num)s {article is|articles are} waiting again.", num=number)
    return redirect_with(request, "/publishing", text)


@router.post("/publishing/ask", dependencies=EDIT)
def publish_or_withdraw(request: Request, fields: Form) -> Response:
    """Fields: ``target``, ``article``, ``action``: ``publish`` (possibly again) or ``withdraw``."""
    params, portal = {**request.query_params, **fields}, Visit(request).portal
    target, article, action = params.get("target", ""), params.get("article", ""), params.get("action")
    before = request_publication(portal.store, portal.site.publishes, target, article, action or "", portal.now())
    log_change(request, "publishing.ask", article, {"target": target, "action": action})
    query = urlencode({"target": target, "article": article, "action": before})
    publish = action == "publish"
    message = _("The article is waiting to be published there.") if publish else _("The article is waiting to be withdrawn there.")
    undo = f"/publishing/ask?{query}" if before and before != action else None
    return notify(request, address("/publishing", article=article), message, undo=undo)


@router.get("/publishing/trial", dependencies=EDIT)
def show_dry_run(request: Request, visit: VisitDep) -> Response:
    """Show what ``target`` would do with the waiting articles, or with ``article``, without doing it."""
    results, trouble, portal = [], None, visit.portal
    try:
        with closing(try_target(portal.store, portal.config, visit.text("target") or "", visit.text("article"), portal.now)) as steps:
            results = list(steps)
    except (TargetDown, BadTarget) as error:
        trouble = str(error)
    return render(request, "publishing_trial.html", target=visit.text("target"), results=results, failure=trouble)


def _entry_rows(portal: Portal, states: tuple[State, ...], filters: Mapping[str, str | None]) -> list[dict[str, Any]]:
    entries = portal.store.outbox.entries(filters["target"], states=states, article_id=filters["article"], limit=SHOWN)
    articles = {article.id: article for article in portal.store.articles([entry.article_id for entry in entries])}
    return [{"entry": entry, "article": articles.get(entry.article_id)} for entry in entries]


targets_router = APIRouter(dependencies=ADMINISTER)

LIST: Final = "publish"
FIELDS: Final = (
    Field("name", _("Name of the destination"), "text", _("Publications are recorded under this name: do not change it later."),
          required=True),
    Field("to", _("URI of the destination"), "text",
          _("folder:PATH, https://… (a webhook), postgresql://…, mysql://…, sqlite:///FILE, mongodb://HOST/DATABASE or "
            "elasticsearch://HOST:9200/INDEX. Passwords as ${NAME}, a variable of the environment."), required=True),
    Field("secret", _("Secret of the webhook"), "text", _("Messages are signed with it. Use ${NAME} rather than the secret itself.")),
    Field("only.topics", _("Only these topics"), "topics"),
    Field("only.categories", _("Only these categories"), "lines", _("One per line. Empty: all.")),
    Field("only.min_chars", _("Minimum length of a text"), "number"),
    Field("format", _("Files of a folder"), "choice", choices=("markdown", "html")),
    Field("file", _("File names"), "text", _("With {id} in it; empty: {day}-{site}-{id}.")),
    Field("table", _("Table of a database"), "text"),
    Field("columns", _("Columns of the table"), "lines", _("One per line: column: field, as headline: title.")),
    Field("key", _("Column that identifies an article"), "text"),
    Field("enabled", _("In use"), "switch", usual=True),
)  # fmt: skip


@targets_router.get("/publishing/new")
def new_destination(request: Request) -> Response:
    return _form(request, None, {})


@targets_router.post("/publishing/new")
def add_destination(request: Request, fields: Form) -> Response:
    return _save(request, None, fields)


@targets_router.get("/publishing/targets/{name}")
def edit_destination(request: Request, name: str) -> Response:
    return _form(request, name, _entry(request, name))


@targets_router.post("/publishing/targets/{name}")
def save_destination(request: Request, name: str, fields: Form) -> Response:
    _entry(request, name)
    return _save(request, name, fields)


@targets_router.post("/publishing/targets/{name}/drop")
def remove_destination(request: Request, name: str, fields: Form) -> Response:
    change = drop_entry(LIST, name, fields.get("digest") or None)
    return apply_change(request, change, "publishing.remove", name, "/publishing", _("The destination %(name)s was removed."), name=name)


def _save(request: Request, name: str | None, fields: Form) -> Response:
    """Save a destination. ``step`` try: only check it with the values of the form; nothing is written there or to the file."""
    values = parse_form([("", FIELDS)], fields)
    pairs = [line.partition(":") for line in values["columns"] or ()]  # lines without a colon are left to the check
    values["columns"] = {column.strip(): _parse_value(field.strip()) for column, _colon, field in pairs} or None
    change: Change = append_entry(LIST, without_empty(values))
    if name:  # columns no longer in the form are removed
        columns = {**dict.fromkeys(_entry(request, name).get("columns") or ()), **(values["columns"] or {})} or None
        change = set_entry(LIST, name, {**values, "columns": columns}, fields.get("digest") or None)
    try:
        if fields.get("step") == "try":
            return _form(request, name, values, trial=_dry_run(request, change, str(values["name"] or "")))
        action, logged = "publishing.change" if name else "publishing.add", {**values, "secret": "***" if values["secret"] else None}
        undo = write(request, lambda path: edit(path, change), action, values["name"] or "", logged)
    except (NewsportalError, OSError) as error:
        names = [target.name for target in config_of(request).publish]
        place = names.index(name) if name in names else len(names)
        return _form(request, name, values, form_errors(request, error, LIST, place), status_of(error))
    return notify(request, "/publishing", _("The destination %(name)s was saved."), name=values["name"] or "", undo=undo)


def _dry_run(request: Request, change: Change, name: str) -> DryRun:
    """Return what the destination would be sent for an invented article, with the form's values. Raises the errors of the file's check."""
    path = path_of(request)
    sources = parse(with_change(path.read_bytes(), change, path), path)
    settings = next(target for target in sources.publish if target.name == name.strip())
    with closing(open_target(settings, sources)) as target:
        return dry_run(target, settings.name, Visit(request).portal.now())


def _parse_value(text: str) -> Any:
    """Parse the field of a column; braces hold a mapping as in the file."""
    try:
        return json.loads(text) if text.startswith("{") or text.isdecimal() else text
    except ValueError:
        return text


def _form(
    request: Request, name: str | None, values: Mapping[str, Any], errors: FormErrors = NONE, status: int = 200, trial: DryRun | None = None
) -> Response:
    columns = values.get("columns")
    pairs = columns.items() if isinstance(columns, Mapping) else ()
    lines = [f"{column}: {json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value}" for column, value in pairs]
    texts = {**values, "columns": lines}
    digest = entry_digest(_entry(request, name)) if name else ""
    return render(
        request, "destination.html", status, name=name, fields=[field_view(field, texts, errors) for field in FIELDS], digest=digest,
        errors=errors.general, field_errors=len(errors.fields), trial=trial, file=path_of(request),
        topic_names=[topic.name for topic in config_of(request).topics],
    )  # fmt: skip


def _entry(request: Request, name: str) -> dict[str, Any]:
    """Return the destination's entry in the file. Raises 404."""
    return or_404(entry_of(path_of(request).read_bytes(), LIST, name))[1]
