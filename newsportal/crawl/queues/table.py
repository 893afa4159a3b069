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

from newsportal.crawl.queues import table_taking, table_workers
from newsportal.crawl.queues.base import (
    Aside,
    HostState,
    Identity,
    Lease,
    Queue,
    QueueState,
    Taken,
    Task,
    Terms,
    WaitingLinks,
    WorkerState,
    gone,
    identity,
)
from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.store.columns import name as cut
from newsportal.store.link_rows import ROW, SUSPECT_TRIES, TASK, Row, Turn, task_of
from newsportal.store.link_tables import ASIDE, DONE, FAILED, HOSTS, LATER, LEASED, LINES, LINKS, OUTSTANDING, WAITING, WORKERS
from newsportal.store.links import Links

Answer = TypeVar("Answer")

UNFINISHED: Final = 60.0  # seconds until a link is asked for again whose request ended without an outcome; twice as long each time
MOST_UNFINISHED: Final = 5  # then the link has failed


def stay_open() -> None:
    """The store stays open: others use it."""


class LinksBacked(Queue):
    """A queue over the ``links`` of a store."""

    name: str
    terms: Terms
    links: Links

    def retries(self) -> list[WaitingLinks]:
        return [row for row in self.links.waiting() if row.queue == self.name]

    def outstanding(self, source: str) -> int:
        asked = (LINKS.c.queue == self.name, LINKS.c.source == cut(source), LINKS.c.state.in_(OUTSTANDING))
        return int(
            self._table(lambda turn: turn.connection.scalar(select(func.count()).select_from(LINKS).where(*asked)), write=False) or 0
        )

    def _table(self, step: Callable[[Turn], Answer], *, write: bool = True) -> Answer:
        try:
            return (self.links.write if write else self.links.read)(step, self.name, self.terms)
        except StoreError as error:
            raise FrontierUnavailable(f"queue of requests: {error}") from error


