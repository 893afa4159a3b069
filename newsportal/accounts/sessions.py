"""Sessions of browsers: a secret in a cookie, until it was not used for two weeks, or is three months old, or somebody ends it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Engine, delete, insert, or_, select, update

from newsportal.accounts.base import Session, Signed, digest, drawn
from newsportal.accounts.people import person_of
from newsportal.accounts.tables import ADDRESS_CHARS, AGENT_CHARS, PEOPLE, SESSIONS
from newsportal.store.dialects import reading as read
from newsportal.store.dialects import writing as write

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
