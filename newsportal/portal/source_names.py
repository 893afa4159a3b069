"""Sources as people call them: by their names, with what kind each is; and back to the keys of stores and addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from gettext import NullTranslations

from newsportal.portal.context import Portal
from newsportal.portal.language import _
from newsportal.portal.source_fields import FAMILIES, KINDS


def called(key: str, name: str, words: NullTranslations) -> str:
    """A source's name with its kind; a key of no known kind stays as it is."""
    family = FAMILIES.get(key.partition(":")[0])
    if family is None:
        return key
    kind = _("Search engine") if family == "engines" else KINDS[family]  # most engines are those that come with newsportal
    return words.gettext(_("%(name)s (%(kind)s)")) % {"name": name, "kind": words.gettext(kind)}


def all_called(portal: Portal, words: NullTranslations) -> dict[str, str]:
    """Key → what it is called, in the order of the file."""
    return {one.key: called(one.key, one.name, words) for one in portal.sources}


def calling(portal: Portal, words: NullTranslations) -> Callable[[str], str]:
    """Key → what it is called, also one that is no longer in the file: by what its key says."""
    names = all_called(portal, words)
    return lambda key: names.get(key) or called(key, key.partition(":")[2], words)


def key_of(text: str | None, names: Mapping[str, str]) -> str | None:
    """The source that somebody means by what it is called, by its key or its name alone; what means none is taken for a key."""
    if text is None or text in names:
        return text
    typed = text.strip()
    same = (key for key, name in names.items() if name == typed)
    return next(same, None) or next((key for key in names if key.partition(":")[2] == typed), typed)
