"""People: added, let in by their password, given another role, disabled, removed; and the log of changes: who did what, when, from where.

Nothing in the log is ever changed; it is kept as long as ``retention.log`` says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from threading import BoundedSemaphore
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, Engine, Row, delete, insert, select, update

from newsportal.errors import AccountError
from newsportal.services.accounts import tables
from newsportal.services.accounts.base import Entry, Person, Role, Signed, random_id, random_password
from newsportal.store.dialects import Part

FIRST = "admin"  # who is made at the first start
NAME = re.compile(r"\w(?:[\w.@+-]| (?! )){0,62}\w|\w")  # letters of any script, digits, and `. @ + - _`; blanks inside
LEAST_PASSWORD = 10
"""Characters. NIST SP 800-63B (2025), 3.1.1.2 asks for 8 where another factor stands beside, 15 where none does; a name and a bounded
number of tries stand beside ours, and a phrase of Chinese characters is short."""

MOST_PASSWORD = 1000
HASHED_AT_ONCE = 2  # Argon2 takes 64 MiB and 50 ms each: a flood of sign-ins must not take the machine's memory


class People(Part):
    """Errors are those of stores, and ``AccountError`` for what people can put right."""

    def __init__(self, engine: Engine, hasher: PasswordHasher | None = None) -> None:
        super().__init__(engine)
        self._hasher = hasher or PasswordHasher()
        self._room = BoundedSemaphore(HASHED_AT_ONCE)

    def add(self, name: str, password: str, role: Role, *, now: datetime) -> Person:
        """Raises ``AccountError`` for a name that is taken or cannot be one, and a password that is too short."""
        called = unicodedata.normalize("NFC", name).strip()
        if not NAME.fullmatch(called):
            raise AccountError("name")
        person, hashed = Person(random_id(), called, role, now), self._hashed(checked_password(password))
        with self._write() as connection:
            _add(connection, person, hashed)
        return person

    def first(self, *, now: datetime) -> tuple[Person, str] | None:
        """An administrator with a password of ours, where there is nobody yet; None else. Of several who ask at once, one gets it."""
        somebody = select(tables.PEOPLE.c.id).limit(1)
        if self._scalar(somebody) is not None:
            return None
        password = random_password()
        person, hashed = Person(random_id(), FIRST, Role.ADMIN, now), self._hashed(password)
        with self._write() as connection:
            if connection.scalar(somebody) is not None:
                return None
            _add(connection, person, hashed)
        return person, password

    def all(self) -> list[Person]:
        return [person_of(row) for row in self._rows(select(tables.PEOPLE).order_by(tables.PEOPLE.c.named))]

    def named(self, name: str) -> Person | None:
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.named == compared(name)))
        return person_of(row) if row is not None else None

    def get(self, person_id: str) -> Person | None:
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id))
        return person_of(row) if row is not None else None

    def checked(self, name: str, password: str) -> Person | None:
        """Who has this name and password; None if nobody, or if he is disabled. It takes as long for a name that does not exist."""
        nobody = self._placeholder_hash  # made with the first question, whoever it is about
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.named == compared(name)))
        hashed = row.password if row is not None else nobody
        try:
            with self._room:
                self._hasher.verify(hashed, password[:MOST_PASSWORD].encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return None
        if row is None or row.disabled:
            return None
        if self._hasher.check_needs_rehash(hashed):
            self._execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == row.id).values(password=self._hashed(password)))
        return person_of(row)

    def set_password(self, person_id: str, password: str, *, but: str | None = None) -> None:
        """Another password: all sessions of the person end, but the one of this digest, and all tokens."""
        hashed = self._hashed(checked_password(password))
        with self._write() as connection:
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(password=hashed))
            connection.execute(
                delete(tables.SESSIONS).where(tables.SESSIONS.c.person_id == person_id, tables.SESSIONS.c.digest != (but or ""))
            )
            connection.execute(delete(tables.TOKENS).where(tables.TOKENS.c.person_id == person_id))

    def set_role(self, person_id: str, role: Role) -> None:
        """Raises ``AccountError`` where nobody would be left to administer."""
        with self._write() as connection:
            if role is not Role.ADMIN:
                _keep_one(connection, person_id)
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(role=role))

    def disable(self, person_id: str, disabled: bool = True) -> None:
        """Let nobody in by this name: his sessions end, his tokens do not count. Raises as :meth:`set_role`."""
        with self._write() as connection:
            if disabled:
                _keep_one(connection, person_id)
                connection.execute(delete(tables.SESSIONS).where(tables.SESSIONS.c.person_id == person_id))
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(disabled=disabled))

    def remove(self, person_id: str) -> None:
        """With sessions, tokens and whatever was kept. What he changed stays in the log under his name. Raises as :meth:`set_role`."""
        with self._write() as connection:
            _keep_one(connection, person_id)
            his = select(tables.ALERTS.c.id).where(tables.ALERTS.c.person_id == person_id)
            connection.execute(delete(tables.MESSAGES).where(tables.MESSAGES.c.alert_id.in_(his)))
            for table in tables.METADATA.tables.values():
                if table is not tables.TRAIL and "person_id" in table.c:
                    connection.execute(delete(table).where(table.c.person_id == person_id))
            connection.execute(delete(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id))

    @cached_property
    def _placeholder_hash(self) -> str:
        """What the password of somebody who does not exist is compared with."""
        return self._hashed(random_password())

    def _hashed(self, password: str) -> str:
        with self._room:
            return self._hasher.hash(password.encode("utf-8", "surrogatepass"))


def compared(name: str) -> str:
    """``name`` as it is compared with others: 'Ａｄｍｉｎ ' is 'admin'."""
    return unicodedata.normalize("NFKC", name).strip().casefold()[:255]


def checked_password(password: str) -> str:
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise AccountError("password", least=LEAST_PASSWORD, most=MOST_PASSWORD)
    return password


def person_of(row: Row[Any]) -> Person:
    return Person(row.id, row.name, Role(row.role), row.created, bool(row.disabled))


def _add(connection: Connection, person: Person, hashed: str) -> None:
    named = compared(person.name)
    if connection.scalar(select(tables.PEOPLE.c.id).where(tables.PEOPLE.c.named == named)) is not None:
        raise AccountError("taken", name=person.name)
    connection.execute(insert(tables.PEOPLE).values(**asdict(person), named=named, password=hashed))


def _keep_one(connection: Connection, person_id: str) -> None:
    """Raises ``AccountError`` if nobody but this one can administer: the portal would be locked from inside."""
    admins = select(tables.PEOPLE.c.id).where(tables.PEOPLE.c.role == Role.ADMIN, tables.PEOPLE.c.disabled.is_(False))
    if set(connection.scalars(admins)) == {person_id}:
        raise AccountError("last")


class ChosenPreferences(Part):
    """What a person chose, so that it follows him from browser to browser: names and values, as the portal's cookies have them."""

    def of(self, person_id: str) -> dict[str, str]:
        row = self._row(select(tables.PREFERENCES.c.chosen).where(tables.PREFERENCES.c.person_id == person_id))
        return dict(row.chosen) if row else {}

    def keep(self, person_id: str, chosen: Mapping[str, str]) -> None:
        """Beside what was chosen before."""
        row = {"person_id": person_id, "chosen": {**self.of(person_id), **chosen}}
        self._upsert(tables.PREFERENCES, [row], update=("chosen",))


