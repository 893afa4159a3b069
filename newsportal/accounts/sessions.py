"""Ways in. Sessions of browsers: a secret in a cookie, until it was not used for two weeks, or is three months old, or somebody ends it.

Tokens of programs: shown once, kept as a digest, with rights of their own (never more than the person's). Every token reads: who watches or
edits sees articles anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, or_, select, update

from newsportal.accounts.base import Person, Right, Session, Signed, Token, digest, drawn, drawn_id
from newsportal.accounts.people import person_of
from newsportal.accounts.tables import ADDRESS_CHARS, AGENT_CHARS, PEOPLE, SESSIONS, TOKENS
from newsportal.errors import AccountError
from newsportal.store.dialects import reading as read
from newsportal.store.dialects import writing as write
from newsportal.text import clean

PREFIX = "np_"
"""What a token begins with: so that people, and programs that look for lost secrets, know what it is."""

USED_EVERY = timedelta(minutes=5)
"""How exactly ``used`` is kept."""

MOST = 50
"""Of a person."""

NAME_LIMIT = 100


class Tokens:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(
        self, person: Person, name: str, rights: Iterable[Right], *, now: datetime, expires: datetime | None = None
    ) -> tuple[Token, str]:
        """The token and its secret. Raises ``AccountError`` for rights that the person has not, and for no name."""
        asked, called = frozenset(rights), clean(name)[:NAME_LIMIT].strip()
        if not called:
            raise AccountError("token-name")
        if not asked or not asked <= person.rights:
            raise AccountError("token-rights", rights=", ".join(sorted(person.rights)))
        if expires is not None and expires <= now:
            raise AccountError("token-expires")
        if len(self.of(person.id)) >= MOST:
            raise AccountError("token-many", most=MOST)
        wanted = asked | {Right.READ}
        secret, token = PREFIX + drawn(), Token(drawn_id(), person.id, called, wanted, now, expires, None)
        row = {"id": token.id, "person_id": person.id, "name": called, "created": now, "expires": expires, "used": None}
        with write(self._engine) as connection:
            connection.execute(insert(TOKENS).values(digest=digest(secret), rights=sorted(wanted), **row))
        return token, secret

    def signed(self, secret: str, *, now: datetime) -> Signed | None:
        """Whose token ``secret`` is; None for none, one that has ended, and one of a disabled person."""
        if not secret.startswith(PREFIX):
            return None
        columns = (TOKENS.c.id.label("token_id"), TOKENS.c.rights, TOKENS.c.expires, TOKENS.c.used)
        asked = select(PEOPLE, *columns).join(TOKENS, TOKENS.c.person_id == PEOPLE.c.id).where(TOKENS.c.digest == digest(secret))
        with read(self._engine) as connection:
            row = connection.execute(asked).one_or_none()
        if row is None or row.disabled or (row.expires is not None and now >= row.expires):
            return None
        if row.used is None or now - row.used > USED_EVERY:
            with write(self._engine) as connection:
                connection.execute(update(TOKENS).where(TOKENS.c.id == row.token_id).values(used=now))
        person = person_of(row)
        return Signed(person, _rights(row.rights) & person.rights, "token", row.token_id)

    def of(self, person_id: str | None = None) -> list[Token]:
        """His tokens, or everybody's, the newest first."""
        asked = select(TOKENS).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        with read(self._engine) as connection:
            return [_token(row) for row in connection.execute(asked if person_id is None else asked.where(TOKENS.c.person_id == person_id))]

    def revoke(self, token_id: str, *, person_id: str | None = None) -> bool:
        """Whether there was one: of this person, where one is named."""
        asked = delete(TOKENS).where(TOKENS.c.id == token_id)
        with write(self._engine) as connection:
            return connection.execute(asked if person_id is None else asked.where(TOKENS.c.person_id == person_id)).rowcount > 0


def _rights(named: Iterable[str]) -> frozenset[Right]:
    """A right that a later version knew, or an earlier one, is none."""
    return frozenset(right for right in Right if right in set(named))


def _token(row: Row[Any]) -> Token:
    return Token(row.id, row.person_id, row.name, _rights(row.rights), row.created, row.expires, row.used)


IDLE = timedelta(days=14)
"""A session that nobody used for so long is over."""

LONGEST = timedelta(days=90)
"""And so is one this old, however much it is used."""

SEEN_EVERY = timedelta(minutes=5)
"""How exactly ``seen`` is kept: a write on every page would be in everybody's way."""


class Sessions:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, person_id: str, *, now: datetime, address: str = "", agent: str = "") -> str:
        """The secret for the cookie of a new session. Those that are over, anybody's, are cleared away on the way."""
        secret = drawn()
        row = {"begun": now, "seen": now, "address": address[:ADDRESS_CHARS], "agent": agent[:AGENT_CHARS]}
        with write(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(or_(SESSIONS.c.seen < now - IDLE, SESSIONS.c.begun < now - LONGEST)))
            connection.execute(insert(SESSIONS).values(digest=digest(secret), person_id=person_id, **row))
        return secret

    def signed(self, secret: str, *, now: datetime) -> Signed | None:
        """Whose session ``secret`` is; None for none, one that is over, and one of a disabled person."""
        name = digest(secret)
        asked = select(PEOPLE, SESSIONS.c.begun, SESSIONS.c.seen).join(SESSIONS, SESSIONS.c.person_id == PEOPLE.c.id)
        with read(self._engine) as connection:
            row = connection.execute(asked.where(SESSIONS.c.digest == name)).one_or_none()
        if row is None or row.disabled or now - row.seen > IDLE or now - row.begun > LONGEST:
            return None
        if now - row.seen > SEEN_EVERY:
            with write(self._engine) as connection:
                connection.execute(update(SESSIONS).where(SESSIONS.c.digest == name).values(seen=now))
        person = person_of(row)
        return Signed(person, person.rights, "session", name)

    def of(self, person_id: str, *, now: datetime) -> list[Session]:
        """His sessions that are not over, the one that was used last first."""
        asked = select(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.seen >= now - IDLE, SESSIONS.c.begun >= now - LONGEST)
        with read(self._engine) as connection:
            rows = connection.execute(asked.order_by(SESSIONS.c.seen.desc(), SESSIONS.c.digest))
            return [Session(row.digest, row.begun, row.seen, row.address, row.agent) for row in rows]

    def end(self, secret: str) -> None:
        with write(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == digest(secret)))

    def end_one(self, person_id: str, name: str) -> None:
        """That of this digest, if it is his."""
        with write(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest == name))

    def end_all(self, person_id: str, *, but: str | None = None) -> None:
        """All of his, but the one of this digest."""
        with write(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest != (but or "")))
