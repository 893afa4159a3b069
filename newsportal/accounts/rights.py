"""Who may do what: a role is a set of rights, and every page, change and answer of the portal asks for one right."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Right(StrEnum):
    """What a page asks for."""

    READ = "read"
    """Reading and searching: anybody's."""

    KEEP = "keep"
    """What is kept for a person: marks, saved searches, alerts, tokens."""

    WATCH = "watch"
    """How the portal does: health of sources, runs, queues, what is published elsewhere."""

    EDIT = "edit"
    """Sources, topics, articles, models."""

    ADMINISTER = "administer"
    """People, everybody's tokens, the log of changes."""


class Role(StrEnum):
    """What a person is."""

    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.READER: frozenset({Right.READ, Right.KEEP}),
    Role.EDITOR: frozenset({Right.READ, Right.KEEP, Right.WATCH, Right.EDIT}),
    Role.ADMIN: frozenset(Right),
}
