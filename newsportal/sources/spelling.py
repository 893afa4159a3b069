"""The nearest right spelling of a word that is not allowed."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from newsportal.messages import Message

NEAR = 0.6  # difflib's own default for "close"


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """The allowed word most like ``word`` (case, ``-`` and ``_`` do not count), or ``None`` when none is near."""
    plain = {_plain(name): name for name in allowed}
    near = get_close_matches(_plain(word), plain, n=1, cutoff=NEAR)
    return plain[near[0]] if near else None


def did_you_mean(word: object, allowed: Iterable[str]) -> Message | None:
    near = nearest(str(word), allowed)
    return Message("hint.near", near=repr(near)) if near else None


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_").strip()
