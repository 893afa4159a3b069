"""Who may write: one process at a time, for as long as it shows that it lives.

The lease is the newest turn (:mod:`turns`). Its holder keeps it for a moment after a transaction, so that the next one need not ask for it
again; makes a new turn while it works long; and gives it up when others wish it. A holder whose turn does not change for
:data:`LEASE_SECONDS` of the waiting one's own clock, or whose process is known to be dead, is succeeded: whoever does so finishes its
journal first. A holder that was only asleep finds, when it wants to decide something, that the next turn is made: nothing of it is written.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.storage.documents import journal, owners
from newsportal.storage.documents.backend import Backend
from newsportal.storage.documents.base import Table, moment_in, moment_out
from newsportal.storage.documents.turns import Turn, Turns

log = logging.getLogger(__name__)

WISHES: Final = Table("wishes", {"id": "key"})
"""Its one row says that somebody waits."""

WISH = "wish"

WAIT_SECONDS = 30.0
"""How long a writer waits for the others, as in SQL databases (``dialects.BUSY_SECONDS``)."""

NEXT = -1
"""As the number of a journal: that of the turn that is made."""

LEASE_SECONDS = 10.0
"""How long a holder may be silent."""

RENEW_SECONDS = 3.0
"""A third of it: two renewals may fail."""

SURE_SECONDS = 5.0
"""Who has not been heard for half a lease looks first whether the lease is still his."""

IDLE_SECONDS = 0.05
"""How long a lease is kept for a next transaction: many times what one takes, and little for others to wait."""

HOLD_SECONDS = 0.25
"""After so long a holder looks whether others wait."""

POLL_SECONDS = (0.01, 0.03)
"""How often who waits looks: at random between these, so that not all look at once."""

YIELD_SECONDS = 0.1
"""How long who gave the lease up for others does not ask for it: three looks of theirs."""

SETTLE_SECONDS = 0.25
"""What a process had sent when it died, the server may still be writing for so long."""


def clock() -> float:
    """Seconds that only grow, those asleep among them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass
class Held:
    """What the holder knows. ``sure``: when the last turn was made; ``applied``: the counters of what is in the tables."""

    turn: Turn
    taken: float
    sure: float
    applied: Mapping[str, int]


