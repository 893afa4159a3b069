"""``/sources/KEY``: the health, form and changes of a source; ``/sources/many``: the same change of several. All can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from fastapi import APIRouter, Request, Response

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import EDIT, require
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk.source_fields import FAMILIES, FORMS, KINDS, Field, field_text, parse_form, parse_number, source_path
from newsportal.portal.desk.source_trials import start_trial
from newsportal.portal.desk.sources import Filter, bar_chart_path, health_texts
from newsportal.portal.desk.sources_yaml import (
    FILE_CHANGED,
    WRITE_ERRORS,
    SourceEntry,
    apply_change,
    config_of,
    failure_of,
    path_of,
    restore_version,
    source_entry,
    status_of,
    write,
)
from newsportal.portal.desk.topics import rename_articles
from newsportal.portal.language import _
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import by_field
from newsportal.sources import edit
from newsportal.sources.changing import WAYS, EntryChanged, Way, change_many, drop_entry, entry_digest, new_variables, set_entry
from newsportal.sources.editing import OtherKeys, append_entry, versions
from newsportal.sources.splicing import name_of
from newsportal.sources.timing import sources_health

router = APIRouter(dependencies=EDIT)

VISITS_SHOWN = 8  # visits shown on a source's page
CHANGED_MEANWHILE = _("Another editor has changed it meanwhile: both versions are shown. Save again to keep yours.")
VARIABLES = _("Only administrators may name environment variables or a folder here, or change where credentials are sent.")


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of the form: ``value`` is its text (of topics: names), ``current`` the value that another editor has saved meanwhile."""

    field: Field
    value: str | tuple[str, ...]
    error: str | None = None
    current: str | None = None


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Errors of a form. ``fields``: by key; ``general``: elsewhere in the file; ``current``: the entry as another editor has saved it."""

    fields: Mapping[str, str]
    general: Sequence[str] = ()
    current: Mapping[str, Any] | None = None


NONE = FormErrors({})

RESULT_TEXTS: Final[Mapping[Way, str]] = {
    "enable": _("%(number)s {source was|sources were} enabled."),
    "disable": _("%(number)s {source was|sources were} disabled."),
    "interval": _("The interval of %(number)s {source|sources} was set."),
    "remove": _("%(number)s {source was removed; its|sources were removed; their} articles stay."),
}


@router.post("/sources/many")
def change_sources(request: Request, fields: Form) -> Response:
    visit, back = Visit(request), fields.get("next") or "/sources"
    way = cast(Way, fields.get("action", ""))
    require(way in WAYS, 400)
    keys = fields.getlist("key")
    if fields.get("all", ""):  # all that match the filter of the list
        selection = Filter(fields.get("q", "").strip() or None, fields.get("state") or None, fields.get("kind") or None)
        keys = [row.source.key for row in visit.portal.health() if selection.matches(row, visit.portal)]
    selected = [source for key in dict.fromkeys(keys) if (source := visit.portal.by_key.get(key)) is not None]
    if not selected:
        return notify(request, back, _("Choose at least one source."))
    minutes = parse_number(text) if (text := fields.get("interval", "").strip()) else None
    keys = [source.key for source in selected]
    change = change_many(way, selected, minutes)
    try:
        undo = write(
            request, lambda path: edit(path, change), f"sources.{way}", ", ".join(keys)[:500], {"sources": keys, "interval": minutes}
        )
    except WRITE_ERRORS as error:
        return redirect_with(request, back, failure_of(request, error))
    text = RESULT_TEXTS[way] if undo else _("There were no changes.")
    return notify(request, back, text, number=len(selected), undo=undo)


@router.get("/sources/write")
def new_source(request: Request) -> Response:
    """Show an empty form for a source that the wizard cannot detect."""
    kind = Visit(request).text("kind") or "feeds"
    require(kind in FORMS)
    return _form(request, kind, {})


@router.post("/sources/write")
def add_source(request: Request, fields: Form) -> Response:
    kind = fields.get("list", "")
    require(kind in FORMS)
    values = without_empty(parse_form(FORMS[kind], fields))
    family = next(family for family, name in FAMILIES.items() if name == kind)
    key = f"{family}:{values.get('name', '')}"
    place = len(getattr(config_of(request), kind))
    if fault := _variable_errors(request, values, {}):
        return _form(request, kind, values, FormErrors(fault), 422)
    try:
        undo = write(request, lambda path: edit(path, append_entry(kind, values)), "source.add", key, values)
    except (NewsportalError, OSError) as error:
        return _form(request, kind, values, form_errors(request, error, kind, place), status_of(error))
    name = name_of(kind, values)
    target, text = source_path(f"{family}:{name}"), _("%(name)s was added to %(file)s.")
    return notify(request, start_trial(request, f"{family}:{name}", target), text, name=name, file=path_of(request).name, undo=undo)


@router.get("/sources/{key}")
def edit_source(request: Request, key: str) -> Response:
    entry = source_entry(request, key)
    return _form(request, entry.kind, entry.written, entry=entry)


@router.post("/sources/{key}")
def save_source(request: Request, key: str, fields: Form) -> Response:
    entry = source_entry(request, key)
    values = parse_form(FORMS[entry.kind], fields)
    if fault := _variable_errors(request, values, entry.written):
        return _form(request, entry.kind, values, FormErrors(fault), 422, entry)
    change = set_entry(entry.kind, entry.source.name, values, fields.get("digest") or None)
    details = {name: value for name, value in values.items() if value != entry.written.get(name)}
    try:
        undo = write(request, lambda path: edit(path, change), "source.change", key, details)
    except (NewsportalError, OSError) as error:
        current = source_entry(request, key).written if isinstance(error, EntryChanged) else None
        return _form(request, entry.kind, values, form_errors(request, error, entry.kind, entry.place, current), status_of(error), entry)
    after = f"{entry.source.family}:{name_of(entry.kind, {**entry.written, **values})}"
    text = _("%(name)s was saved.") if undo else _("There were no changes.")
    return notify(request, start_trial(request, after, source_path(after)), text, name=values["name"], undo=undo)


@router.post("/sources/{key}/enable")
def enable_source(request: Request, key: str, fields: Form) -> Response:
    entry = source_entry(request, key)
    on = bool(fields.get("enabled"))
    change = set_entry(entry.kind, entry.source.name, {"enabled": None if on else False})
    text = _("%(name)s was enabled.") if on else _("%(name)s was disabled.")
    action, target = "source.enable" if on else "source.disable", fields.get("next") or "/sources"
    return apply_change(request, change, action, key, target, text, name=entry.source.name)


@router.post("/sources/{key}/delete")
def delete_source(request: Request, key: str) -> Response:
    entry = source_entry(request, key)
    change = drop_entry(entry.kind, entry.source.name)
    text = _("%(name)s was removed; its articles stay.")
    return apply_change(request, change, "source.delete", key, "/sources", text, entry.written, name=entry.source.name)


@router.post("/sources/undo/{version}/{digest}")
def undo_change(request: Request, visit: VisitDep, version: str, digest: str) -> Response:
    """Undo the change that replaced ``version`` by a file with this ``digest``; ``topic`` and ``former``: it renamed a topic."""
    former = next((item for item in versions(path_of(request).resolve()) if item.id == version), None)
    if former is None:
        return notify(request, "/sources/versions", FILE_CHANGED)
    try:
        undo = restore_version(request, former, digest, "sources.undo")
    except (OtherKeys, *WRITE_ERRORS) as error:
        return redirect_with(request, "/sources/versions", failure_of(request, error))
    if (topic := visit.text("topic")) and (name := visit.text("former")):
        undo = rename_articles(visit.portal, topic, name, undo)
    return notify(request, "/sources", _("The change was undone."), undo=undo)


def _variable_errors(request: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    if Visit(request).may("administer"):
        return {}
    return dict.fromkeys(new_variables(values, before), Visit(request).say(VARIABLES))


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values without ``None`` and empty parts, for a new entry."""
    filled = {key: without_empty(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in filled.items() if value is not None and value != {}}


def form_errors(request: Request, error: Exception, kind: str, place: int, current: Mapping[str, Any] | None = None) -> FormErrors:
    """Return why the entry ``kind[place]`` was not saved. ``current``: the entry as another editor has saved it meanwhile."""
    visit = Visit(request)
    if isinstance(error, SourcesError):
        return FormErrors(*by_field(error.problems, kind, place, visit.clock.words))
    if isinstance(error, EntryChanged) and current is not None:
        return FormErrors({}, (visit.say(CHANGED_MEANWHILE),), current)
    return FormErrors({}, (failure_of(request, error),))


def _form(
    request: Request, kind: str, values: Mapping[str, Any], errors: FormErrors = NONE, status: int = 200, entry: SourceEntry | None = None
) -> Response:
    visit = Visit(request)
    written = errors.current if errors.current is not None else entry.written if entry else None
    return render(
        request, "source.html", status, kind=kind, kind_name=visit.say(KINDS[kind]),
        groups=[(name, [field_view(field, values, errors) for field in fields]) for name, fields in FORMS[kind]],
        topic_names=[topic.name for topic in config_of(request).topics], errors=errors.general, field_errors=len(errors.fields),
        entry=entry, digest="" if written is None else entry_digest(written), file=path_of(request),
        **(_health_values(visit, entry) if entry and status == 200 else {"health": None}),
    )  # fmt: skip


def field_view(field: Field, values: Mapping[str, Any], errors: FormErrors) -> FieldView:
    value = field_text(field, values)
    now = field_text(field, errors.current) if errors.current is not None else value
    other = None if now == value else now if isinstance(now, str) else ", ".join(now)
    return FieldView(field, value, errors.fields.get(field.key), other)


def _health_values(visit: Visit, entry: SourceEntry) -> dict[str, Any]:
    """Return the source's health, its last visits, its entries of the last days, and the hub pages it follows, for the template."""
    portal = visit.portal
    matching = [source for source in portal.sources if source.key == entry.source.key]
    if not matching:
        return {"health": None}
    (judgement,) = sources_health(portal.store, matching, visit.clock.local(visit.clock.now))
    return {
        "health": judgement.health,
        **health_texts(judgement, visit),
        "line": bar_chart_path(judgement.days),
        "days": judgement.days,
        "visits": portal.store.visits.recent([entry.source.key], each=VISITS_SHOWN).get(entry.source.key, ()),
        "hubs": [
            (url, page.found, datetime.fromtimestamp(page.asked, UTC))
            for url, page in portal.store.source_state(entry.source.key).hubs.items()
            if page.asked
        ],
    }
