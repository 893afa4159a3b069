"""How values are shown in messages: short, with their kind, without secrets."""

from __future__ import annotations

from collections.abc import Iterable

from newsportal.sources.uris import mask

MAX_SHOWN_CHARS = 80
MAX_LISTED = 24  # a longer list of allowed words hides the message


def listed(words: Iterable[str]) -> str:
    """``a, b, c``; a long list is cut, and says how many more there are."""
    names = list(words)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def shown(value: object) -> str:
    """A value from the file as a message shows it: short, with its kind, without secrets and terminal escapes."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping (key: value)"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int | float):
        return f"the number {value}"
    text = mask(str(value))
    return repr(text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…")
