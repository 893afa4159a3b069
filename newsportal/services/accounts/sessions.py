"""Ways in. Sessions of browsers: a secret in a cookie, until it was not used for two weeks, or is three months old, or somebody ends it.

Tokens of programs: shown once, kept as a digest, with rights of their own (never more than the person's). Every token reads: who watches or
edits sees articles anyway.

Attempts to sign in, whatever process they come to: by name and address, by address, by name. The first tries are free; then each wait is
twice as long as the one before, up to a limit, and a try that comes too early does not count. Guesses from many addresses at one name meet
the limit of that name; its owner does not, where he signed in from before: nobody can lock him out (OWASP Authentication Cheat Sheet).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import md5
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from newsportal.errors import AccountError
from newsportal.services.accounts.base import Person, Right, Session, Signed, Token, digest, random_id, random_secret
from newsportal.services.accounts.people import compared, person_of
from newsportal.services.accounts.tables import ADDRESS_CHARS, AGENT_CHARS, ATTEMPTS, PEOPLE, SESSIONS, TOKENS
from newsportal.store.dialects import Part, upsert
from newsportal.text import clean

PREFIX = "np_"  # what a token begins with: so that people, and programs that look for lost secrets, know what it is
USED_EVERY = timedelta(minutes=5)  # how exactly `used` is kept
MOST = 50  # of a person
NAME_LIMIT = 100


class Tokens(Part):
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
        secret, token = PREFIX + random_secret(), Token(random_id(), person.id, called, wanted, now, expires, None)
        row = {"id": token.id, "person_id": person.id, "name": called, "created": now, "expires": expires, "used": None}
        digests = {"digest": digest(secret), "fever_digest": digest(fever_key(person.name, secret))}
        self._execute(insert(TOKENS).values(rights=sorted(wanted), **digests, **row))
        return token, secret

    def signed(self, secret: str, *, now: datetime) -> Signed | None:
        """Whose token ``secret`` is; None for none, one that has ended, and one of a disabled person."""
        return self._signed(TOKENS.c.digest == digest(secret), now) if secret.startswith(PREFIX) else None

    def signed_by_fever(self, key: str, *, now: datetime) -> Signed | None:
        """The same by the key that apps send to the Fever API (:func:`fever_key`)."""
        return self._signed(TOKENS.c.fever_digest == digest(key.lower()), now)

    def _signed(self, which: ColumnElement[bool], now: datetime) -> Signed | None:
        columns = (TOKENS.c.id.label("token_id"), TOKENS.c.rights, TOKENS.c.expires, TOKENS.c.used)
        row = self._row(select(PEOPLE, *columns).join(TOKENS, TOKENS.c.person_id == PEOPLE.c.id).where(which))
        if row is None or row.disabled or (row.expires is not None and now >= row.expires):
            return None
        if row.used is None or now - row.used > USED_EVERY:
            self._execute(update(TOKENS).where(TOKENS.c.id == row.token_id).values(used=now))
        person = person_of(row)
        return Signed(person, _rights(row.rights) & person.rights, "token", row.token_id)

    def of(self, person_id: str | None = None) -> list[Token]:
        """His tokens, or everybody's, the newest first."""
        asked = select(TOKENS).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        rows = self._rows(asked if person_id is None else asked.where(TOKENS.c.person_id == person_id))
        return [Token(row.id, row.person_id, row.name, _rights(row.rights), row.created, row.expires, row.used) for row in rows]

    def revoke(self, token_id: str, *, person_id: str | None = None) -> bool:
        """Whether there was one: of this person, where one is named."""
        asked = delete(TOKENS).where(TOKENS.c.id == token_id)
        return self._execute(asked if person_id is None else asked.where(TOKENS.c.person_id == person_id)) > 0


def fever_key(name: str, secret: str) -> str:
    """What an app sends to the Fever API in place of name and password. The API says MD5; the secret's 256 bits are what protects it."""
    return md5(f"{name}:{secret}".encode(), usedforsecurity=False).hexdigest()


def _rights(named: Iterable[str]) -> frozenset[Right]:
    """A right that a later version knew, or an earlier one, is none."""
    return frozenset(right for right in Right if right in set(named))


IDLE = timedelta(days=14)  # a session that nobody used for so long is over
LONGEST = timedelta(days=90)  # and so is one this old, however much it is used
SEEN_EVERY = timedelta(minutes=5)  # how exactly `seen` is kept: a write on every page would be in everybody's way


