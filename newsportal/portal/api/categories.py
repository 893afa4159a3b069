"""Categories: the built-in ones, with their settings in ``sources.yaml``, and those added there."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from newsportal.portal.access import EDIT, ApiError, describe
from newsportal.portal.api.paging import change_sources, fill
from newsportal.portal.api.topics import Words
from newsportal.portal.desk.sources_yaml import config_of, path_of
from newsportal.sources.categories import LIST, CategoryRow, drop_category, list_categories, put_category, values_of
from newsportal.sources.changing import entry_digest, entry_of

router = APIRouter(tags=["Topics"], dependencies=EDIT)


class CategoryIn(BaseModel):
    name: str | None = Field(None, description="A new name; null: unchanged.", max_length=100)
    words: Words = Field([], description="Words that are nearly decisive.")
    hints: Words = Field([], description="Words that only suggest it.")
    enabled: bool = Field(True, description="False: the lexicon does not assign it.")
    digest: str | None = Field(None, description="Refuse (409) if it was changed since this was read.")


class CategoryOut(BaseModel):
    name: str
    packaged: int | None = Field(description="Number of built-in words; null: a category of your own.")
    words: list[str]
    hints: list[str]
    enabled: bool
    digest: str | None = Field(description="Digest of its entry in sources.yaml, to be sent with a change; null: there is none.")


@router.get("/categories/settings", summary="The categories, with their settings in sources.yaml")
def list_category_settings(request: Request) -> list[CategoryOut]:
    content = path_of(request).read_bytes()
    return [_category_out(row, content) for row in list_categories(config_of(request).categories)]


@router.put("/categories/settings/{name}", summary="Add a category, or change its settings", responses=describe(409))
def save_category(request: Request, name: str, body: CategoryIn) -> CategoryOut:
    """After a change of name the sources that use it follow; built-in categories keep their names."""
    existing = next((row for row in list_categories(config_of(request).categories) if row.name == name), None)
    after = (body.name or name).strip()
    if existing is not None and existing.packaged is not None and after != name:
        raise ApiError(409, "fixed-name", f"{name} comes with newsportal: its name is fixed.", "Add a category of your own.")
    values = values_of(after, body.words, body.hints, enabled=body.enabled)
    before = name if existing is not None and existing.configured is not None else None
    change_sources(request, put_category(values, before, body.digest), "category.change" if existing else "category.add", after, values)
    saved = next(row for row in list_categories(config_of(request).categories) if row.name == after)
    return _category_out(saved, path_of(request).read_bytes())


@router.delete("/categories/settings/{name}", summary="Remove a category from sources.yaml", status_code=204, responses=describe(404))
def delete_category(request: Request, name: str, digest: str | None = None) -> None:
    """A built-in category gets its default settings, a category of your own is deleted; stored articles keep it."""
    change_sources(request, drop_category(name, digest), "category.delete", name, {})


def _category_out(row: CategoryRow, content: bytes) -> CategoryOut:
    found = entry_of(content, LIST, row.name)
    entry = row.configured
    words, hints = (list(entry.words), list(entry.hints)) if entry else ([], [])
    return fill(CategoryOut, row, words=words, hints=hints, digest=entry_digest(found[1]) if found else None)
