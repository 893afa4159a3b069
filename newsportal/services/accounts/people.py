"""People: add, check passwords, change role, disable, remove; and the audit log: who did what, when, from where.

Entries of the log are never changed; they are kept as long as ``retention.log`` says.
"""

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
from newsportal.services.accounts.base import AuditEntry, Identity, Person, Role, random_id, random_password
from newsportal.store.columns import build
from newsportal.store.dialects import Part

FIRST = "admin"  # name of the administrator created at the first start
NAME = re.compile(r"\w(?:[\w.@+-]| (?! )){0,62}\w|\w")  # letters of any script, digits, and `. @ + - _`; spaces inside
MIN_PASSWORD_CHARS = 10
"""Characters. NIST SP 800-63B (2025), 3.1.1.2 requires 8 with a second factor and 15 without; here tries are limited by name, and a phrase
of Chinese characters is short."""

MAX_PASSWORD_CHARS = 1000
HASHED_AT_ONCE = 2  # Argon2 takes 64 MiB and 50 ms each: many sign-ins must not exhaust the memory


class People(Part):
    """People of the portal. Raises the errors of stores, and ``AccountError`` for mistakes that the user can correct."""

    def __init__(self, engine: Engine, hasher: PasswordHasher | None = None) -> None:
        super().__init__(engine)
        self._hasher = hasher or PasswordHasher()
        self._hash_slots = BoundedSemaphore(HASHED_AT_ONCE)

    def add(self, name: str, password: str, role: Role, *, now: datetime) -> Person:
        """Add a person. Raises ``AccountError`` if the name is taken or invalid, or the password too short."""
        normalised = unicodedata.normalize("NFC", name).strip()
        if not NAME.fullmatch(normalised):
            raise AccountError("invalid-name")
        person, hashed = Person(random_id(), normalised, role, now), self._hashed(validate_password(password))
        with self._write() as connection:
            _add(connection, person, hashed)
        return person

    def add_first_admin(self, *, now: datetime) -> tuple[Person, str] | None:
        """Create an administrator with a random password if there is nobody yet, else return None. Concurrent calls create only one."""
        anyone = select(tables.PEOPLE.c.id).limit(1)
        if self._scalar(anyone) is not None:
            return None
        password = random_password()
        person, hashed = Person(random_id(), FIRST, Role.ADMIN, now), self._hashed(password)
        with self._write() as connection:
            if connection.scalar(anyone) is not None:
                return None
            _add(connection, person, hashed)
        return person, password

    def all(self) -> list[Person]:
        return [person_of(row) for row in self._rows(select(tables.PEOPLE).order_by(tables.PEOPLE.c.normalised_name))]

    def by_name(self, name: str) -> Person | None:
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.normalised_name == normalised_name(name)))
        return person_of(row) if row is not None else None

    def get(self, person_id: str) -> Person | None:
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id))
        return person_of(row) if row is not None else None

    def authenticate(self, name: str, password: str) -> Person | None:
        """Return the person with this name and password; None if there is none or the person is disabled. Unknown names take as long."""
        placeholder = self._placeholder_hash  # computed on the first call, for any name
        row = self._row(select(tables.PEOPLE).where(tables.PEOPLE.c.normalised_name == normalised_name(name)))
        hashed = row.password if row is not None else placeholder
        try:
            with self._hash_slots:
                self._hasher.verify(hashed, password[:MAX_PASSWORD_CHARS].encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return None
        if row is None or row.disabled:
            return None
        if self._hasher.check_needs_rehash(hashed):
            self._execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == row.id).values(password=self._hashed(password)))
        return person_of(row)

    def set_password(self, person_id: str, password: str, *, except_session: str | None = None) -> None:
        """Set a password, which ends the person's sessions except the one with the digest ``except_session``, and revokes all tokens."""
        hashed = self._hashed(validate_password(password))
        with self._write() as connection:
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(password=hashed))
            connection.execute(
                delete(tables.SESSIONS).where(tables.SESSIONS.c.person_id == person_id, tables.SESSIONS.c.digest != (except_session or ""))
            )
            connection.execute(delete(tables.TOKENS).where(tables.TOKENS.c.person_id == person_id))

    def set_role(self, person_id: str, role: Role) -> None:
        """Set the role. Raises ``AccountError`` if no administrator would remain."""
        with self._write() as connection:
            if role is not Role.ADMIN:
                _require_other_admin(connection, person_id)
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(role=role))

    def disable(self, person_id: str, disabled: bool = True) -> None:
        """Disable or enable a person: sessions end, tokens become invalid. Raises as :meth:`set_role`."""
        with self._write() as connection:
            if disabled:
                _require_other_admin(connection, person_id)
                connection.execute(delete(tables.SESSIONS).where(tables.SESSIONS.c.person_id == person_id))
            connection.execute(update(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id).values(disabled=disabled))

    def remove(self, person_id: str) -> None:
        """Remove a person with all sessions, tokens and personal data; entries of the audit log stay. Raises as :meth:`set_role`."""
        with self._write() as connection:
            _require_other_admin(connection, person_id)
            alert_ids = select(tables.ALERTS.c.id).where(tables.ALERTS.c.person_id == person_id)
            connection.execute(delete(tables.MESSAGES).where(tables.MESSAGES.c.alert_id.in_(alert_ids)))
            for table in tables.METADATA.tables.values():
                if table is not tables.AUDIT and "person_id" in table.c:
                    connection.execute(delete(table).where(table.c.person_id == person_id))
            connection.execute(delete(tables.PEOPLE).where(tables.PEOPLE.c.id == person_id))

    @cached_property
    def _placeholder_hash(self) -> str:
        """Hash compared with the password for an unknown name."""
        return self._hashed(random_password())

    def _hashed(self, password: str) -> str:
        with self._hash_slots:
            return self._hasher.hash(password.encode("utf-8", "surrogatepass"))