class TableQueue(LinksBacked):
    """A queue that hands out the ``links`` of a store."""

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
        self.links, self.terms, self._close = links, terms or Terms(), close
        self._lock = RLock()
        self._number = 0
        self._mine: dict[str, Lease] = {}

    def push(self, tasks: Sequence[Task]) -> set[str]:
        return self._table(lambda turn: turn.add(tasks)) if tasks else set()

    def take(self, number: int, *, delay: float, ahead: float) -> Taken:
        with self._lock:
            alone = any(lease.tries >= SUSPECT_TRIES for lease in self._mine.values())  # nothing goes with a suspect
            in_hand = Counter(lease.task.host for lease in self._mine.values())
            taking = table_taking.Taking(0 if alone else number, delay, ahead, in_hand)
            found = self._table(lambda turn: self._idle(turn, taking), write=False)
            if found is not None:
                return found
            taken = self._work(lambda turn: table_taking.take(turn, taking), sweep=True)
            self._mine.update((lease.task.id, lease) for lease in taken.leases)
            return taken

    def _idle(self, turn: Turn, taking: table_taking.Taking) -> Taken | None:
        turn.worker = self._number
        return table_taking.idle(turn, taking) if self._number and not table_workers.is_due(turn) else None

    def done(self, ids: Collection[str]) -> None:
        def step(turn: Turn) -> None:
            rows = turn.rows(ids)
            lost = [row for row in rows if not row.link and row.id in self._mine and row.state in WAITING]
            end_requests(turn, [*_leased(turn, rows), *lost])

        self._given(ids, step)

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        self._given(ids, lambda turn: turn.give_back(_leased(turn, turn.rows(ids)), at))

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        def step(turn: Turn) -> set[str]:
            if doing is not None:
                table_workers.save_doing(turn, doing)
            held = {row.id for row in table_workers.leased(turn, turn.worker)}
            # whoever stores an article ends its link's lease, a moment before the request is done
            return held | {row.id for row in turn.rows(self._mine.keys() - held) if row.state not in (*WAITING, LEASED)}

        with self._lock:
            lost = self._mine.keys() - self._work(step, sweep=True)
            for id in lost:
                del self._mine[id]
            return lost

    def hold(self, host: str) -> float | None:
        def step(turn: Turn) -> float | None:
            of = table_workers.holder(turn, cut(host))
            if of > 0 and of != turn.worker and table_workers.bury_if_dead(turn, of):
                of = table_workers.holder(turn, cut(host))
            if of in (0, turn.worker, -turn.worker):
                return table_workers.take_hosts(turn, [cut(host)])[cut(host)]
            table_workers.want(turn, cut(host))
            return None

        return self._work(step, sweep=True)

    def free(self, hosts: Mapping[str, float]) -> None:
        def step(turn: Turn) -> None:
            table_workers.let_go(turn, turn.worker, {cut(host): max(0.0, seconds) for host, seconds in hosts.items()})

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
                self._work(lambda turn: table_workers.part(turn, turn.worker))
                self._number = 0
                self._mine.clear()

    def state(self, hosts: int = 20) -> QueueState:
        return self._table(lambda turn: _state(turn, hosts), write=False)

    def aside(self, limit: int = 100) -> list[Aside]:
        """The last first."""
        asked = select(*TASK, LINKS.c.reason, LINKS.c.since).where(LINKS.c.queue == self.name, LINKS.c.state == ASIDE)
        asked = asked.order_by(LINKS.c.since.desc(), LINKS.c.number.desc()).limit(limit)
        found = self._table(lambda turn: turn.connection.execute(asked).all(), write=False)
        return [Aside(task_of(one), one.reason or "", one.tries, one.since) for one in found]

    def again(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = [row._replace(tries=0) for row in _set_aside(turn, ids)]
            turn.give_back(found, tries=0, reason=None)
            return len(found)

        return self._table(step)

    def drop(self, ids: Collection[str] | None = None) -> int:
        def step(turn: Turn) -> int:
            found = _set_aside(turn, ids)
            turn.remove(found)
            return len(found)

        return self._table(step)

    def clear(self) -> int:
        number = sum(iter(lambda: self._table(lambda turn: turn.clear()), 0))
        self._table(lambda turn: turn.forget_seen())
        return number

    def close(self) -> None:
        self._close()

    def _given(self, ids: Collection[str], step: Callable[[Turn], None]) -> None:
        """The tasks leave this worker's hands."""
        if not ids or not self._number:  # who has left, or never took anything, has nothing
            return
        with self._lock:
            self._work(step)
            for id in ids:
                self._mine.pop(id, None)

    def _work(self, step: Callable[[Turn], Answer], *, sweep: bool = False) -> Answer:
        """``step`` by a worker that the others know: it joins them at its first step, and again if it was taken for dead."""

        def whole(turn: Turn) -> tuple[Answer, int]:
            turn.worker = self._number
            if not (turn.worker and table_workers.lives(turn, turn.worker)):
                turn.worker = table_workers.join(turn, self.worker)
            if sweep:
                table_workers.sweep(turn)
            return step(turn), turn.worker

        with self._lock:
            answer, self._number = self._table(whole)
            return answer


def end_requests(turn: Turn, rows: Sequence[Row]) -> None:
    """Requests were answered: links without an outcome wait for another try; other rows go, but fingerprints are remembered."""
    turn.remove([row for row in rows if not row.link and row.seen is None])
    turn.end([row for row in rows if not row.link and row.seen is not None], DONE)
    for row in rows:
        if row.link and row.failures >= MOST_UNFINISHED:
            turn.end([row], FAILED, "unfinished")
        elif row.link:
            turn.fail(row, "unfinished", turn.wall + UNFINISHED * 2**row.failures)


def _leased(turn: Turn, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.worker == turn.worker and row.state == LEASED]


def _set_aside(turn: Turn, ids: Collection[str] | None) -> list[Row]:
    if ids is not None:
        return [row for row in turn.rows(ids) if row.state == ASIDE]
    found = turn.connection.execute(select(*ROW).where(LINKS.c.queue == turn.queue, LINKS.c.state == ASIDE)).all()
    return [Row(*one) for one in found]


def _state(turn: Turn, hosts: int) -> QueueState:
    counted = select(LINKS.c.state, func.count()).where(LINKS.c.queue == turn.queue).group_by(LINKS.c.state)
    counts: dict[str, int] = dict(turn.connection.execute(counted).all())
    # hosts of this queue with most waiting, then those that its workers hold
    named = select(LINES.c.host, LINES.c.waiting, WORKERS.c.name, func.coalesce(HOSTS.c.free_at, 0.0))
    joined = LINES.outerjoin(HOSTS, HOSTS.c.host == LINES.c.host).outerjoin(WORKERS, WORKERS.c.number == HOSTS.c.holder)
    waits = named.select_from(joined).where(LINES.c.queue == turn.queue).order_by(LINES.c.waiting.desc(), LINES.c.host).limit(hosts)
    found: list[Any] = list(turn.connection.execute(waits).all())
    listed = {one[0] for one in found}
    held = select(HOSTS.c.host, WORKERS.c.name, HOSTS.c.free_at).join(WORKERS, WORKERS.c.number == HOSTS.c.holder)
    for host, name, free_at in turn.connection.execute(held.where(WORKERS.c.queue == turn.queue).limit(hosts)).all():
        if host not in listed:
            found.append((host, 0, name, free_at))
    return QueueState(
        turn.queue,
        waiting=sum(counts.get(one, 0) for one in WAITING),
        later=counts.get(LATER, 0),
        leased=counts.get(LEASED, 0),
        aside=counts.get(ASIDE, 0),
        workers=tuple(_workers(turn)),
        hosts=tuple(HostState(host, waiting, name, max(0.0, free_at - turn.ticks)) for host, waiting, name, free_at in found[:hosts]),
    )


def _workers(turn: Turn) -> list[WorkerState]:
    """Those whose processes are there, as far as is known."""
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
