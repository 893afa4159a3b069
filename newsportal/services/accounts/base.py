"""People, roles, rights, sessions and tokens. Secrets have 256 bits, so that a fast digest is enough."""

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
"""Without letters that are easily confused when a password is typed from a screen: i, l, o, 0, 1."""

PASSWORD_CHARS = 20  # 31 letters each: 99 bits


def random_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def random_id() -> str:
    return secrets.token_hex(ID_BYTES)


def random_password() -> str:
    """Return a password in groups of five, easy to read and type."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(PASSWORD_CHARS))
    return "-".join(letters[place : place + 5] for place in range(0, PASSWORD_CHARS, 5))


def digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Right(StrEnum):
    READ = "read"  # read and search: everybody

    KEEP = "keep"  # personal data: marks, saved searches, alerts, tokens

    WATCH = "watch"  # state of the portal: health of sources, runs, queues, publishing

    EDIT = "edit"  # sources, topics, articles, models

    ADMINISTER = "administer"  # people, tokens of others, the audit log


class Role(StrEnum):
    READER = "reader"
    EDITOR = "editor"
    ADMIN = "admin"


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.READER: frozenset({Right.READ, Right.KEEP}),
    Role.EDITOR: frozenset({Right.READ, Right.KEEP, Right.WATCH, Right.EDIT}),
    Role.ADMIN: frozenset(Right),
}

Way = Literal["session", "token", "command"]  # how a person was authenticated: in a browser, by a token, or by a command on the machine


@dataclass(frozen=True, slots=True)
class Person:
    """A person with name and password. ``disabled``: may not sign in; sessions and tokens are invalid."""

    id: str
    name: str
    role: Role
    created: datetime
    disabled: bool = False

    @property
    def rights(self) -> frozenset[Right]:
        return RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class Identity:
    """The authenticated person. ``rights``: in a session those of the role, with a token those granted to it (never more). ``credential``:
    digest of the session, or id of the token."""

    person: Person
    rights: frozenset[Right]
    method: Literal["session", "token"]
    credential: str = ""

    def may(self, right: Right) -> bool:
        return right in self.rights


@dataclass(frozen=True, slots=True)
class Session:
    """A browser session. ``digest`` identifies it but cannot be used to sign in."""

    digest: str
    created: datetime
    last_seen: datetime
    address: str
    user_agent: str


@dataclass(frozen=True, slots=True)
class Token:
    """An API token. ``expires`` None: never; ``last_used`` None: never used, else accurate to some minutes."""

    id: str
    person_id: str
    name: str
    rights: frozenset[Right]
    created: datetime
    expires: datetime | None
    last_used: datetime | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit log. ``person``: the name at that time. ``subject``: key or id of the changed object."""

    seq: int
    at: datetime
    person: str = field(metadata={"description": "Empty for a command on the machine."})
    method: Way
    action: str
    subject: str
    details: Mapping[str, Any]
    address: str