def normalised_name(name: str) -> str:
    """Normalise ``name`` for comparison: 'Ａｄｍｉｎ ' is 'admin'."""
    return unicodedata.normalize("NFKC", name).strip().casefold()[:255]


def validate_password(password: str) -> str:
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise AccountError("invalid-password", least=MIN_PASSWORD_CHARS, most=MAX_PASSWORD_CHARS)
    return password


def person_of(row: Row[Any]) -> Person:
    return Person(row.id, row.name, Role(row.role), row.created, bool(row.disabled))


def _add(connection: Connection, person: Person, hashed: str) -> None:
    folded = normalised_name(person.name)
    if connection.scalar(select(tables.PEOPLE.c.id).where(tables.PEOPLE.c.normalised_name == folded)) is not None:
        raise AccountError("name-taken", name=person.name)
    connection.execute(insert(tables.PEOPLE).values(**asdict(person), normalised_name=folded, password=hashed))


def _require_other_admin(connection: Connection, person_id: str) -> None:
    """Raise ``AccountError`` if this is the last administrator."""
    admins = select(tables.PEOPLE.c.id).where(tables.PEOPLE.c.role == Role.ADMIN, tables.PEOPLE.c.disabled.is_(False))
    if set(connection.scalars(admins)) == {person_id}:
        raise AccountError("last-administrator")


class SavedPreferences(Part):
    """Preferences of a person, available in every browser: names and values as in the portal's cookies."""

    def of(self, person_id: str) -> dict[str, str]:
        row = self._row(select(tables.PREFERENCES.c.settings).where(tables.PREFERENCES.c.person_id == person_id))
        return dict(row.settings) if row else {}

    def save(self, person_id: str, changes: Mapping[str, str]) -> None:
        """Add to the stored preferences."""
        row = {"person_id": person_id, "settings": {**self.of(person_id), **changes}}
        self._upsert(tables.PREFERENCES, [row], update=("settings",))


class AuditLog(Part):
    def add(
        self, user: Identity | None, action: str, subject: str = "", details: Mapping[str, Any] | None = None, *, now: datetime,
        address: str = "",
    ) -> None:  # fmt: skip
        """Add an entry. ``user`` None: a command on the machine, or nobody signed in yet. ``details``: JSON, without secrets."""
        row = {
            "at": now, "person_id": user.person.id if user else None, "person": user.person.name if user else "",
            "method": user.method if user else "command", "action": action[:tables.ACTION_CHARS], "subject": subject,
            "details": dict(details or {}), "address": address[:tables.ADDRESS_CHARS],
        }  # fmt: skip
        self._execute(insert(tables.AUDIT).values(row))

    def entries(
        self, *, before: int | None = None, person: str | None = None, action: str | None = None, since: datetime | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:  # fmt: skip
        """Return entries, newest first, with ``seq`` below ``before``. ``action``: the complete name, or a prefix before a dot."""
        query = select(tables.AUDIT).order_by(tables.AUDIT.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(tables.AUDIT.c.seq < before)
        if person is not None:
            query = query.where(tables.AUDIT.c.person == person)
        if action is not None:
            query = query.where((tables.AUDIT.c.action == action) | tables.AUDIT.c.action.startswith(f"{action}.", autoescape=True))
        if since is not None:
            query = query.where(tables.AUDIT.c.at >= since)
        return [build(AuditEntry, row) for row in self._mappings(query)]

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete entries older than ``before``; return their number."""
        return self._delete_old(tables.AUDIT, tables.AUDIT.c.at < before, dry_run=dry_run)

    def actions(self) -> list[str]:
        """Return the distinct actions in the log, sorted."""
        return self._scalars(select(tables.AUDIT.c.action).distinct().order_by(tables.AUDIT.c.action))

    def names(self) -> list[str]:
        """Return the names of people in the log; commands have no name."""
        return self._scalars(select(tables.AUDIT.c.person).distinct().where(tables.AUDIT.c.person != "").order_by(tables.AUDIT.c.person))
