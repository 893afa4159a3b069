"""What differs, for readers: between the headlines of a story's versions, and between the states of an article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.editing.differences import Line, difference, in_line, is_same
from newsportal.portal.reading import title
from newsportal.store.results import StoredArticle, Story

MOST_HEADLINES: Final = 30
"""Headlines that are compared: more nobody reads."""

MOST_STATES: Final = 20
"""States of an article that are compared, the newest ones."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of an article, and what it changed. ``before`` ``None``: nothing is told of the one before it. ``title``, ``lines``: what
    differs, ``None`` where nothing does; ``dated``: whether it has another date."""

    now: StoredArticle
    before: StoredArticle | None
    title: Line | None = None
    lines: Sequence[Line] | None = None
    dated: bool = False


def headlines(story: Story, article: StoredArticle) -> list[tuple[StoredArticle, Line]]:
    """The other headlines of a story against that of ``article``, each once."""
    own, told = title(article), dict[str, StoredArticle]()
    for version in story.versions:
        told.setdefault(title(version), version)
    others = [version for words, version in told.items() if words != own][:MOST_HEADLINES]
    return [(version, in_line(own, title(version))) for version in others]


def states(article: StoredArticle, earlier: Sequence[StoredArticle]) -> list[State]:
    """All states, the newest first. What is too long to be compared in time is shown as a whole."""
    whole = (*earlier, article)[-MOST_STATES:]
    pairs = [(now, before) for before, now in zip((None, *whole), whole, strict=False)]
    return [_state(now, before) for now, before in reversed(pairs)]


def _state(now: StoredArticle, before: StoredArticle | None) -> State:
    if before is None:
        return State(now, None)
    names = in_line(title(before), title(now))
    lines = difference(before.text, now.text)
    return State(now, before, None if is_same([names]) else names, None if is_same(lines) else lines, now.published != before.published)
