"""Changes of single entries of ``sources.yaml``, for :func:`newsportal.sources.edit`; comments of other entries are preserved."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark
from ruamel.yaml.tokens import CommentToken

from newsportal.errors import NewsportalError
from newsportal.sources.building import Unreadable, read
from newsportal.sources.editing import Change, add_following, cut_following, digest_of
from newsportal.sources.models import FAMILIES
from newsportal.sources.parts import Source
from newsportal.sources.places import ADDRESS_KEYS, PLACES
from newsportal.sources.splicing import EntryChange, name_of
from newsportal.sources.uris import VARIABLE


class NoEntry(NewsportalError):
    """Raised by a change whose entry is not in the file. The caller shows the current file."""


class EntryChanged(NewsportalError):
    """Raised by a change whose entry differs from what the user saw. The caller shows both."""


def set_entry(kind: str, name: str, values: Mapping[str, Any], digest: str | None = None) -> Change:
    """Set keys of the entry ``name`` in the list ``kind`` (``feeds`` …): ``None`` removes a key, a mapping is updated recursively. The
    change raises ``NoEntry``, and ``EntryChanged`` if its :func:`entry_digest` is not ``digest``."""

    def change(document: CommentedMap) -> None:
        _update(find_entry(document, kind, name, digest)[1], values)

    return EntryChange("set", kind, name, change)


def set_keys(values: Mapping[str, Any], digest: str | None = None) -> Change:
    """Set top-level keys (``extractor`` …), as :func:`set_entry` does. The change raises ``EntryChanged``."""

    def change(document: CommentedMap) -> None:
        current = {key: document[key] for key in values if document.get(key) is not None}
        if digest not in (None, entry_digest(current)):
            raise EntryChanged("someone else changed the same entry meanwhile; nothing was written")
        _update(document, values)

    return change


def drop_entry(kind: str, name: str, digest: str | None = None) -> Change:
    """Remove an entry with the comments inside it; those after it stay. The change raises the errors of :func:`set_entry`."""

    def change(document: CommentedMap) -> None:
        index, entry = find_entry(document, kind, name, digest)
        entries, following = document[kind], cut_following(entry)
        del entries[index]
        if index:
            add_following(entries, following, index - 1)
        elif entries:
            # Move comment lines before the first entry of the list ``kind``.
            if lines := [line.strip() for line in following.splitlines() if line.strip()]:
                tokens = document.ca.items.setdefault(kind, [None, None, None, None])
                column = CommentMark(max(0, document[kind].lc.col or 0))
                tokens[3] = [*_leading(document, kind), *(CommentToken(f"{line}\n", column, None) for line in lines)]
        else:
            following = "".join(token.value for token in _leading(document, kind)) + following
            document.ca.items.pop(kind, None)
            document[kind] = _flow_sequence(())
            add_following(document, following, kind)

    return EntryChange("drop", kind, name, change)


def combine(changes: Sequence[Change]) -> Change:
    """Combine changes into one that is applied atomically: an error of one is raised by the whole."""
    if len(changes) == 1:
        return changes[0]  # which may be applied to its own lines only

    def change(document: CommentedMap) -> None:
        for part in changes:
            part(document)

    return change


def references(document: CommentedMap, key: str, only: str, name: str, *, published: bool = True) -> Iterator[tuple[Any, Any]]:
    """Yield where entries (under ``key``) and publishing targets (under ``only``) refer to a topic or category: a list and an index, or a
    mapping and its key. ``published`` False: skip targets."""
    holders: list[tuple[Any, str]] = [(entry, key) for kind in PLACES for entry in document.get(kind) or () if isinstance(entry, dict)]
    targets = [entry.get("only") for entry in document.get("publish") or () if isinstance(entry, dict)] if published else []
    for holder, names in (*holders, *((target, only) for target in targets if isinstance(target, dict))):
        value = holder.get(names)
        if isinstance(value, str) and value.strip() == name:
            yield holder, names
        elif isinstance(value, list):
            yield from ((value, index) for index, item in enumerate(value) if isinstance(item, str) and item.strip() == name)


def entry_of(content: bytes, kind: str, name: str) -> tuple[int, dict[str, Any]] | None:
    """Return the index of an entry in its list, and its keys as written; ``None`` if it is missing or the file is unreadable."""
    try:
        entries = read(content).value.get(kind)
    except (Unreadable, AttributeError):
        return None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and name_of(kind, entry) == name:
            return index, entry
    return None


def entry_digest(entry: Mapping[str, Any]) -> str:
    """Return a digest of an entry's keys and values, regardless of comments and quotes."""
    return digest_of(json.dumps(entry, sort_keys=True, default=str).encode())


