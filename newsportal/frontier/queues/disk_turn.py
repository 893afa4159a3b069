"""One transaction of the queue on disk, and what it changes in the figures that stand beside the tasks."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from newsportal.frontier.queues.base import Terms

WAITING = frozenset({"ready", "behind", "suspect"})
OUTSTANDING = WAITING | {"leased"}

Line = tuple[str, int]
"""A host and a queue."""


@dataclass(slots=True)
class Tally:
    """What has changed since the figures were last written. ``touched``: lines whose most urgent task may be another one."""

    states: Counter[tuple[int, str]] = field(default_factory=Counter)
    visits: Counter[tuple[int, str]] = field(default_factory=Counter)
    waiting: Counter[Line] = field(default_factory=Counter)
    ready: Counter[Line] = field(default_factory=Counter)
    touched: set[Line] = field(default_factory=set)

    def count(self, queue: int, host: str, source: str | None, state: str, by: int) -> None:
        """A task comes into ``state`` (``by`` 1) or leaves it (-1)."""
        self.states[queue, state] += by
        if state in WAITING:
            self.waiting[host, queue] += by
            self.touched.add((host, queue))
            if state == "ready":
                self.ready[host, queue] += by
        if source is not None and state in OUTSTANDING:
            self.visits[queue, source] += by


@dataclass(slots=True)
class Turn:
    """``ticks``: seconds since the machine was started; ``wall``: since 1970. ``queue`` and ``worker``: whose turn it is (0: no worker)."""

    sql: sqlite3.Connection
    terms: Terms
    ticks: float
    wall: float
    queue: int = 0
    worker: int = 0
    tally: Tally = field(default_factory=Tally)

    def settle(self) -> None:
        """Write the figures."""
        tally, self.tally = self.tally, Tally()
        self.sql.executemany(
            "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number",
            [(*key, by) for key, by in tally.states.items() if by],
        )
        for (queue, source), by in tally.visits.items():
            if by:
                self.sql.execute(
                    "INSERT INTO visits VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number", (queue, source, by)
                )
                if by < 0:
                    self.sql.execute("DELETE FROM visits WHERE queue = ? AND source = ? AND number <= 0", (queue, source))
        for line in tally.touched:
            self._write_line(line, tally.waiting[line], tally.ready[line])

    def _write_line(self, line: Line, waiting: int, ready: int) -> None:
        host, queue = line
        changed = self.sql.execute(
            "UPDATE lines SET waiting = waiting + ?, ready = ready + ?, top = (SELECT priority FROM tasks"
            " WHERE tasks.queue = ? AND tasks.host = ? AND state = 'ready' ORDER BY priority DESC LIMIT 1) WHERE host = ? AND queue = ?",
            (waiting, ready, queue, host, host, queue),
        ).rowcount
        if not changed:
            self._begin_line(line, waiting, ready)
        elif waiting < 0:
            self.sql.execute("DELETE FROM lines WHERE host = ? AND queue = ? AND waiting <= 0", line)

    def _begin_line(self, line: Line, waiting: int, ready: int) -> None:
        """The first task of a host: who holds it, or until when it rests, is said of the host."""
        if waiting <= 0:
            return
        host, queue = line
        holder, free_at = 0, 0.0
        known = self.sql.execute("SELECT holder, free_at, wanted_by, wanted_until FROM hosts WHERE host = ?", (host,)).fetchone()
        if known is not None:
            holder, free_at = known[0] or (-known[2] if known[3] > self.ticks else 0), known[1]
        self.sql.execute(
            "INSERT INTO lines VALUES (?, ?, ?, ?, (SELECT priority FROM tasks WHERE tasks.queue = ? AND tasks.host = ?"
            " AND state = 'ready' ORDER BY priority DESC LIMIT 1), ?, ?, ?)",
            (host, queue, waiting, ready, queue, host, holder, int(holder == 0 and free_at > self.ticks), free_at),
        )


def number_of(name: str) -> int:
    """A name as a number of 64 bits: a million seen addresses take 20 MB so, and two of them are one in 10 million cases once."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