class Lease:
    """The right to write into a database, of one store. :meth:`take` and what follows are called by one thread at a time."""

    def __init__(self, backend: Backend, tables: Mapping[str, Table]) -> None:
        self._backend = backend
        self._tables = tables
        self._turns = Turns(backend)
        self._owner = owners.told(owners.here())
        self._changing = threading.RLock()
        self._held: Held | None = None
        self._busy = False
        self._rested = 0.0
        self._resting = 0.0

    @property
    def held(self) -> Held | None:
        return self._held

    def take(self) -> Held:
        """Wait for the right to write. Raises ``StoreUnavailable`` after :data:`WAIT_SECONDS`, and names who has it."""
        time.sleep(max(0.0, self._resting - clock()))
        with self._changing:
            if self._held is not None and not self._sure(self._held):
                self.lose()
            self._busy = self._held is not None
            if self._held is not None:
                return self._held
        return self._wait()

    def rest(self) -> None:
        """A transaction is over; the lease is kept for a moment, unless others wish it."""
        with self._changing:
            self._busy, self._rested = False, clock()
            try:
                self._pass_on()
            except StoreError as error:
                log.warning("%s", error)  # the transaction is over, and well; the next one meets what this one met afterwards

    def _wait(self) -> Held:
        began = looked = clock()
        wished = began
        seen: Turn | None = None
        while True:
            with self._changing:
                newest = self._turns.newest()
                if seen is None or newest is None or newest.number != seen.number:
                    seen, looked = newest, clock()
                if self._free(newest, clock() - looked) and self._grasp(newest):
                    assert self._held is not None
                    return self._held
            now = clock()
            if now - began > WAIT_SECONDS and newest is not None:
                raise self._too_long(newest)
            if now - wished > HOLD_SECONDS:
                self._backend.apply({WISHES.name: {WISH: {"id": WISH}}}, 1)
                wished = now
            time.sleep(random.uniform(*POLL_SECONDS))  # noqa: S311  no secret

    def _free(self, newest: Turn | None, silent: float) -> bool:
        """Whether the right to write may be taken after this turn."""
        if newest is None or newest.owner in ("", self._owner):
            return True
        if owners.dead(owners.heard(newest.owner)):
            time.sleep(SETTLE_SECONDS)
            return True
        return silent > LEASE_SECONDS

    def _grasp(self, newest: Turn | None) -> bool:
        """Try to make the next turn, and finish what the last holder had decided."""
        before, began = newest or Turn(0), clock()
        turn = before.following(owner=self._owner, since=moment_in(datetime.now(UTC)))
        if not self._turns.append(turn):
            return False
        if turn.journal:
            journal.finish(self._backend, self._tables, self._turns, turn.journal)
            turn = replace(turn, journal=0, before=turn.counters)
        if before.owner:
            journal.sweep(self._backend, turn.number)
        if before.owner not in ("", self._owner):
            log.warning(
                "%s: %s ended while it was writing; what it had decided is written", self._backend.place, owners.heard(before.owner)
            )
        self._held, self._busy = Held(turn, clock(), began, turn.counters), True
        self._backend.alone(True)
        return True

    def _too_long(self, newest: Turn) -> StoreUnavailable:
        since = moment_out(newest.since)
        who = f"{owners.heard(newest.owner)} has been writing since {since:%H:%M:%S} UTC" if newest.owner and since else "others write"
        return StoreUnavailable(
            f"{self._backend.place}: {who}, and let nobody else write for {WAIT_SECONDS:.0f} s; wait for it or end it, then try again"
        )

    def _sure(self, held: Held) -> bool:
        """Whether the lease is still ours. Costs nothing unless we have been silent for long."""
        if clock() - held.sure < SURE_SECONDS:
            return True
        newest = self._turns.newest(search=True)
        return newest is not None and newest.token == held.turn.token

    def check(self) -> Turn:
        """The newest turn, which is ours. Raises ``StoreUnavailable`` if the lease was lost."""
        with self._changing:
            if self._held is None or not self._sure(self._held):
                raise self._lost()
            return self._held.turn

    def decide(self, **changes: Any) -> Turn:
        """Make the next turn. Raises ``StoreUnavailable`` if the lease was lost: nothing is decided then."""
        with self._changing:
            began, turn = clock(), self.check().following(**changes)
            if turn.journal == NEXT:
                turn = replace(turn, journal=turn.number)
            try:
                made = self._turns.append(turn)
            except StoreError:
                self.lose()
                raise
            if self._held is None or not made or (clock() - began > SURE_SECONDS and not self._newest(turn)):
                raise self._lost()
            self._held.turn, self._held.sure = turn, began
            return turn

    def _newest(self, turn: Turn) -> bool:
        newest = self._turns.newest(search=True)
        return newest is not None and newest.token == turn.token

    def _lost(self) -> StoreUnavailable:
        self.lose()
        return StoreUnavailable(
            f"{self._backend.place}: this process was silent for more than {LEASE_SECONDS:.0f} s while it was writing, and another "
            "one writes now; nothing was written; try again"
        )

    def applied(self, turn: Turn) -> None:
        """What ``turn`` decided is in the tables."""
        with self._changing:
            if self._held is not None and self._held.turn.journal == turn.journal:
                self._held.turn = replace(self._held.turn, journal=0, text="", pieces=0, before=turn.counters)
                self._held.applied = turn.counters

    def tend(self) -> bool:
        """What is to be done from time to time: show that we live, or give up what nobody uses. Answers whether we hold it still."""
        with self._changing:
            if self._held is None:
                return False
            if not self._busy and clock() - self._rested > IDLE_SECONDS:
                self.release()
            elif clock() - self._held.sure > RENEW_SECONDS:
                self.decide()
            return self._held is not None

    def _pass_on(self) -> None:
        """If others wish to write, let them."""
        held = self._held
        if held is None or clock() - held.taken < HOLD_SECONDS:
            return
        held.taken = clock()
        if self._backend.get(WISHES, [WISH]):
            self._backend.apply({WISHES.name: {WISH: None}}, 1)
            self.release()
            self._resting = clock() + YIELD_SECONDS

    def release(self) -> None:
        """Anybody may write."""
        with self._changing:
            if self._held is not None:
                self.decide(owner="")
                self.lose()

    def lose(self) -> None:
        """Forget that we hold the lease. What was decided and is not written is finished by who takes it next, we or others."""
        with self._changing:
            self._held, self._busy = None, False
            self._backend.alone(False)

    def newest(self) -> Turn | None:
        """The newest turn, for who does not write."""
        with self._changing:
            return self._turns.newest()
