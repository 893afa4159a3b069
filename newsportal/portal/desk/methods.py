"""``/methods``: how all articles are read, folded and recommended, where no source chooses otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from fastapi import APIRouter, Request, Response

from newsportal.errors import SourcesError
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import EXTRACTOR, Field, Group, values_of
from newsportal.portal.desk.source_form import MEANWHILE, NONE, Mistakes, field_view
from newsportal.portal.desk.sources_yaml import NOT_WRITTEN, failure_of, path_of, write
from newsportal.portal.language import _
from newsportal.portal.notices import notify
from newsportal.portal.render import render
from newsportal.portal.request_body import Form
from newsportal.portal.wording import worded
from newsportal.services.accounts import Right
from newsportal.sources import edit
from newsportal.sources.changing import EntryChanged, entry_digest, set_keys
from newsportal.sources.methods import Duplicates
from newsportal.sources.parts import Part, Recommending
from newsportal.sources.reading import read

router = APIRouter(dependencies=[needs(Right.ADMINISTER)])


def _choices(model: type[Part]) -> tuple[str, ...]:
    return get_args(model.model_fields["method"].annotation)


FORM: Final[tuple[Group, ...]] = (
    (_("What is read"), EXTRACTOR),
    (_("What is taken for a repost"), (
        Field("duplicates.method", _("By what articles are folded"), "choice",
              _("Empty: judge. With title_index reposts are not fetched, either."), choices=_choices(Duplicates)),
        Field("duplicates.theta", _("feature_string, cosine: how alike two articles are at least (θ)"), "number"),
        Field("duplicates.days", _("How many days back they are compared"), "number", _("Not with judge.")),
    )),
    (_("What is recommended"), (
        Field("recommendation.enabled", _("Remember what readers look at, and recommend by it"), "switch", usual=True),
        Field("recommendation.method", _("By what stories are recommended"), "choice",
              _("Empty: best, all signals as the log teaches."), choices=_choices(Recommending)),
        Field("recommendation.alpha", _("paper: share of a story's pictures from which it is liked (α)"), "number"),
        Field("recommendation.lambda", _("paper: how interest fades with age (λ)"), "number"),
        Field("recommendation.unit", _("paper: ages are counted in"), "choice", choices=("hours", "days")),
    )),
)  # fmt: skip


KEYS: Final = tuple(dict.fromkeys(field.key.partition(".")[0] for _name, fields in FORM for field in fields))


@router.get("/methods")
def methods(request: Request) -> Response:
    return _form(request, _written(request))


@router.post("/methods")
def save(request: Request, fields: Form) -> Response:
    values, visit = values_of(FORM, fields), Visit(request)
    change = set_keys(values, fields.get("seen") or None)
    try:
        undo = write(request, lambda path: edit(path, change), "sources.methods", details=values)
    except SourcesError as error:
        known = {field.key for _name, group in FORM for field in group}
        found = {problem.key: worded(problem, visit.clock.words) for problem in error.problems}
        here = {key if key in known else f"{key}.method": text for key, text in found.items() if key.partition(".")[0] in KEYS}
        others = [f"{key}: {text}" for key, text in found.items() if key.partition(".")[0] not in KEYS]
        return _form(request, values, Mistakes(here, others), 422)
    except EntryChanged:
        return _form(request, values, Mistakes({}, (visit.say(MEANWHILE),), _written(request)), 409)
    except NOT_WRITTEN as error:
        return _form(request, values, Mistakes({}, (failure_of(request, error),)), 503)
    text = _("The methods were saved; they count from the next visit.") if undo else _("It was the same as before.")
    return notify(request, "/methods", text, undo=undo)


def _written(request: Request) -> Mapping[str, Any]:
    """The keys of the form as they stand in the file."""
    content = read(path_of(request).read_bytes()).value
    return {key: content[key] for key in KEYS if content.get(key) is not None} if isinstance(content, dict) else {}


def _form(request: Request, values: Mapping[str, Any], mistakes: Mistakes = NONE, status: int = 200) -> Response:
    groups = [(name, [field_view(field, values, mistakes) for field in fields]) for name, fields in FORM]
    return render(
        request, "methods.html", status, groups=groups, others=mistakes.others, faults=len(mistakes.fields),
        seen=entry_digest(_written(request)), file=path_of(request),
    )  # fmt: skip
