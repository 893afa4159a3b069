"""``/sources/KEY``: the health, form and changes of a source; ``/sources/many``: the same change of several. All can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from fastapi import APIRouter, HTTPException, Request, Response

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import EDIT
from newsportal.portal.context import Visit
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
from newsportal.portal.language import _
from newsportal.portal.render import notify, redirect_with, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import by_field
from newsportal.sources import edit
from newsportal.sources.changing import WAYS, EntryChanged, Way, change_many, drop_entry, entry_digest, new_variables, set_entry
from newsportal.sources.editing import OtherKeys, append_entry, versions
from newsportal.sources.splicing import name_of
from newsportal.sources.timing import judged

router = APIRouter(dependencies=EDIT)

VISITS_SHOWN = 8  # visits shown on a source's page
CHANGED_MEANWHILE = _("Another editor has changed it meanwhile: both versions are shown. Save again to keep yours.")
VARIABLES = _("Only administrators may name environment variables or a folder here, or change where credentials are sent.")


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of the form: ``value`` is its text (of topics: names), ``now`` the value that another editor has saved meanwhile."""

    field: Field
    value: str | tuple[str, ...]
    fault: str | None = None
    now: str | None = None


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Errors of a form. ``fields``: by key; ``others``: elsewhere in the file; ``now``: the entry as another editor has just saved it."""

    fields: Mapping[str, str]
    others: Sequence[str] = ()
    now: Mapping[str, Any] | None = None


NONE = FormErrors({})

RESULT_TEXTS: Final[Mapping[Way, str]] = {
    "enable": _("%(number)s sources were enabled."),
    "disable": _("%(number)s sources were disabled."),
    "interval": _("The interval of %(number)s sources was set."),
    "remove": _("%(number)s sources were removed; their articles stay."),
}


@router.post("/sources/many")
def many(request: Request, fields: Form) -> Response:
    visit, back = Visit(request), fields.get("next") or "/sources"
    way = cast(Way, fields.get("do", ""))
    if way not in WAYS:
        raise HTTPException(400)
    keys = fields.getlist("key")
    if fields.get("all", ""):  # all that match the filter of the list
        asked = Filter(fields.get("q", "").strip() or None, fields.get("state") or None, fields.get("kind") or None)
        keys = [found.source.key for found in visit.portal.health() if asked.matches(found, visit.portal)]
    chosen = [source for key in dict.fromkeys(keys) if (source := visit.portal.by_key.get(key)) is not None]
    if not chosen:
        return notify(request, back, _("Choose at least one source."))
    minutes = parse_number(text) if (text := fields.get("interval", "").strip()) else None
    keys = [source.key for source in chosen]
    change = change_many(way, chosen, minutes)
    try:
        undo = write(
            request, lambda path: edit(path, change), f"sources.{way}", ", ".join(keys)[:500], {"sources": keys, "interval": minutes}
        )
    except WRITE_ERRORS as error:
        return redirect_with(request, back, failure_of(request, error))
    text = RESULT_TEXTS[way] if undo else _("There were no changes.")
    return notify(request, back, text, number=len(chosen), undo=undo)


@router.get("/sources/write")
def empty_form(request: Request) -> Response:
    """Show an empty form for a source that the wizard cannot detect."""
    kind = Visit(request).text("kind") or "feeds"
    if kind not in FORMS:
        raise HTTPException(404)
    return _form(request, kind, {})


@router.post("/sources/write")
def add(request: Request, fields: Form) -> Response:
    kind = fields.get("list", "")
    if kind not in FORMS:
        raise HTTPException(404)
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
def source(request: Request, key: str) -> Response:
    found = source_entry(request, key)
    return _form(request, found.kind, found.written, found=found)


@router.post("/sources/{key}")
def save(request: Request, key: str, fields: Form) -> Response:
    found = source_entry(request, key)
    values = parse_form(FORMS[found.kind], fields)
    if fault := _variable_errors(request, values, found.written):
        return _form(request, found.kind, values, FormErrors(fault), 422, found)
    change = set_entry(found.kind, found.source.name, values, fields.get("seen") or None)
    details = {name: value for name, value in values.items() if value != found.written.get(name)}
    try:
        undo = write(request, lambda path: edit(path, change), "source.change", key, details)
    except (NewsportalError, OSError) as error:
        current = source_entry(request, key).written if isinstance(error, EntryChanged) else None
        return _form(request, found.kind, values, form_errors(request, error, found.kind, found.place, current), status_of(error), found)
    after = f"{found.source.family}:{name_of(found.kind, {**found.written, **values})}"
    text = _("%(name)s was saved.") if undo else _("There were no changes.")
    return notify(request, start_trial(request, after, source_path(after)), text, name=values["name"], undo=undo)


@router.post("/sources/{key}/enable")
def enable(request: Request, key: str, fields: Form) -> Response:
    found = source_entry(request, key)
    on = bool(fields.get("enabled"))
    change = set_entry(found.kind, found.source.name, {"enabled": None if on else False})
    text = _("%(name)s was enabled.") if on else _("%(name)s was disabled.")
    action, target = "source.enable" if on else "source.disable", fields.get("next") or "/sources"
    return apply_change(request, change, action, key, target, text, name=found.source.name)


@router.post("/sources/{key}/delete")
def delete(request: Request, key: str) -> Response:
    found = source_entry(request, key)
    change = drop_entry(found.kind, found.source.name)
    text = _("%(name)s was removed; its articles stay.")
    return apply_change(request, change, "source.delete", key, "/sources", text, found.written, name=found.source.name)


@router.post("/sources/undo/{version}/{digest}")
def undo(request: Request, version: str, digest: str) -> Response:
    """Undo the change that replaced ``version`` by a file with this ``digest``."""
    kept = next((one for one in versions(path_of(request).resolve()) if one.id == version), None)
    if kept is None:
        return notify(request, "/sources/versions", FILE_CHANGED)
    try:
        undo = restore_version(request, kept, digest, "sources.undo")
    except (OtherKeys, *WRITE_ERRORS) as error:
        return redirect_with(request, "/sources/versions", failure_of(request, error))
    return notify(request, "/sources", _("The change was undone."), undo=undo)


def _variable_errors(request: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, str]:
    if Visit(request).may("administer"):
        return {}
    return dict.fromkeys(new_variables(values, before), Visit(request).say(VARIABLES))


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values without ``None`` and empty parts, for a new entry."""
    kept = {key: without_empty(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}


def form_errors(request: Request, error: Exception, kind: str, place: int, current: Mapping[str, Any] | None = None) -> FormErrors:
    """Return why the entry ``kind[place]`` was not saved. ``current``: the entry as another editor has saved it meanwhile."""
    visit = Visit(request)
    if isinstance(error, SourcesError):
        return FormErrors(*by_field(error.problems, kind, place, visit.clock.words))
    if isinstance(error, EntryChanged) and current is not None:
        return FormErrors({}, (visit.say(CHANGED_MEANWHILE),), current)
    return FormErrors({}, (failure_of(request, error),))


def _form(
    request: Request, kind: str, values: Mapping[str, Any], mistakes: FormErrors = NONE, status: int = 200, found: SourceEntry | None = None
) -> Response:
    visit = Visit(request)
    seen = mistakes.now if mistakes.now is not None else found.written if found else None
    return render(
        request, "source.html", status, kind=kind, kind_name=visit.say(KINDS[kind]),
        groups=[(name, [field_view(field, values, mistakes) for field in fields]) for name, fields in FORMS[kind]],
        topic_names=[topic.name for topic in config_of(request).topics], others=mistakes.others, faults=len(mistakes.fields), found=found,
        seen=entry_digest(seen) if seen is not None else "", file=path_of(request),
        **(_health_values(visit, found) if found and status == 200 else {"health": None}),
    )  # fmt: skip


def field_view(field: Field, values: Mapping[str, Any], mistakes: FormErrors) -> FieldView:
    value = field_text(field, values)
    now = field_text(field, mistakes.now) if mistakes.now is not None else value
    other = None if now == value else now if isinstance(now, str) else ", ".join(now)
    return FieldView(field, value, mistakes.fields.get(field.key), other)


def _health_values(visit: Visit, found: SourceEntry) -> dict[str, Any]:
    """Return the source's health, its last visits, its entries of the last days, and the hub pages it follows, for the template."""
    portal = visit.portal
    named = [one for one in portal.sources if one.key == found.source.key]
    if not named:
        return {"health": None}
    (judgement,) = judged(portal.store, named, visit.clock.local(visit.clock.now))
    return {
        "health": judgement.health,
        **health_texts(judgement, visit),
        "line": bar_chart_path(judgement.days),
        "days": judgement.days,
        "visits": portal.store.visits.recent([found.source.key], each=VISITS_SHOWN).get(found.source.key, ()),
        "hubs": [
            (url, page.found, datetime.fromtimestamp(page.asked, UTC))
            for url, page in portal.store.source_state(found.source.key).hubs.items()
            if page.asked
        ],
    }
