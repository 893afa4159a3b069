"""Sessions, tokens, and limits of sign-in attempts.

Sessions of browsers: a secret in a cookie, valid until two weeks unused, three months old, or ended. Tokens of programs: shown once, stored
as a digest, with rights of their own (never more than the person's). Every token may read: whoever watches or edits sees articles anyway.

Attempts to sign in are counted over all processes by name and address, by address, and by name. The first ones are free; then each wait is
twice the last, up to a limit, and a premature attempt is not counted. Guesses from many addresses meet the limit of the name; its owner
does not, from an address used before, so nobody can lock the owner out (OWASP Authentication Cheat Sheet).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import md5
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from newsportal.errors import AccountError
from newsportal.services.accounts.base import Identity, Person, Right, Session, Token, digest, random_id, random_secret
from newsportal.services.accounts.people import normalised_name, person_of
from newsportal.services.accounts.tables import ADDRESS_CHARS, AGENT_CHARS, ATTEMPTS, PEOPLE, SESSIONS, TOKENS
from newsportal.store.columns import build
from newsportal.store.dialects import Part, upsert
from newsportal.text import clean

PREFIX = "np_"  # prefix of tokens, recognised by people and by secret scanners
USED_EVERY = timedelta(minutes=5)  # accuracy of `last_used`
MAX_TOKENS = 50  # per person
NAME_LIMIT = 100


class Tokens(Part):
    def add(
        self, person: Person, name: str, rights: Iterable[Right], *, now: datetime, expires: datetime | None = None
    ) -> tuple[Token, str]:
        """Create a token; return it with its secret. Raises ``AccountError`` for an empty name, and rights that the person lacks."""
        requested, cleaned = frozenset(rights), clean(name)[:NAME_LIMIT].strip()
        if not cleaned:
            raise AccountError("token-name")
        if not requested or not requested <= person.rights:
            raise AccountError("token-rights", rights=", ".join(sorted(person.rights)))
        if expires is not None and expires <= now:
            raise AccountError("token-expires")
        if len(self.of(person.id)) >= MAX_TOKENS:
            raise AccountError("token-many", most=MAX_TOKENS)
        granted = requested | {Right.READ}
        secret, token = PREFIX + random_secret(), Token(random_id(), person.id, cleaned, granted, now, expires, None)
        row = {"id": token.id, "person_id": person.id, "name": cleaned, "created": now, "expires": expires, "last_used": None}
        digests = {"digest": digest(secret), "fever_digest": digest(fever_key(person.name, secret))}
        self._execute(insert(TOKENS).values(rights=sorted(granted), **digests, **row))
        return token, secret

    def authenticate(self, secret: str, *, now: datetime) -> Identity | None:
        """Return the owner of the token ``secret``; None if it is unknown or expired, or its person disabled."""
        return self._signed(TOKENS.c.digest == digest(secret), now) if secret.startswith(PREFIX) else None

    def authenticate_fever(self, key: str, *, now: datetime) -> Identity | None:
        """Return the same for the key that apps send to the Fever API (:func:`fever_key`)."""
        return self._signed(TOKENS.c.fever_digest == digest(key.lower()), now)

    def _signed(self, condition: ColumnElement[bool], now: datetime) -> Identity | None:
        columns = (TOKENS.c.id.label("token_id"), TOKENS.c.rights, TOKENS.c.expires, TOKENS.c.last_used)
        row = self._row(select(PEOPLE, *columns).join(TOKENS, TOKENS.c.person_id == PEOPLE.c.id).where(condition))
        if row is None or row.disabled or (row.expires is not None and now >= row.expires):
            return None
        if row.last_used is None or now - row.last_used > USED_EVERY:
            self._execute(update(TOKENS).where(TOKENS.c.id == row.token_id).values(last_used=now))
        person = person_of(row)
        return Identity(person, _rights(row.rights) & person.rights, "token", row.token_id)

    def of(self, person_id: str | None = None) -> list[Token]:
        """Return a person's tokens, or everybody's, newest first."""
        statement = select(TOKENS).order_by(TOKENS.c.created.desc(), TOKENS.c.id)
        rows = self._mappings(statement if person_id is None else statement.where(TOKENS.c.person_id == person_id))
        return [build(Token, row, rights=_rights) for row in rows]

    def revoke(self, token_id: str, *, person_id: str | None = None) -> bool:
        """Revoke a token (of ``person_id``, if given). Return whether it existed."""
        query = delete(TOKENS).where(TOKENS.c.id == token_id)
        return self._execute(query if person_id is None else query.where(TOKENS.c.person_id == person_id)) > 0


def fever_key(name: str, secret: str) -> str:
    """Return the key sent to the Fever API instead of name and password. The API requires MD5; the secret's 256 bits protect it."""
    return md5(f"{name}:{secret}".encode(), usedforsecurity=False).hexdigest()


def _rights(names: Iterable[str]) -> frozenset[Right]:
    """Parse rights, ignoring those of earlier or later versions."""
    return frozenset(right for right in Right if right in set(names))


IDLE = timedelta(days=14)  # a session unused for this time has expired
LONGEST = timedelta(days=90)  # maximum age of a session
SEEN_EVERY = timedelta(minutes=5)  # accuracy of `last_seen`: a write on every page would be too slow


