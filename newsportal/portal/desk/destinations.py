"""``/publishing/new`` and ``/publishing/targets/{name}``: administrators make, try, change and remove destinations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.errors import NewsportalError
from newsportal.portal.access import needs
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import Field, values_of
from newsportal.portal.desk.source_form import NONE, Mistakes, field_view, mistakes_of
from newsportal.portal.desk.sources_yaml import apply, config_of, path_of, status_of, write
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.services.publishing.dry_run import Rehearsed, rehearse
from newsportal.services.publishing.targets import open_target
from newsportal.sources import append, edit, parse
from newsportal.sources.changing import drop_entry, entry_digest, entry_of, set_entry
from newsportal.sources.editing import Change, changed

router = APIRouter(dependencies=[needs(Right.ADMINISTER)])

LIST: Final = "publish"
FIELDS: Final = (
    Field("name", _("Name of the destination"), "text", _("What was published there is remembered under it: do not change it later."),
          needed=True),
    Field("to", _("Address of the destination"), "text",
          _("folder:PATH, https://… (a webhook), postgresql://…, mysql://…, sqlite:///FILE, mongodb://HOST/DATABASE or "
            "elasticsearch://HOST:9200/INDEX. Passwords as ${NAME}, a variable of the environment."), needed=True),
    Field("secret", _("Secret of the webhook"), "text", _("Messages are signed with it. Better ${NAME} than the secret itself.")),
    Field("only.topics", _("Only these topics"), "topics"),
    Field("only.categories", _("Only these categories"), "lines", _("One a line. Empty: all.")),
    Field("only.min_chars", _("Least characters of a text"), "number"),
    Field("format", _("Files of a folder"), "choice", choices=("markdown", "html")),
    Field("file", _("Names of the files"), "text", _("With {id} in it; empty: {day}-{site}-{id}.")),
    Field("table", _("Table of a database"), "text"),
    Field("columns", _("Columns of the table"), "lines", _("One a line: column: field, as headline: title.")),
    Field("key", _("Column that names an article"), "text"),
    Field("enabled", _("In use"), "switch", usual=True),
)  # fmt: skip


@router.get("/publishing/new")
def new(request: Request) -> Response:
    return _form(request, None, {})


@router.post("/publishing/new")
def add(request: Request, sent: Form) -> Response:
    return _save(request, None, sent)


@router.get("/publishing/targets/{name}")
def destination(request: Request, name: str) -> Response:
    return _form(request, name, _entry(request, name))


@router.post("/publishing/targets/{name}")
def save(request: Request, name: str, sent: Form) -> Response:
    _entry(request, name)
    return _save(request, name, sent)


@router.post("/publishing/targets/{name}/drop")
def remove(request: Request, name: str, sent: Form) -> Response:
    change = drop_entry(LIST, name, sent.get("seen") or None)
    return apply(request, change, "publishing.remove", name, "/publishing", _("The destination %(name)s was removed."), name=name)


def _save(request: Request, name: str | None, sent: Form) -> Response:
    """``step`` try: look at the destination as it is in the form, and write nothing there nor into the file."""
    values = values_of([("", FIELDS)], sent)
    values["columns"] = columns_from(values["columns"])
    change = _changed(name, values, _entry(request, name), sent.get("seen")) if name else _added(values)
    try:
        if sent.get("step") == "try":
            return _form(request, name, values, tried=_tried(request, change, str(values["name"] or "")))
        action, logged = "publishing.change" if name else "publishing.add", {**values, "secret": "***" if values["secret"] else None}
        undo = write(request, lambda path: edit(path, change), action, values["name"] or "", logged)
    except (NewsportalError, OSError) as error:
        names = [target.name for target in config_of(request).publish]
        place = names.index(name) if name in names else len(names)
        return _form(request, name, values, mistakes_of(request, error, LIST, place), status_of(error))
    return notify(request, "/publishing", _("The destination %(name)s was saved."), name=values["name"] or "", undo=undo)


def _added(values: Mapping[str, Any]) -> Change:
    only = {key: value for key, value in values["only"].items() if value is not None} or None
    given = {key: value for key, value in {**values, "only": only}.items() if value is not None}
    return lambda document: append(document, LIST, given)


def _changed(name: str, values: Mapping[str, Any], before: Mapping[str, Any], seen: str | None) -> Change:
    """Columns that are not in the form any more go."""
    columns = {**dict.fromkeys(before.get("columns") or ()), **(values["columns"] or {})} or None
    return set_entry(LIST, name, {**values, "columns": columns}, seen or None)


def _tried(request: Request, change: Change, name: str) -> Rehearsed:
    """What the destination would be sent of a made-up article, with the file as it would be. Raises what the file's check raises."""
    path = path_of(request)
    known = parse(changed(path.read_bytes(), change, path), path)
    settings = next(target for target in known.publish if target.name == name.strip())
    with closing(open_target(settings, known)) as target:
        return rehearse(target, settings.name, Visit(request).portal.now())


def columns_from(lines: list[str] | None) -> dict[str, Any] | None:
    """``column: field`` a line; a field in braces is the mapping that the file has. A line without a colon is left to the check."""
    pairs = [line.partition(":") for line in lines or ()]
    return {name.strip(): _value(field.strip()) for name, _colon, field in pairs} or None


def _value(text: str) -> Any:
    try:
        return json.loads(text) if text.startswith("{") or text.isdecimal() else text
    except ValueError:
        return text


def columns_written(columns: object) -> list[str]:
    pairs = columns.items() if isinstance(columns, Mapping) else ()
    return [f"{name}: {json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value}" for name, value in pairs]


def _form(
    request: Request,
    name: str | None,
    values: Mapping[str, Any],
    mistakes: Mistakes = NONE,
    status: int = 200,
    tried: Rehearsed | None = None,
) -> Response:
    shown = {**values, "columns": columns_written(values.get("columns"))}
    seen = entry_digest(_entry(request, name)) if name else ""
    return render(
        request, "destination.html", status, name=name, fields=[field_view(field, shown, mistakes) for field in FIELDS], seen=seen,
        others=mistakes.others, faults=len(mistakes.fields), tried=tried, file=path_of(request),
        topic_names=[topic.name for topic in config_of(request).topics],
    )  # fmt: skip


def _entry(request: Request, name: str) -> dict[str, Any]:
    """What the file says of the destination. Raises a 404."""
    return or_404(entry_of(path_of(request).read_bytes(), LIST, name))[1]