class Sessions(Part):
    def begin(self, person_id: str, *, now: datetime, address: str = "", agent: str = "") -> str:
        """The secret for the cookie of a new session. Those that are over, anybody's, are cleared away on the way."""
        secret = random_secret()
        row = {"begun": now, "seen": now, "address": address[:ADDRESS_CHARS], "agent": agent[:AGENT_CHARS]}
        with self._write() as connection:
            connection.execute(delete(SESSIONS).where(or_(SESSIONS.c.seen < now - IDLE, SESSIONS.c.begun < now - LONGEST)))
            connection.execute(insert(SESSIONS).values(digest=digest(secret), person_id=person_id, **row))
        return secret

    def signed(self, secret: str, *, now: datetime) -> Signed | None:
        """Whose session ``secret`` is; None for none, one that is over, and one of a disabled person."""
        name = digest(secret)
        asked = select(PEOPLE, SESSIONS.c.begun, SESSIONS.c.seen).join(SESSIONS, SESSIONS.c.person_id == PEOPLE.c.id)
        row = self._row(asked.where(SESSIONS.c.digest == name))
        if row is None or row.disabled or now - row.seen > IDLE or now - row.begun > LONGEST:
            return None
        if now - row.seen > SEEN_EVERY:
            self._execute(update(SESSIONS).where(SESSIONS.c.digest == name).values(seen=now))
        person = person_of(row)
        return Signed(person, person.rights, "session", name)

    def of(self, person_id: str, *, now: datetime) -> list[Session]:
        """His sessions that are not over, the one that was used last first."""
        query = select(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.seen >= now - IDLE, SESSIONS.c.begun >= now - LONGEST)
        rows = self._rows(query.order_by(SESSIONS.c.seen.desc(), SESSIONS.c.digest))
        return [Session(row.digest, row.begun, row.seen, row.address, row.agent) for row in rows]

    def end(self, secret: str) -> None:
        self._execute(delete(SESSIONS).where(SESSIONS.c.digest == digest(secret)))

    def end_one(self, person_id: str, name: str) -> None:
        """That of this digest, if it is his."""
        self._execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest == name))

    def end_all(self, person_id: str, *, but: str | None = None) -> None:
        """All of his, but the one of this digest."""
        self._execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest != (but or "")))


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """``free`` tries, then waits from a second on, doubled each time, up to ``longest``. All is forgotten after ``quiet`` without a try."""

    free: int
    longest: timedelta
    quiet: timedelta

    def wait(self, failed: int) -> timedelta:
        over = failed - self.free
        return timedelta() if over < 0 else min(self.longest, timedelta(seconds=2 ** min(over, 20)))


BOTH: Final = AttemptLimit(5, timedelta(minutes=15), timedelta(days=1))
"""Of one address for one name: five slips are human; afterwards some 100 guesses a day."""

ADDRESS: Final = AttemptLimit(30, timedelta(minutes=15), timedelta(days=1))  # of one address for all names: an office has one
NAME: Final = AttemptLimit(50, timedelta(minutes=1), timedelta(hours=6))
"""Of all addresses for one name: from then on a guess a minute, 1,440 a day however many machines guess."""

TRUST: Final = timedelta(days=90)  # so long an address is known after it let this name in: as long as a session


class Attempts(Part):
    def begin(self, name: str, address: str, *, now: datetime) -> timedelta:
        """Nothing, and the try is counted as failed until :meth:`succeeded`; or how long to wait, and nothing is counted."""
        both, limits = _limits_of(name, address)
        with self._write() as connection:
            connection.execute(delete(ATTEMPTS).where(ATTEMPTS.c.until < now))
            rows = {row.key: row for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(limits)))}
            trusted = both in rows and rows[both].trusted is not None and now - rows[both].trusted < TRUST
            longest = timedelta()
            counted: dict[str, int] = {}
            for key, limit in limits.items():
                row = rows.get(key)
                counted[key] = row.failed if row is not None and now - row.last < limit.quiet else 0
                if row is not None and not (trusted and limit is NAME):
                    longest = max(longest, min(limit.longest, row.last + limit.wait(counted[key]) - now))  # whatever the clock did
            if longest > timedelta():
                return longest
            for key, limit in limits.items():
                trust = rows[key].trusted if key in rows else None
                _save(connection, key, counted[key] + 1, now, trust, until=max(now + limit.quiet, _end(trust, now)))
        return timedelta()

    def succeeded(self, name: str, address: str, *, now: datetime) -> None:
        """Take the try back that was counted; the address is known for this name from now on."""
        both, limits = _limits_of(name, address)
        with self._write() as connection:
            for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(limits))).all():
                failed = 0 if row.key == both else max(0, row.failed - 1)
                trust = now if row.key == both else row.trusted
                _save(connection, row.key, failed, row.last, trust, until=max(row.until, _end(trust, now)))


def _limits_of(name: str, address: str) -> tuple[str, dict[str, AttemptLimit]]:
    named = compared(name)
    both = digest(f"both\n{named}\n{address}")
    return both, {both: BOTH, digest(f"address\n{address}"): ADDRESS, digest(f"name\n{named}"): NAME}


def _end(trusted: datetime | None, now: datetime) -> datetime:
    return trusted + TRUST if trusted is not None else now


def _save(connection: Connection, key: str, failed: int, last: datetime, trusted: datetime | None, *, until: datetime) -> None:
    row = {"key": key, "failed": failed, "last": last, "trusted": trusted, "until": until}
    upsert(connection, ATTEMPTS, [row], update=("failed", "last", "trusted", "until"))
