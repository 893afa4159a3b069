"""People, and who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from newsportal.accounts.rights import RIGHTS, Right, Role


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
    """Who asks. ``rights``: what he may, by ``way``: those of his role in a session, those that a token was given (never more)."""

    person: Person
    rights: frozenset[Right]
    way: Literal["session", "token"]

    def may(self, right: Right) -> bool:
        return right in self.rights
