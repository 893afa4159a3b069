"""Sources as people call them: by their names, with what kind each is; and back to the keys of stores and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from gettext import NullTranslations

from newsportal.portal.context import Portal
from newsportal.portal.language import _
from newsportal.portal.source_fields import FAMILIES, KINDS


def called(key: str, name: str, words: NullTranslations) -> str:
    """A source's name with its kind; a key of no known kind stays as it is."""
    kind = FAMILIES.get(key.partition(":")[0])
    return words.gettext(_("%(name)s (%(kind)s)")) % {"name": name, "kind": words.gettext(KINDS[kind])} if kind else key


def all_called(portal: Portal, words: NullTranslations) -> dict[str, str]:
    """Key → what it is called, in the order of the file."""
    return {one.key: called(one.key, one.name, words) for one in portal.sources}


def key_of(text: str | None, names: Mapping[str, str]) -> str | None:
    """The source that somebody means by what it is called, by its key or its name alone; what means none is taken for a key."""
    if text is None or text in names:
        return text
    typed = text.strip()
    same = (key for key, name in names.items() if name == typed)
    return next(same, None) or next((key for key in names if key.partition(":")[2] == typed), typed)