class Trail(Part):
    def add(
        self,
        who: Signed | None,
        action: str,
        thing: str = "",
        details: Mapping[str, Any] | None = None,
        *,
        now: datetime,
        address: str = "",
    ) -> None:
        """``who`` None: a command on the machine, or nobody yet. ``details``: what JSON can hold, without secrets."""
        row = {
            "at": now, "person_id": who.person.id if who else None, "person": who.person.name if who else "",
            "way": who.way if who else "command", "action": action[:tables.ACTION_CHARS], "thing": thing, "details": dict(details or {}),
            "address": address[:tables.ADDRESS_CHARS],
        }  # fmt: skip
        self._execute(insert(tables.TRAIL).values(row))

    def entries(
        self,
        *,
        before: int | None = None,
        person: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Entry]:
        """The newest first, those with a smaller ``seq`` than ``before``. ``action``: the whole name, or what it begins with and a dot."""
        query = select(tables.TRAIL).order_by(tables.TRAIL.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(tables.TRAIL.c.seq < before)
        if person is not None:
            query = query.where(tables.TRAIL.c.person == person)
        if action is not None:
            query = query.where((tables.TRAIL.c.action == action) | tables.TRAIL.c.action.startswith(f"{action}.", autoescape=True))
        if since is not None:
            query = query.where(tables.TRAIL.c.at >= since)
        rows = self._rows(query)
        return [Entry(row.seq, row.at, row.person, row.way, row.action, row.thing, row.details, row.address) for row in rows]

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete what was done before that moment; answers how many entries."""
        return self._delete_old(tables.TRAIL, tables.TRAIL.c.at < before, dry_run=dry_run)

    def actions(self) -> list[str]:
        """What was ever done, in the order of the alphabet."""
        return self._scalars(select(tables.TRAIL.c.action).distinct().order_by(tables.TRAIL.c.action))

    def names(self) -> list[str]:
        """Who ever changed something; a command has no name."""
        return self._scalars(select(tables.TRAIL.c.person).distinct().where(tables.TRAIL.c.person != "").order_by(tables.TRAIL.c.person))