def new_variables(values: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Return the keys whose new values use environment variables (``${NAME}``) not used there before, that decide where the entry's
    credentials are sent, or that name a local folder.

    Only the operator knows the values in the environment: users who may edit URLs must not be able to send them to one.
    """
    signs_in = any(before.get(key) for key in ("headers", "cookies", "password"))
    sensitive = {"folder", *((*ADDRESS_KEYS, "imap", "preset", "verify_certificate") if signs_in else ())}
    changed = (key for key, value in values.items() if value != before.get(key))
    return [key for key in changed if key in sensitive or VARIABLE.search(json.dumps(values[key], default=str))]


def find_entry(document: CommentedMap, kind: str, name: str, digest: str | None = None) -> tuple[int, CommentedMap]:
    """Return the index of an entry in its list, and the entry. Raises the errors of :func:`set_entry`."""
    for index, entry in enumerate(document.get(kind) or ()):
        if isinstance(entry, CommentedMap) and name_of(kind, entry) == name:
            if digest not in (None, entry_digest(entry)):
                raise EntryChanged(f"{name!r} was changed by someone else meanwhile; nothing was written")
            return index, entry
    raise NoEntry(f"sources.yaml has no {name!r} under {kind} any more")


def _update(entry: CommentedMap, values: Mapping[str, Any]) -> None:
    following = cut_following(entry)
    for key, value in values.items():
        current = entry.get(key)
        if isinstance(value, Mapping) and isinstance(current, CommentedMap):
            _update(current, value)
            value = current or None
        elif isinstance(value, Mapping):
            value = {inner: item for inner, item in value.items() if item is not None} or None
        if value is None:
            _drop_key(entry, key)
        elif current != value or isinstance(current, bool) is not isinstance(value, bool):
            entry[key] = _flow_sequence(value) if isinstance(value, list | tuple) else value
    add_following(entry, following)


def _flow_sequence(values: Sequence[Any]) -> CommentedSeq:
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


def _drop_key(entry: CommentedMap, key: str) -> None:
    """Remove ``key``; comment lines after its value stay after the preceding key."""
    if key not in entry:
        return
    keys = list(entry)
    following, index = cut_following(entry, key), keys.index(key)
    del entry[key]
    entry.ca.items.pop(key, None)
    if index:
        add_following(entry, following, keys[index - 1])


def _leading(document: CommentedMap, kind: str) -> list[CommentToken]:
    return list((document.ca.items.get(kind) or [None] * 4)[3] or ())


Way = Literal["enable", "disable", "interval", "remove"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)


def change_many(way: Way, sources: Sequence[Source], minutes: float | str | None = None) -> Change:
    """Return a change that enables, disables or removes sources, or sets their interval to ``minutes`` (``None``: the schedule decides; an
    invalid text is refused when the file is checked). The change raises ``NoEntry`` if one of them is missing."""
    if way == "remove":
        return combine([drop_entry(FAMILIES[source.family], source.name) for source in sources])
    minutes = int(minutes) if isinstance(minutes, float) and minutes.is_integer() else minutes
    values = {"interval": minutes} if way == "interval" else {"enabled": None if way == "enable" else False}
    return combine([set_entry(FAMILIES[source.family], source.name, values) for source in sources])
