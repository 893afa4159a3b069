"""How often somebody may try to sign in, whatever process he comes to: by name and address, by address, by name.

The first tries are free; then each wait is twice as long as the one before, up to a bound. Who comes too early is told how long to wait,
and that does not count. Who guesses from many addresses at one name meets the bound of that name; its owner does not, where he signed
in from before: nobody can lock him out (OWASP Authentication Cheat Sheet: the same idea with device cookies).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, Engine, delete, insert, select, update

from newsportal.accounts.base import digest
from newsportal.accounts.people import compared
from newsportal.accounts.tables import ATTEMPTS
from newsportal.store.dialects import writing as write


@dataclass(frozen=True, slots=True)
class Bound:
    """``free`` tries, then waits from a second on, doubled each time, up to ``longest``. All is forgotten after ``quiet`` without a try."""

    free: int
    longest: timedelta
    quiet: timedelta

    def wait(self, failed: int) -> timedelta:
        over = failed - self.free
        return timedelta() if over < 0 else min(self.longest, timedelta(seconds=2 ** min(over, 20)))


BOTH: Final = Bound(5, timedelta(minutes=15), timedelta(days=1))
"""Of one address for one name: five slips are human; afterwards some 100 guesses a day."""

ADDRESS: Final = Bound(30, timedelta(minutes=15), timedelta(days=1))
"""Of one address for all names: an office has one."""

NAME: Final = Bound(50, timedelta(minutes=1), timedelta(hours=6))
"""Of all addresses for one name: from then on a guess a minute, 1,440 a day however many machines guess."""

TRUST: Final = timedelta(days=90)
"""So long an address is known after it let this name in: as long as a session."""


class Attempts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, name: str, address: str, *, now: datetime) -> timedelta:
        """Nothing, and the try is counted as failed until :meth:`succeeded`; or how long to wait, and nothing is counted."""
        both, bounds = _bounds(name, address)
        with write(self._engine) as connection:
            connection.execute(delete(ATTEMPTS).where(ATTEMPTS.c.until < now))
            rows = {row.key: row for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(bounds)))}
            trusted = both in rows and rows[both].trusted is not None and now - rows[both].trusted < TRUST
            longest = timedelta()
            counted: dict[str, int] = {}
            for key, bound in bounds.items():
                row = rows.get(key)
                counted[key] = row.failed if row is not None and now - row.last < bound.quiet else 0
                if row is not None and not (trusted and bound is NAME):
                    longest = max(longest, min(bound.longest, row.last + bound.wait(counted[key]) - now))  # whatever the clock did
            if longest > timedelta():
                return longest
            for key, bound in bounds.items():
                trust = rows[key].trusted if key in rows else None
                _put(connection, key, counted[key] + 1, now, trust, there=key in rows, until=max(now + bound.quiet, _end(trust, now)))
        return timedelta()

    def succeeded(self, name: str, address: str, *, now: datetime) -> None:
        """Take the try back that was counted; the address is known for this name from now on."""
        both, bounds = _bounds(name, address)
        with write(self._engine) as connection:
            for row in connection.execute(select(ATTEMPTS).where(ATTEMPTS.c.key.in_(bounds))).all():
                failed = 0 if row.key == both else max(0, row.failed - 1)
                trust = now if row.key == both else row.trusted
                _put(connection, row.key, failed, row.last, trust, there=True, until=max(row.until, _end(trust, now)))


def _bounds(name: str, address: str) -> tuple[str, dict[str, Bound]]:
    """The key of both, and all keys with their bounds."""
    named = compared(name)
    both = digest(f"both\n{named}\n{address}")
    return both, {both: BOTH, digest(f"address\n{address}"): ADDRESS, digest(f"name\n{named}"): NAME}


def _end(trusted: datetime | None, now: datetime) -> datetime:
    return trusted + TRUST if trusted is not None else now


def _put(connection: Connection, key: str, failed: int, last: datetime, trusted: datetime | None, *, there: bool, until: datetime) -> None:
    values = {"failed": failed, "last": last, "trusted": trusted, "until": until}
    if there:
        connection.execute(update(ATTEMPTS).where(ATTEMPTS.c.key == key).values(values))
    else:
        connection.execute(insert(ATTEMPTS).values(key=key, **values))
