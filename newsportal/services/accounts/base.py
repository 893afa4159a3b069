"""People, their rights, and who is signed in; the secrets of sessions and tokens (256 bits, so that a fast digest is enough)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, Literal

SECRET_BYTES = 32
ID_BYTES = 10  # twenty characters
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that are taken for one another when a password is typed from a screen: i, l, o, 0, 1."""

PASSWORD_CHARS = 20  # 31 letters each: 99 bits


def random_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def random_id() -> str:
    return secrets.token_hex(ID_BYTES)


def random_password() -> str:
    """In groups of five, to be read and typed."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(PASSWORD_CHARS))
    return "-".join(letters[place : place + 5] for place in range(0, PASSWORD_CHARS, 5))


def digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Right(StrEnum):
    READ = "read"  # reading and searching: anybody's

    KEEP = "keep"  # what is kept for a person: marks, saved searches, alerts, tokens

    WATCH = "watch"  # how the portal does: health of sources, runs, queues, what is published elsewhere

    EDIT = "edit"  # sources, topics, articles, models

    ADMINISTER = "administer"  # people, everybody's tokens, the log of changes


class Role(StrEnum):
    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.READER: frozenset({Right.READ, Right.KEEP}),
    Role.EDITOR: frozenset({Right.READ, Right.KEEP, Right.WATCH, Right.EDIT}),
    Role.ADMIN: frozenset(Right),
}

Way = Literal["session", "token", "command"]  # how somebody came: through a browser, with a token, or on the machine itself by a command


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a name and a password. ``disabled``: may not sign in, and no session or token counts."""

    id: str
    name: str
    role: Role
    created: datetime
    disabled: bool = False

    @property
    def rights(self) -> frozenset[Right]:
        return RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class Signed:
    """Who asks. ``rights``: what he may, by ``way``: those of his role in a session, those that a token was given (never more).

    ``by`` names the session (its digest) or the token (its id).
    """

    person: Person
    rights: frozenset[Right]
    way: Literal["session", "token"]
    by: str = ""

    def may(self, right: Right) -> bool:
        return right in self.rights


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in. ``digest`` names it, and is of no use to anybody who wants in."""

    digest: str
    begun: datetime
    seen: datetime
    address: str
    agent: str


@dataclass(frozen=True, slots=True)
class Token:
    """A program's way in. ``expires`` None: never; ``used`` None: never yet, else to some minutes."""

    id: str
    person_id: str
    name: str
    rights: frozenset[Right]
    created: datetime
    expires: datetime | None
    used: datetime | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log of changes. ``person``: his name as it was. ``thing``: what was changed, by key or id."""

    seq: int
    at: datetime
    person: str = field(metadata={"description": "Empty for a command on the machine."})
    way: Way
    action: str
    thing: str
    details: Mapping[str, Any]
    address: str
