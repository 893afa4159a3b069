"""Accounts in a SQL database."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from importlib.resources import files
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Row, delete, insert, select, update

from newsportal.accounts.alerts import Alerts
from newsportal.accounts.base import Person, Signed
from newsportal.accounts.marks import Marks
from newsportal.accounts.rights import Role
from newsportal.accounts.searches import Searches
from newsportal.accounts.tables import PEOPLE, SESSIONS
from newsportal.errors import StoreError
from newsportal.storage.sql import schema
from newsportal.storage.sql.dialects import open_engine
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import writing as write

LINE = schema.Line("0003", files("newsportal.accounts") / "migrations", "accounts_version")

SECRET_BYTES = 32
IDLE = timedelta(days=14)
"""A session that nobody used for so long is over."""

LONGEST = timedelta(days=90)
"""And so is one this old, however much it is used."""

SEEN_EVERY = timedelta(minutes=5)
"""How exactly ``seen`` is kept: a write on every page would be in everybody's way."""


class Accounts:
    """May be shared between threads. Blocking calls. Errors are those of stores."""

    def __init__(self, uri: str) -> None:
        self._engine = open_engine(uri)
        schema.prepare(self._engine, LINE)
        self._hasher = PasswordHasher()
        self.alerts = Alerts(self._engine)
        self.marks = Marks(self._engine)
        self.searches = Searches(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    def add_person(self, name: str, password: str, role: Role, *, now: datetime) -> Person:
        """Raises ``StoreError`` for a name that is taken."""
        person = Person(secrets.token_hex(10), name, role, now)
        with write(self._engine) as connection:
            if connection.scalar(select(PEOPLE.c.id).where(PEOPLE.c.name == name)) is not None:
                raise StoreError(f"{name} is taken: choose another name")
            row = {"id": person.id, "name": name, "role": role, "password": self._hasher.hash(password), "created": now, "disabled": False}
            connection.execute(insert(PEOPLE).values(row))
        return person

    def people(self) -> list[Person]:
        with read(self._engine) as connection:
            return [_person(row) for row in connection.execute(select(PEOPLE).order_by(PEOPLE.c.name))]

    def checked(self, name: str, password: str) -> Person | None:
        """Who has this name and password; None if nobody, or if he is disabled. It takes as long for a name that does not exist."""
        with read(self._engine) as connection:
            row = connection.execute(select(PEOPLE).where(PEOPLE.c.name == name)).one_or_none()
        try:
            self._hasher.verify(row.password if row is not None else self._hasher.hash(secrets.token_hex()), password)
        except (VerificationError, InvalidHashError):
            return None
        return _person(row) if row is not None and not row.disabled else None

    def begin_session(self, person_id: str, *, now: datetime) -> str:
        """The secret for the cookie of a new session."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with write(self._engine) as connection:
            connection.execute(insert(SESSIONS).values(digest=_digest(secret), person_id=person_id, begun=now, seen=now))
        return secret

    def signed(self, secret: str, *, now: datetime) -> Signed | None:
        """Whose session ``secret`` is; None for none, one that is over, and one of a disabled person."""
        asked = select(PEOPLE, SESSIONS.c.begun, SESSIONS.c.seen).join(SESSIONS, SESSIONS.c.person_id == PEOPLE.c.id)
        with read(self._engine) as connection:
            row = connection.execute(asked.where(SESSIONS.c.digest == _digest(secret))).one_or_none()
        if row is None or row.disabled or now - row.seen > IDLE or now - row.begun > LONGEST:
            return None
        if now - row.seen > SEEN_EVERY:
            with write(self._engine) as connection:
                connection.execute(update(SESSIONS).where(SESSIONS.c.digest == _digest(secret)).values(seen=now))
        person = _person(row)
        return Signed(person, person.rights, "session")

    def end_session(self, secret: str) -> None:
        with write(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == _digest(secret)))


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _person(row: Row[Any]) -> Person:
    return Person(row.id, row.name, Role(row.role), row.created, row.disabled)
