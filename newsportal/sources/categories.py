"""The categories of articles: those that come with newsportal, and what ``sources.yaml`` says of them and adds (``categories``)."""

from __future__ import annotations

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
    """A category. ``packaged``: how many words it brings; ``None``: it is one's own. ``configured``: its entry in ``sources.yaml``."""

    name: str
    packaged: int | None
    configured: CategoryWords | None

    @property
    def enabled(self) -> bool:
        return self.configured is None or self.configured.enabled


class NameTaken(NewsportalError):
    """Raised by the change of :func:`put` for a new name that the file has already. The caller says so beside the name."""


def list_categories(configured: Sequence[CategoryWords]) -> list[CategoryRow]:
    """All categories that the lexicon may give, and those that are switched off: first those that come with newsportal."""
    own = {one.name: one for one in configured}
    brought = {one.name: sum(map(len, one.words.values())) for one in packaged()}
    found = [CategoryRow(name, number, own.pop(name, None)) for name, number in brought.items()]
    return [*found, *(CategoryRow(one.name, None, one) for one in own.values())]


def names(sources: Sources | None, counted: Mapping[str, int]) -> list[str]:
    """What a category may be called: those that articles have (``counted``), the most frequent first, then those that may be given."""
    configured = sources.categories if sources is not None else ()
    there = sorted(counted, key=lambda name: (-counted[name], name))
    return list(dict.fromkeys((*there, *(one.name for one in list_categories(configured) if one.enabled))))


def values_of(name: str, words: Sequence[str], hints: Sequence[str], *, enabled: bool) -> dict[str, Any]:
    """The keys of an entry; ``None`` where the default says it."""
    return {"name": name, "enabled": None if enabled else False, "words": list(words) or None, "hints": list(hints) or None}


def put(values: Mapping[str, Any], before: str | None = None, seen: str | None = None) -> Change:
    """Write a new entry, or change the one that is called ``before``; sources and targets of publishing that name it follow its new name.

    ``seen`` is the :func:`newsportal.sources.changing.entry_digest` of what somebody saw. The change raises
    ``NoEntry``, ``EntryChanged`` and ``NameTaken``.
    """
    name = str(values.get("name", ""))
    if before is None:
        written: Change = append_entry(LIST, {key: value for key, value in values.items() if value is not None})
    else:
        written = set_entry(LIST, before, values, seen)
        if name == before:
            return written

    def change(document: CommentedMap) -> None:
        if any(isinstance(one, CommentedMap) and str(one.get("name", "")).strip() == name for one in document.get(LIST) or ()):
            raise NameTaken(f"sources.yaml has a category {name!r} already")
        written(document)
        for names, at in references(document, "category", LIST, before) if before is not None else ():
            names[at] = name

    return change


def drop(name: str, seen: str | None = None) -> Change:
    """Take out what the file says of a category: newsportal's own is as it came, another is gone. Articles and sources keep its name."""
    return drop_entry(LIST, name, seen)
