"""How values are shown in messages: short, with their kind, without secrets."""

from __future__ import annotations

from collections.abc import Iterable

from newsportal.messages import Message, Value
from newsportal.sources.uris import mask

MAX_SHOWN_CHARS = 80
MAX_LISTED = 24  # a longer list of allowed words hides the message


def listed(words: Iterable[str]) -> Value:
    """``a, b, c``; a long list is cut, and says how many more there are."""
    names = list(words)
    first = ", ".join(names[:MAX_LISTED])
    return Message("value.more", names=first, number=len(names) - MAX_LISTED) if len(names) > MAX_LISTED else first


def shown(value: object) -> Value:
    """A value from the file as a message shows it: short, with its kind, without secrets and terminal escapes."""
    if value is None:
        return Message("value.nothing")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return Message("value.mapping")
    if isinstance(value, list | tuple):
        return Message("value.list")
    if isinstance(value, int | float):
        return Message("value.number", number=str(value))
    text = mask(str(value))
    return repr(text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…")
