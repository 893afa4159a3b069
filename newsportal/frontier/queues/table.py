"""The queue of requests in the record's table of links, for the processes of one machine (SQLite) or of many (PostgreSQL, MariaDB).
Promises: ``base``; tables: ``store.link_tables``.

Every call is one short transaction. A worker's process that is gone from this machine is seen within a second, any other by its silence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import RLock
from typing import Any, Final, TypeVar

from sqlalchemy import func, select

from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.frontier.queues import table_taking, table_workers
from newsportal.frontier.queues.base import (
    Aside,
    HostState,
    Identity,
    QueueState,
    Taken,
    Task,
    Terms,
    WaitingLinks,
    WorkerState,
    gone,
    identity,
)
from newsportal.store.columns import name as cut
from newsportal.store.link_rows import ROW, Row, Turn
from newsportal.store.link_tables import ASIDE, HOSTS, LATER, LEASED, LINES, LINKS, OUTSTANDING, WAITING, WORKERS
from newsportal.store.links import Links

Answer = TypeVar("Answer")

UNFINISHED: Final = 60.0
"""Seconds after which a link is asked for again whose request ended without a word of its fate; twice as long each time."""

MOST_UNFINISHED: Final = 5
"""Then the link has failed."""


def stay_open() -> None:
    """The store stays open: others use it."""


class TableQueue:
    """A :class:`~newsportal.frontier.queues.base.Queue` over ``links``, the room of a store."""

    def __init__(
        self,
        links: Links,
        name: str,
        *,
        terms: Terms | None = None,
        worker: Identity | None = None,
        close: Callable[[], None] = stay_open,
    ) -> None:
        self.name, self.worker = name, worker or identity()
        self.links, self._terms, self._close = links, terms or Terms(), close
        self._lock = RLock()
        self._number = 0
        self._mine: dict[str, str] = {}
        self._hosts: Counter[str] = Counter()
        self._lost: set[str] = set()
        self._alone = False

    def push(self, tasks: Sequence[Task]) -> set[str]:
        return self._write(lambda turn: turn.add(tasks)) if tasks else set()

    def take(self, number: int, *, delay: float, ahead: float) -> Taken:
        with self._lock:
            found = self._read(self._idle)
            if found is not None:
                return found
            taken, suspect = self._work(
                lambda turn: table_taking.take(turn, number, delay, ahead, self._hosts, alone=self._alone), sweep=True
            )
            self._alone = self._alone or suspect
            for lease in taken.leases:
                self._mine[lease.task.id] = lease.task.host
                self._hosts[lease.task.host] += 1
                self._lost.discard(lease.task.id)
            return taken

    def _idle(self, turn: Turn) -> Taken | None:
        turn.worker = self._number
        return table_taking.idle(turn) if self._number and not table_workers.is_due(turn) else None

    def done(self, ids: Collection[str]) -> None:
        def step(turn: Turn) -> None:
            for row in turn.rows(ids):
                ours = row.worker == turn.worker and row.state == LEASED
                if ours or (not row.link and row.id in self._lost and row.state in WAITING):
                    end_request(turn, row)

        self._given(ids, step)

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        def step(turn: Turn) -> None:
            for row in turn.rows(ids):
                if row.worker == turn.worker and row.state == LEASED:
                    turn.give_back(row, at)

        self._given(ids, step)

    def refresh(self, ids: Collection[str]) -> None:
        """The table is what this queue hands out."""

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        def step(turn: Turn) -> None:
            if doing is not None:
                table_workers.say(turn, doing)

        with self._lock:
            self._work(step, sweep=True)
            lost, self._lost = self._lost, set()
            return lost

    def hold(self, host: str) -> float | None:
        def step(turn: Turn) -> float | None:
            of = table_workers.holder(turn, cut(host))
            if of > 0 and of != turn.worker and table_workers.look_after(turn, of):
                of = table_workers.holder(turn, cut(host))
            if of in (0, turn.worker, -turn.worker):
                return table_workers.take_host(turn, cut(host))
            table_workers.want(turn, cut(host))
            return None

        return self._work(step, sweep=True)

    def free(self, hosts: Mapping[str, float]) -> None:
        def step(turn: Turn) -> None:
            for host, seconds in hosts.items():
                table_workers.let_go(turn, cut(host), turn.worker, max(0.0, seconds))

        if hosts and self._number:
            self._work(step)

    def claim(self, job: str, seconds: float) -> bool:
        return self._work(lambda turn: table_workers.claim(turn, cut(job), seconds), sweep=True)

    def release(self, job: str) -> None:
        if self._number:
            self._work(lambda turn: table_workers.release(turn, cut(job)))

    def leave(self) -> None:
        with self._lock:
            if self._number:
                self._work(table_workers.leave)
                self._number = 0
                self._forget_all()

    def state(self, hosts: int = 20) -> QueueState:
        return self._read(lambda turn: _state(turn, hosts))

    def outstanding(self, source: str) -> int:
        asked = (LINKS.c.queue == self.name, LINKS.c.source == cut(source), LINKS.c.state.in_(OUTSTANDING))
        return int(self._read(lambda turn: turn.connection.scalar(select(func.count()).select_from(LINKS).where(*asked))) or 0)

    def retries(self) -> list[WaitingLinks]:
        return [row for row in self.links.waiting() if row.queue == self.name]

    def aside(self, limit: int = 100) -> list[Aside]:
        """Those set aside last first."""
        asked = select(*ROW, LINKS.c.body, LINKS.c.not_before, LINKS.c.reason, LINKS.c.since)
        asked = asked.where(LINKS.c.queue == self.name, LINKS.c.state == ASIDE).order_by(LINKS.c.since.desc(), LINKS.c.number.desc())
        found = self._read(lambda turn: turn.connection.execute(asked.limit(limit)).all())
        rows = [(Row(*one[:-4]), *one[-4:]) for one in found]
        return [Aside(table_taking.task_of(row, body, at), reason or "", row.tries, since) for row, body, at, reason, since in rows]

    def again(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = _set_aside(turn, ids)
            for row in found:
                turn.set(row, tries=0, reason=None)
                turn.move([row], "ready" if row.lane is None else "behind")
            return len(found)

        return self._write(step)

    def drop(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = _set_aside(turn, ids)
            turn.remove(found)
            return len(found)

        return self._write(step)

    def clear(self) -> int:
        number = sum(iter(lambda: self._write(lambda turn: turn.clear()), 0))
        self._write(lambda turn: turn.forget_seen())
        return number

    def close(self) -> None:
        self._close()

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

        def whole(turn: Turn) -> tuple[Answer, int, bool]:
            turn.worker, joined = self._number, False
            if not (turn.worker and table_workers.lives(turn, turn.worker)):
                turn.worker, joined = table_workers.join(turn, self.worker), True
            if sweep:
                table_workers.sweep(turn)
            if joined:
                self._taken_for_dead()
            return step(turn), turn.worker, joined

        with self._lock:
            answer, self._number, _ = self._write(whole)
            return answer

    def _taken_for_dead(self) -> None:
        self._lost |= set(self._mine)
        self._forget_all()

    def _forget_all(self) -> None:
        self._mine.clear()
        self._hosts.clear()
        self._alone = False

    def _write(self, step: Callable[[Turn], Answer]) -> Answer:
        try:
            return self.links.write(step, self.name, self._terms)
        except StoreError as error:
            raise FrontierUnavailable(f"queue of requests: {error}") from error

    def _read(self, step: Callable[[Turn], Answer]) -> Answer:
        try:
            return self.links.read(step, self.name, self._terms)
        except StoreError as error:
            raise FrontierUnavailable(f"queue of requests: {error}") from error


def end_request(turn: Turn, row: Row) -> None:
    """A request was answered. If it was for a link, and nothing was said of that, it is asked for again."""
    if row.link:
        turn.fail(row, "unfinished", turn.wall + UNFINISHED * 2**row.failures, most=MOST_UNFINISHED)
    else:
        turn.finish(row)


def _set_aside(turn: Turn, ids: Collection[str] | None) -> list[Row]:
    """Rows that were set aside: all, or these."""
    if ids is not None:
        return [row for row in turn.rows(ids) if row.state == ASIDE]
    found = turn.connection.execute(select(*ROW).where(LINKS.c.queue == turn.queue, LINKS.c.state == ASIDE)).all()
    return [Row(*one) for one in found]


def _state(turn: Turn, hosts: int) -> QueueState:
    counted = select(LINKS.c.state, func.count()).where(LINKS.c.queue == turn.queue).group_by(LINKS.c.state)
    counts: dict[str, int] = dict(turn.connection.execute(counted).all())
    return QueueState(
        turn.queue,
        waiting=sum(counts.get(one, 0) for one in WAITING),
        later=counts.get(LATER, 0),
        leased=counts.get(LEASED, 0),
        aside=counts.get(ASIDE, 0),
        workers=tuple(_workers(turn)),
        hosts=tuple(_hosts(turn, hosts)),
    )


def _workers(turn: Turn) -> list[WorkerState]:
    """Those whose processes are there, as far as can be told; the others' tasks are handed on when somebody asks for work."""
    found = turn.connection.execute(select(WORKERS).where(WORKERS.c.queue == turn.queue).order_by(WORKERS.c.number)).all()
    workers = []
    for one in found:
        if gone(Identity(one.name, one.machine, one.pid, one.started)):
            continue
        mine = select(func.count()).select_from(LINKS).where(LINKS.c.worker == one.number, LINKS.c.state == LEASED)
        hosts = turn.connection.scalars(select(HOSTS.c.host).where(HOSTS.c.holder == one.number).order_by(HOSTS.c.host)).all()
        beat = turn.wall - (turn.ticks - one.beat)
        workers.append(WorkerState(one.name, one.since, beat, turn.connection.scalar(mine) or 0, tuple(hosts), json.loads(one.doing)))
    return workers


def _hosts(turn: Turn, limit: int) -> list[HostState]:
    """Those of this queue with most waiting, then those that its workers hold."""
    named = select(LINES.c.host, LINES.c.waiting, WORKERS.c.name, func.coalesce(HOSTS.c.free_at, 0.0))
    joined = LINES.outerjoin(HOSTS, HOSTS.c.host == LINES.c.host).outerjoin(WORKERS, WORKERS.c.number == HOSTS.c.holder)
    waits = named.select_from(joined).where(LINES.c.queue == turn.queue).order_by(LINES.c.waiting.desc(), LINES.c.host).limit(limit)
    found: list[Any] = list(turn.connection.execute(waits).all())
    listed = {one[0] for one in found}
    held = select(HOSTS.c.host, WORKERS.c.name, HOSTS.c.free_at).join(WORKERS, WORKERS.c.number == HOSTS.c.holder)
    for host, name, free_at in turn.connection.execute(held.where(WORKERS.c.queue == turn.queue).limit(limit)).all():
        if host not in listed:
            found.append((host, 0, name, free_at))
    return [HostState(host, waiting, name, max(0.0, free_at - turn.ticks)) for host, waiting, name, free_at in found[:limit]]
