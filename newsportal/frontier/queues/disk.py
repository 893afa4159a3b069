"""The queue of requests in a SQLite file, for the processes of one machine. Promises: ``base``; tables: ``disk_schema``.

Every call is one short transaction. A worker's process that is gone is seen within a second, one that hangs by its silence. Time is the
machine's: seconds since it was started (``ticks``) for leases, hosts and jobs, so that setting the clock moves nothing; the time of day
(``clock``) for tasks that wait until a moment, and for what was seen.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import RLock
from typing import TypeVar

from newsportal.frontier.queues import disk_hosts, disk_looking, disk_taking, disk_tasks, disk_workers
from newsportal.frontier.queues.base import Aside, QueueState, Taken, Task, Terms
from newsportal.frontier.queues.disk_file import QueueFile
from newsportal.frontier.queues.disk_turn import WAITING, Turn
from newsportal.frontier.queues.identity import Identity, identity

Answer = TypeVar("Answer")

SLICE = 5000
"""Tasks that are forgotten in one transaction: some hundredths of a second in which the others wait."""


class DiskQueue:
    """A :class:`~newsportal.frontier.queues.base.Queue` in ``file``, which may be shared by the queues of a process."""

    def __init__(
        self,
        file: QueueFile,
        name: str,
        *,
        terms: Terms | None = None,
        worker: Identity | None = None,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.worker = name, worker or identity()
        file.join()
        self._file, self._terms, self._clock, self._ticks = file, terms or Terms(), clock, ticks
        self._lock = RLock()
        self._number = 0
        self._mine: dict[str, str] = {}
        self._hosts: Counter[str] = Counter()
        self._lost: set[str] = set()
        self._alone = False

    def push(self, tasks: Sequence[Task]) -> set[str]:
        return self._write(lambda turn: {task.id for task in tasks if disk_tasks.push(turn, task)}) if tasks else set()

    def take(self, number: int, *, delay: float, ahead: float) -> Taken:
        with self._lock:
            taken, suspect = self._work(
                lambda turn: disk_taking.take(turn, number, delay, ahead, self._hosts, alone=self._alone), sweep=True
            )
            self._alone = self._alone or suspect
            for lease in taken.leases:
                self._mine[lease.task.id] = lease.task.host
                self._hosts[lease.task.host] += 1
                self._lost.discard(lease.task.id)
            return taken

    def done(self, ids: Collection[str]) -> None:
        def step(turn: Turn) -> None:
            for id, row in disk_tasks.rows(turn, ids):
                if (row.worker == turn.worker and row.state == "leased") or (id in self._lost and row.state in WAITING):
                    disk_tasks.remove(turn, row)

        self._given(ids, step)

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        def step(turn: Turn) -> None:
            for _, row in disk_tasks.rows(turn, ids):
                if row.worker == turn.worker and row.state == "leased":
                    disk_tasks.back(turn, row, at)

        self._given(ids, step)

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        def step(turn: Turn) -> None:
            if doing is not None:
                disk_workers.say(turn, doing)

        with self._lock:
            self._work(step, sweep=True)
            lost, self._lost = self._lost, set()
            return lost

    def hold(self, host: str) -> float | None:
        def step(turn: Turn) -> float | None:
            of = disk_hosts.holder(turn, host)
            if of > 0 and of != turn.worker and disk_workers.look_after(turn, of):
                of = disk_hosts.holder(turn, host)
            if of == turn.worker:
                return disk_hosts.rests(turn, host)
            if of in (0, -turn.worker):
                return disk_hosts.take(turn, host)
            disk_hosts.want(turn, host)
            return None

        return self._work(step, sweep=True)

    def free(self, hosts: Mapping[str, float]) -> None:
        def step(turn: Turn) -> None:
            for host, seconds in hosts.items():
                disk_hosts.let_go(turn, host, turn.worker, max(0.0, seconds))

        if hosts and self._number:
            self._work(step)

    def claim(self, job: str, seconds: float) -> bool:
        return self._work(lambda turn: disk_workers.claim(turn, job, seconds), sweep=True)

    def release(self, job: str) -> None:
        if self._number:
            self._work(lambda turn: disk_workers.release(turn, job))

    def leave(self) -> None:
        with self._lock:
            if self._number:
                self._work(disk_workers.leave)
                self._number = 0
                self._forget_all()

    def state(self, hosts: int = 20) -> QueueState:
        return self._read(lambda turn: disk_looking.state(turn, self.name, hosts), QueueState(self.name, 0, 0, 0, 0, (), ()))

    def outstanding(self, source: str) -> int:
        return self._read(lambda turn: disk_looking.outstanding(turn, source), 0)

    def aside(self, limit: int = 100) -> list[Aside]:
        return self._read(lambda turn: disk_looking.aside(turn, limit), [])

    def again(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = disk_looking.set_aside(turn, ids)
            for row in found:
                disk_tasks.again(turn, row)
            return len(found)

        return self._changed(step)

    def drop(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = disk_looking.set_aside(turn, ids)
            for row in found:
                disk_tasks.remove(turn, row)
            return len(found)

        return self._changed(step)

    def clear(self) -> int:
        until = self._changed(disk_tasks.last)
        number = sum(iter(lambda: self._changed(lambda turn: disk_tasks.clear(turn, until, SLICE)), 0))
        while self._changed(lambda turn: disk_tasks.forget_seen(turn, SLICE)):
            pass
        if self._file.exists():
            self._file.shrink()
        return number

    def close(self) -> None:
        self._file.leave()

    def _given(self, ids: Collection[str], step: Callable[[Turn], None]) -> None:
        """``done`` or ``back``: the tasks are no more in this worker's hands."""
        if not ids or not self._number:  # who has left, or never took anything, has nothing
            return
        with self._lock:
            self._work(step)
            for id in ids:
                host = self._mine.pop(id, None)
                self._lost.discard(id)
                if host is not None:
                    self._hosts[host] -= 1
                    if not self._hosts[host]:
                        del self._hosts[host]
            self._alone = self._alone and bool(self._mine)

    def _work(self, step: Callable[[Turn], Answer], *, sweep: bool = False) -> Answer:
        """``step`` as a worker that is known to the others; it joins them by its first step, and anew if it was taken for dead."""

        def whole(turn: Turn) -> tuple[Answer, int]:
            turn.worker = self._number
            if not (turn.worker and disk_workers.lives(turn, turn.worker)):
                turn.worker = disk_workers.join(turn, self.worker)
                self._taken_for_dead()
            if sweep:
                disk_workers.sweep(turn)
            return step(turn), turn.worker

        with self._lock:
            answer, self._number = self._write(whole)
            return answer

    def _taken_for_dead(self) -> None:
        self._lost |= set(self._mine)
        self._forget_all()

    def _forget_all(self) -> None:
        self._mine.clear()
        self._hosts.clear()
        self._alone = False

    def _changed(self, step: Callable[[Turn], int]) -> int:
        """A change by hand; a file that is not there stays so."""
        return self._write(step) if self._file.exists() else 0

    def _write(self, step: Callable[[Turn], Answer]) -> Answer:
        def whole(sql: sqlite3.Connection) -> Answer:
            turn = Turn(sql, self._terms, self._ticks(), self._clock(), _queue(sql, self.name))
            answer = step(turn)
            turn.settle()
            return answer

        return self._file.write(whole)

    def _read(self, step: Callable[[Turn], Answer], otherwise: Answer) -> Answer:
        def whole(sql: sqlite3.Connection) -> Answer:
            found = sql.execute("SELECT number FROM queues WHERE name = ?", (self.name,)).fetchone()
            return otherwise if found is None else step(Turn(sql, self._terms, self._ticks(), self._clock(), found[0]))

        return self._file.read(whole) if self._file.exists() else otherwise


def _queue(sql: sqlite3.Connection, name: str) -> int:
    found = sql.execute("SELECT number FROM queues WHERE name = ?", (name,)).fetchone()
    if found is None:
        found = (sql.execute("INSERT INTO queues (name) VALUES (?)", (name,)).lastrowid,)
    return int(found[0])