class Sessions(Part):
    def begin(self, person_id: str, *, now: datetime, address: str = "", agent: str = "") -> str:
        """Create a session; return the secret for its cookie. Deletes all expired sessions."""
        secret = random_secret()
        row = {"created": now, "last_seen": now, "address": address[:ADDRESS_CHARS], "user_agent": agent[:AGENT_CHARS]}
        with self._write() as connection:
            connection.execute(delete(SESSIONS).where(or_(SESSIONS.c.last_seen < now - IDLE, SESSIONS.c.created < now - LONGEST)))
            connection.execute(insert(SESSIONS).values(digest=digest(secret), person_id=person_id, **row))
        return secret

    def authenticate(self, secret: str, *, now: datetime) -> Identity | None:
        """Return the owner of the session ``secret``; None if it is unknown or expired, or its person disabled."""
        name = digest(secret)
        columns = (SESSIONS.c.created.label("session_created"), SESSIONS.c.last_seen)
        row = self._row(select(PEOPLE, *columns).join(SESSIONS, SESSIONS.c.person_id == PEOPLE.c.id).where(SESSIONS.c.digest == name))
        if row is None or row.disabled or now - row.last_seen > IDLE or now - row.session_created > LONGEST:
            return None
        if now - row.last_seen > SEEN_EVERY:
            self._execute(update(SESSIONS).where(SESSIONS.c.digest == name).values(last_seen=now))
        person = person_of(row)
        return Identity(person, person.rights, "session", name)

    def of(self, person_id: str, *, now: datetime) -> list[Session]:
        """Return the person's valid sessions, last used first."""
        valid = (SESSIONS.c.last_seen >= now - IDLE, SESSIONS.c.created >= now - LONGEST)
        query = select(SESSIONS).where(SESSIONS.c.person_id == person_id, *valid).order_by(SESSIONS.c.last_seen.desc(), SESSIONS.c.digest)
        return [build(Session, row) for row in self._mappings(query)]

    def end(self, secret: str) -> None:
        self._execute(delete(SESSIONS).where(SESSIONS.c.digest == digest(secret)))

    def end_one(self, person_id: str, name: str) -> None:
        """End the session with this digest, if it belongs to the person."""
        self._execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest == name))

    def end_all(self, person_id: str, *, except_session: str | None = None) -> None:
        """End all sessions of the person except the one with the digest ``except_session``."""
        self._execute(delete(SESSIONS).where(SESSIONS.c.person_id == person_id, SESSIONS.c.digest != (except_session or "")))


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """``free_attempts``, then waits from a second, doubled each time, up to ``max_wait``; reset after ``reset_after`` without attempts."""

    free_attempts: int
    max_wait: timedelta
    reset_after: timedelta

    def wait(self, failed: int) -> timedelta:
        excess = failed - self.free_attempts
        return timedelta() if excess < 0 else min(self.max_wait, timedelta(seconds=2 ** min(excess, 20)))


BOTH: Final = AttemptLimit(5, timedelta(minutes=15), timedelta(days=1))
"""Per name and address: five typing errors are human; then some 100 guesses a day."""

ADDRESS: Final = AttemptLimit(30, timedelta(minutes=15), timedelta(days=1))  # per address, for all names: an office has one
NAME: Final = AttemptLimit(50, timedelta(minutes=1), timedelta(hours=6))
"""Per name, for all addresses: then a guess a minute, 1,440 a day from however many machines."""

TRUST: Final = timedelta(days=90)  # how long an address is trusted after a successful sign-in to this name: as long as a session


class Attempts(Part):
    def begin(self, name: str, address: str, *, now: datetime) -> timedelta:
        """Count an attempt as failed until :meth:`record_success` and return zero; or return the time to wait, without counting."""
        pair, limits = _limits_of(name, address)
        with self._write() as connection:
            connection.execute(delete(ATTEMPTS).where(ATTEMPTS.c.expires < now))
            rows = {row.key: row for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(limits)))}
            trusted = pair in rows and rows[pair].last_success is not None and now - rows[pair].last_success < TRUST
            longest = timedelta()
            failures: dict[str, int] = {}
            for key, limit in limits.items():
                row = rows.get(key)
                failures[key] = row.failures if row is not None and now - row.last_attempt < limit.reset_after else 0
                if row is not None and not (trusted and limit is NAME):
                    wait = row.last_attempt + limit.wait(failures[key]) - now
                    longest = max(longest, min(limit.max_wait, wait))  # if the clock was set back
            if longest > timedelta():
                return longest
            for key, limit in limits.items():
                trust = rows[key].last_success if key in rows else None
                _save(connection, key, failures[key] + 1, now, trust, until=max(now + limit.reset_after, _end(trust, now)))
        return timedelta()

    def record_success(self, name: str, address: str, *, now: datetime) -> None:
        """Take back the counted attempt and trust the address for this name."""
        pair, limits = _limits_of(name, address)
        with self._write() as connection:
            for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(limits))).all():
                failed = 0 if row.key == pair else max(0, row.failures - 1)
                trust = now if row.key == pair else row.last_success
                _save(connection, row.key, failed, row.last_attempt, trust, until=max(row.expires, _end(trust, now)))


def _limits_of(name: str, address: str) -> tuple[str, dict[str, AttemptLimit]]:
    folded = normalised_name(name)
    pair = digest(f"both\n{folded}\n{address}")
    return pair, {pair: BOTH, digest(f"address\n{address}"): ADDRESS, digest(f"name\n{folded}"): NAME}


def _end(trusted: datetime | None, now: datetime) -> datetime:
    return trusted + TRUST if trusted is not None else now


def _save(connection: Connection, key: str, failed: int, last: datetime, trusted: datetime | None, *, until: datetime) -> None:
    row = {"failures": failed, "last_attempt": last, "last_success": trusted, "expires": until}
    upsert(connection, ATTEMPTS, [{"key": key, **row}], update=tuple(row))
