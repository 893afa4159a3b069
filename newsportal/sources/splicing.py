"""Apply a change of one entry to its own lines only: in a file of 5,000 sources, one is parsed with its comments rather than all.

Parsing with comments takes two milliseconds per entry; and lines that are not parsed are preserved to the byte. Unsupported cases
(lists in one line, anchors, unusual line ends) are left to the caller, which edits the whole file.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ruamel.yaml.comments import CommentedMap

from newsportal.sources.building import Tree, Unreadable, read
from newsportal.sources.places import Forum

ODD_BREAKS = re.compile("[\r\x85\u2028\u2029]")  # characters that YAML treats as line ends besides the usual one


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change of the entry ``name`` of the list ``kind``, which ``whole`` applies to a document; a new entry has no name yet."""

    way: Literal["set", "drop", "append"]
    kind: str
    name: str
    whole: Callable[[CommentedMap], None]

    def __call__(self, document: CommentedMap) -> None:
        self.whole(document)


def name_of(kind: str, entry: Mapping[str, Any]) -> str:
    """Return the name of an entry as the models do: forums without name are named by their host."""
    name = entry.get("name")
    if name is None and kind == "forums" and isinstance(entry.get("url"), str):
        name = Forum.default_name(entry["url"])
    return unicodedata.normalize("NFC", str(name)).strip()


def splice(text: str, tree: Tree, change: EntryChange, edit: Callable[[str], str]) -> str | None:
    """Return ``text`` with the change, which ``edit`` applies to a small document; ``None``: edit the whole. Raises its errors."""
    entries = tree.value.get(change.kind) if isinstance(tree.value, dict) else None
    if not isinstance(entries, list) or not entries or ODD_BREAKS.search(text) or tree.mistakes:
        return None
    indices = (index for index, entry in enumerate(entries) if isinstance(entry, dict) and name_of(change.kind, entry) == change.name)
    index = len(entries) - 1 if change.way == "append" else next(indices, None)
    lines = text.split("\n")
    span = _span(tree, change.kind, index, lines) if index is not None else None
    if index is None or span is None or (change.way == "drop" and len(entries) == 1):
        return None
    start, end = span
    part = "\n".join([f"{change.kind}:", *lines[start:end]])
    part = part if part.endswith("\n") or end < len(lines) else f"{part}\n"
    new = edit(part).removesuffix("\n").split("\n")[1:]  # raises the errors of the change
    if change.way == "drop":
        new, rest = [], lines[start + _content(lines[start:end]) :]
    else:
        rest = lines[end:] if end < len(lines) else [""] if lines[-1] == "" else []
    after = "\n".join([*lines[:start], *new, *rest])
    return after if _changes_only(tree.value, after, change, index) else None


def _span(tree: Tree, kind: str, index: int, lines: list[str]) -> tuple[int, int] | None:
    """Return the line range of an entry (from 0, end excluded), with the comments after it; ``None`` if it shares a line with others."""
    begins = [tree.lines.get((kind, number), 0) - 1 for number in (index, index + 1)]
    later = [line - 1 for path, line in tree.lines.items() if len(path) == 1 and line - 1 > begins[0]]
    end = begins[1] if begins[1] >= 0 else min(later, default=len(lines))
    if begins[0] <= tree.lines.get((kind,), 1) - 1 or not lines[begins[0]].lstrip().startswith("- "):
        return None
    if end < len(lines) and begins[1] >= 0 and not lines[end].lstrip().startswith("- "):
        return None
    return (begins[0], end) if end > begins[0] else None


def _content(lines: list[str]) -> int:
    """Return the number of lines without trailing blank lines and comments."""
    count = len(lines)
    while count > 1 and (not lines[count - 1].strip() or lines[count - 1].lstrip().startswith("#")):
        count -= 1
    return count


def _changes_only(before: Mapping[str, Any], after: str, change: EntryChange, index: int) -> bool:
    """Return whether ``after`` differs from ``before`` only in the entry at ``index``."""
    try:
        found = read(after.encode()).value
    except Unreadable:
        return False
    if not isinstance(found, dict) or not isinstance(found.get(change.kind), list):
        return False
    old, new = list(before[change.kind]), list(found[change.kind])
    if change.way == "append":
        same = old == new[:-1]
    elif change.way == "drop":
        same = old[:index] + old[index + 1 :] == new
    else:
        same = len(old) == len(new) and old[:index] == new[:index] and old[index + 1 :] == new[index + 1 :]
    return same and {**before, change.kind: None} == {**found, change.kind: None}
