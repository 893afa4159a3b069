"""``/categories``: the categories that articles may get, and the words of one's own that ``sources.yaml`` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from newsportal.errors import NewsportalError
from newsportal.portal.access import needs
from newsportal.portal.api_errors import or_404
from newsportal.portal.context import Here, Visit
from newsportal.portal.desk.source_fields import Field
from newsportal.portal.desk.source_form import NONE, Mistakes, field_view, mistakes_of
from newsportal.portal.desk.sources_yaml import apply, config_of, path_of, status_of, write
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import render
from newsportal.portal.request_body import Form
from newsportal.services.accounts import Right
from newsportal.sources import edit
from newsportal.sources.categories import LIST, CategoryRow, NameTaken, drop, list_categories, put, values_of
from newsportal.sources.changing import entry_digest, entry_of
from newsportal.sources.values import words

router = APIRouter(dependencies=[needs(Right.EDIT)])

NAME: Final = Field(
    "name", _("Name of the category"), "text", _("Sources that name it follow its new name; stored articles keep the old one."), needed=True
)
OWN: Final = (
    Field("words", _("Strong words"), "lines", _("One a line, or with commas; of two characters or more.")),
    Field("hints", _("Weak words"), "lines", _("Several of them together decide.")),
    Field("enabled", _("In use"), "switch", _("Otherwise the lexicon gives it to no article."), usual=True),
)


@router.get("/categories")
def categories(request: Request, visit: Here) -> Response:
    known = visit.portal.config
    found = list_categories(known.categories)
    return render(request, "categories.html", categories=found, counts=visit.portal.tally().by_category, known=known)


@router.get("/categories/new")
def new(request: Request) -> Response:
    return _form(request, None, {})


@router.post("/categories/new")
def add(request: Request, fields: Form) -> Response:
    return _save(request, None, fields)


@router.get("/categories/{name}/edit")
def category(request: Request, name: str) -> Response:
    return _form(request, _category_of(request, name), _entry(request, name) or {"name": name})


@router.post("/categories/{name}/edit")
def save(request: Request, name: str, fields: Form) -> Response:
    return _save(request, _category_of(request, name), fields)


@router.post("/categories/{name}/drop")
def take_out(request: Request, name: str, fields: Form) -> Response:
    """One that comes with newsportal is as it came, one of one's own is gone."""
    found = _category_of(request, name)
    text = _("The category %(name)s was removed; stored articles keep it.") if found.packaged is None else _("%(name)s is as it came.")
    change = drop(name, fields.get("seen") or None)
    return apply(request, change, "category.delete", name, "/categories", text, _entry(request, name), name=name)


def _save(request: Request, found: CategoryRow | None, fields: Form) -> Response:
    """Write a category. One that comes with newsportal keeps its name: under another one it would be two."""
    name = found.name if found is not None and found.packaged is not None else fields.get("name", "").strip()
    values = values_of(name, words(fields.get("words", "")), words(fields.get("hints", "")), enabled=bool(fields.get("enabled")))
    former = found.name if found is not None and found.configured is not None else None
    kept = [entry.name for entry in config_of(request).categories]
    place = kept.index(former) if former is not None else len(kept)
    change = put(values, former, fields.get("seen") or None)
    try:
        undo = write(request, lambda path: edit(path, change), "category.change" if found else "category.add", name, values)
    except (NewsportalError, OSError) as error:
        return _form(request, found, values, _mistakes(request, error, place, found), status_of(error))
    return notify(request, "/categories", _("The category %(name)s was saved."), name=name, undo=undo)


def _mistakes(request: Request, error: Exception, place: int, found: CategoryRow | None) -> Mistakes:
    if isinstance(error, NameTaken):
        return Mistakes({"name": Visit(request).say("There is a category of this name already.")})
    made = mistakes_of(request, error, LIST, place, _entry(request, found.name) if found is not None else None)
    return replace(made, fields={"name" if key == LIST else key: text for key, text in made.fields.items()})


def _form(request: Request, found: CategoryRow | None, values: Mapping[str, Any], mistakes: Mistakes = NONE, status: int = 200) -> Response:
    asked: Sequence[Field] = OWN if found is not None and found.packaged is not None else (NAME, *OWN)
    seen = mistakes.now if mistakes.now is not None else _entry(request, found.name) if found is not None else None
    return render(
        request, "category.html", status, found=found, fields=[field_view(field, values, mistakes) for field in asked],
        others=mistakes.others, faults=len(mistakes.fields), seen=entry_digest(seen) if seen is not None else "", file=path_of(request),
    )  # fmt: skip


def _category_of(request: Request, name: str) -> CategoryRow:
    return or_404(next((one for one in list_categories(config_of(request).categories) if one.name == name), None))


def _entry(request: Request, name: str) -> dict[str, Any] | None:
    """What the file says of the category."""
    found = entry_of(path_of(request).read_bytes(), LIST, name)
    return found[1] if found else None
