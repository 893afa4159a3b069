"""``/categories``: the categories of articles, with additional words from ``sources.yaml``. ``/methods``: the default methods of
extraction, folding and recommendation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from fastapi import APIRouter, Request, Response

from newsportal.errors import NewsportalError, SourcesError
from newsportal.portal.access import ADMINISTER, EDIT, or_404
from newsportal.portal.context import Visit, VisitDep
from newsportal.portal.desk.source_fields import EXTRACTOR, Field, Group
from newsportal.portal.desk.source_fields import parse_form as form_values
from newsportal.portal.desk.source_form import CHANGED_MEANWHILE, NONE, FormErrors, field_view, form_errors
from newsportal.portal.desk.sources_yaml import WRITE_ERRORS, apply_change, config_of, failure_of, path_of, status_of, write
from newsportal.portal.language import _
from newsportal.portal.render import notify, render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import problem_text
from newsportal.sources import edit
from newsportal.sources.building import read
from newsportal.sources.categories import LIST, CategoryRow, NameTaken, drop_category, list_categories, put_category, values_of
from newsportal.sources.changing import EntryChanged, entry_digest, entry_of, set_keys
from newsportal.sources.methods import Duplicates
from newsportal.sources.parts import Part, Recommending
from newsportal.sources.values import keywords

router = APIRouter(dependencies=EDIT)

RENAMING: Final = _("Sources that use it get its new name; stored articles keep the old one.")
NAME: Final = Field("name", _("Name of the category"), "text", RENAMING, required=True)
COMMON_FIELDS: Final = (
    Field("words", _("Strong words"), "lines", _("One per line or separated by commas; at least two characters each.")),
    Field("hints", _("Weak words"), "lines", _("Several of them are needed to decide.")),
    Field("enabled", _("In use"), "switch", _("If off, the lexicon never assigns it."), usual=True),
)


@router.get("/categories")
def categories(request: Request, visit: VisitDep) -> Response:
    sources = visit.portal.config
    rows = list_categories(sources.categories)
    return render(request, "categories.html", categories=rows, counts=visit.portal.tally().by_category, config=sources)


@router.get("/categories/new")
def new_category(request: Request) -> Response:
    return _form(request, None, {})


@router.post("/categories/new")
def add_category(request: Request, fields: Form) -> Response:
    return _save(request, None, fields)


@router.get("/categories/{name}/edit")
def edit_category(request: Request, name: str) -> Response:
    return _form(request, _find_category(request, name), _entry(request, name) or {"name": name})


@router.post("/categories/{name}/edit")
def save_category(request: Request, name: str, fields: Form) -> Response:
    return _save(request, _find_category(request, name), fields)


@router.post("/categories/{name}/drop")
def delete_category(request: Request, name: str, fields: Form) -> Response:
    """Reset a built-in category, or delete one of your own."""
    row = _find_category(request, name)
    text = _("The category %(name)s was removed; articles keep it.") if row.packaged is None else _("%(name)s was reset to its defaults.")
    change = drop_category(name, fields.get("digest") or None)
    return apply_change(request, change, "category.delete", name, "/categories", text, _entry(request, name), name=name)


def _save(request: Request, row: CategoryRow | None, fields: Form) -> Response:
    """Save a category. A built-in one keeps its name, because another name would create a second category."""
    name = row.name if row is not None and row.packaged is not None else fields.get("name", "").strip()
    values = values_of(name, keywords(fields.get("words", "")), keywords(fields.get("hints", "")), enabled=bool(fields.get("enabled")))
    former = row.name if row is not None and row.configured is not None else None
    names = [entry.name for entry in config_of(request).categories]
    position = names.index(former) if former is not None else len(names)
    change = put_category(values, former, fields.get("digest") or None)
    try:
        undo = write(request, lambda path: edit(path, change), "category.change" if row else "category.add", name, values)
    except (NewsportalError, OSError) as error:
        return _form(request, row, values, _form_errors(request, error, position, row), status_of(error))
    return notify(request, "/categories", _("The category %(name)s was saved."), name=name, undo=undo)


def _form_errors(request: Request, error: Exception, place: int, row: CategoryRow | None) -> FormErrors:
    if isinstance(error, NameTaken):
        return FormErrors({"name": Visit(request).say("A category with this name already exists.")})
    errors = form_errors(request, error, LIST, place, _entry(request, row.name) if row is not None else None)
    return replace(errors, fields={"name" if key == LIST else key: text for key, text in errors.fields.items()})


def _form(request: Request, row: CategoryRow | None, values: Mapping[str, Any], errors: FormErrors = NONE, status: int = 200) -> Response:
    fields: Sequence[Field] = COMMON_FIELDS if row is not None and row.packaged is not None else (NAME, *COMMON_FIELDS)
    entry = errors.current if errors.current is not None else _entry(request, row.name) if row is not None else None
    return render(
        request, "category.html", status, category=row, fields=[field_view(field, values, errors) for field in fields],
        errors=errors.general, field_errors=len(errors.fields), file=path_of(request), digest="" if entry is None else entry_digest(entry),
    )  # fmt: skip


def _find_category(request: Request, name: str) -> CategoryRow:
    return or_404(next((row for row in list_categories(config_of(request).categories) if row.name == name), None))


def _entry(request: Request, name: str) -> dict[str, Any] | None:
    found = entry_of(path_of(request).read_bytes(), LIST, name)
    return found[1] if found else None


methods_router = APIRouter(dependencies=ADMINISTER)


def _choices(model: type[Part]) -> tuple[str, ...]:
    return get_args(model.model_fields["method"].annotation)


FORM: Final[tuple[Group, ...]] = (
    (_("What is read"), (replace(EXTRACTOR[0], hint=_("Empty: best.")), *EXTRACTOR[1:])),
    (_("Detection of reposts"), (
        Field("duplicates.method", _("Method for folding articles"), "choice",
              _("Empty: judge. With title_index, reposts are not even fetched."), choices=_choices(Duplicates)),
        Field("duplicates.theta", _("feature_string, cosine: minimum similarity of two articles (θ)"), "number"),
        Field("duplicates.days", _("Number of days of articles to compare"), "number", _("Not with judge.")),
    )),
    (_("What is recommended"), (
        Field("recommendation.enabled", _("Record readers' views and recommend stories"), "switch", usual=True),
        Field("recommendation.method", _("Method of recommendation"), "choice",
              _("Empty: best, which weighs all signals by the log."), choices=_choices(Recommending)),
        Field("recommendation.alpha", _("paper: share of a story's pictures from which it is liked (α)"), "number"),
        Field("recommendation.lambda", _("paper: how interest fades with age (λ)"), "number"),
        Field("recommendation.unit", _("paper: ages are counted in"), "choice", choices=("hours", "days")),
    )),
)  # fmt: skip

KEYS: Final = tuple(dict.fromkeys(field.key.partition(".")[0] for _name, fields in FORM for field in fields))


@methods_router.get("/methods")
def methods(request: Request) -> Response:
    return _methods_form(request, _written(request))


@methods_router.post("/methods")
def save_methods(request: Request, fields: Form) -> Response:
    values, visit = form_values(FORM, fields), Visit(request)
    change = set_keys(values, fields.get("digest") or None)
    try:
        undo = write(request, lambda path: edit(path, change), "sources.methods", details=values)
    except SourcesError as error:
        keys = {field.key for _name, group in FORM for field in group}
        texts = {problem.key: problem_text(problem, visit.clock.words) for problem in error.problems}
        errors = {key if key in keys else f"{key}.method": text for key, text in texts.items() if key.partition(".")[0] in KEYS}
        others = [f"{key}: {text}" for key, text in texts.items() if key.partition(".")[0] not in KEYS]
        return _methods_form(request, values, FormErrors(errors, others), 422)
    except EntryChanged:
        return _methods_form(request, values, FormErrors({}, (visit.say(CHANGED_MEANWHILE),), _written(request)), 409)
    except WRITE_ERRORS as error:
        return _methods_form(request, values, FormErrors({}, (failure_of(request, error),)), 503)
    text = _("The methods were saved; they apply from the next visit.") if undo else _("There were no changes.")
    return notify(request, "/methods", text, undo=undo)


def _written(request: Request) -> Mapping[str, Any]:
    """Return the form's keys as they are in the file."""
    content = read(path_of(request).read_bytes()).value
    return {key: content[key] for key in KEYS if content.get(key) is not None} if isinstance(content, dict) else {}


def _methods_form(request: Request, values: Mapping[str, Any], errors: FormErrors = NONE, status: int = 200) -> Response:
    groups = [(name, [field_view(field, values, errors) for field in fields]) for name, fields in FORM]
    return render(
        request, "methods.html", status, groups=groups, errors=errors.general, field_errors=len(errors.fields),
        digest=entry_digest(_written(request)), file=path_of(request),
    )  # fmt: skip
