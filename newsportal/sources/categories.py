"""The categories of articles: packaged ones, and those that ``sources.yaml`` changes or adds (``categories``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml.comments import CommentedMap

from newsportal.classify.lexicon import packaged
from newsportal.errors import NewsportalError
from newsportal.sources.changing import drop_entry, references, set_entry
from newsportal.sources.editing import Change, append_entry
from newsportal.sources.models import Sources
from newsportal.sources.parts import CategoryWords

LIST: Final = "categories"


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """A category. ``packaged``: number of packaged words; ``None``: a custom category. ``configured``: its entry in ``sources.yaml``."""

    name: str
    packaged: int | None
    configured: CategoryWords | None

    @property
    def enabled(self) -> bool:
        return self.configured is None or self.configured.enabled


class NameTaken(NewsportalError):
    """Raised by the change of :func:`put_category` for a new name that exists in the file. The caller shows it beside the name."""


def list_categories(configured: Sequence[CategoryWords]) -> list[CategoryRow]:
    """Return all categories, including disabled ones: packaged ones first, then custom ones."""
    custom = {entry.name: entry for entry in configured}
    counts = {category.name: sum(map(len, category.words.values())) for category in packaged()}
    found = [CategoryRow(name, number, custom.pop(name, None)) for name, number in counts.items()]
    return [*found, *(CategoryRow(entry.name, None, entry) for entry in custom.values())]


def names(sources: Sources | None, counted: Mapping[str, int]) -> list[str]:
    """Return the possible categories: those of articles (``counted``), the most frequent first, then the other enabled ones."""
    configured = sources.categories if sources is not None else ()
    used = sorted(counted, key=lambda name: (-counted[name], name))
    return list(dict.fromkeys((*used, *(row.name for row in list_categories(configured) if row.enabled))))


def values_of(name: str, words: Sequence[str], hints: Sequence[str], *, enabled: bool) -> dict[str, Any]:
    """Return the keys of an entry; ``None`` for defaults."""
    return {"name": name, "enabled": None if enabled else False, "words": list(words) or None, "hints": list(hints) or None}


def put_category(values: Mapping[str, Any], before: str | None = None, digest: str | None = None) -> Change:
    """Add an entry, or change the one named ``before``; sources and publishing targets that use it are renamed as well.

    ``digest`` is the :func:`newsportal.sources.changing.entry_digest` of the entry as displayed to the user. The change raises
    ``NoEntry``, ``EntryChanged`` and ``NameTaken``.
    """
    name = str(values.get("name", ""))
    if before is None:
        edit: Change = append_entry(LIST, {key: value for key, value in values.items() if value is not None})
    else:
        edit = set_entry(LIST, before, values, digest)
        if name == before:
            return edit

    def change(document: CommentedMap) -> None:
        if any(isinstance(entry, CommentedMap) and str(entry.get("name", "")).strip() == name for entry in document.get(LIST) or ()):
            raise NameTaken(f"sources.yaml has a category {name!r} already")
        edit(document)
        for names, key in references(document, "category", LIST, before) if before is not None else ():
            names[key] = name

    return change


def drop_category(name: str, digest: str | None = None) -> Change:
    """Remove a category's entry: a packaged one returns to its defaults, a custom one is deleted. Articles and sources keep its name."""
    return drop_entry(LIST, name, digest)
