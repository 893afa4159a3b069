"""The queue of requests in the store's link table, for the processes of one machine (SQLite) or of many (PostgreSQL, MariaDB). Guarantees:
``base``; tables: ``store.link_tables``.

An exchange is one short transaction. A worker whose process on this machine has ended is noticed within a second, others by missing beats.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from threading import RLock
from typing import Any, Final, TypeVar

from sqlalchemy import func, select, update

from newsportal.crawl.queues import base, table_leasing, table_workers
from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.store.columns import name as cut
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import ROW, SUSPECT_TRIES, TASK, LinkTransaction, Row, task_of
from newsportal.store.link_tables import DEFERRED, DONE, FAILED, HOST_LOCKS, HOST_QUEUES, LEASED, LINKS, POISONED, WAITING, WORKERS
from newsportal.store.links import Links

Answered = TypeVar("Answered")

RETRY_SECONDS: Final = 60.0  # seconds until a link is retried whose request ended without an outcome; doubled each time
MAX_UNFINISHED: Final = 5  # then the link has failed


class LinksBacked(base.Queue):
    """A queue backed by the ``links`` of a store."""

    name: str
    terms: base.Terms
    links: Links

    def retries(self) -> list[base.WaitingLinks]:
        return [row for row in self.links.waiting() if row.queue == self.name]

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        names = {cut(source): source for source in sources}
        of_queue = (LINKS.c.queue == self.name, LINKS.c.state.in_((*WAITING, LEASED)))
        query = select(LINKS.c.source, func.count()).where(*of_queue).group_by(LINKS.c.source)
        parts = [query.where(LINKS.c.source.in_(some)) for some in chunks(names)]
        found = self._table(lambda tx: [row for part in parts for row in tx.connection.execute(part)], write=False)
        return Counter({names[source]: number for source, number in found})

    def _table(self, step: Callable[[LinkTransaction], Answered], *, write: bool = True) -> Answered:
        try:
            return (self.links.write if write else self.links.read)(step, self.name, self.terms)
        except StoreError as error:
            raise FrontierUnavailable(f"queue of requests: {error}") from error


class TableQueue(LinksBacked):
    """A queue in the ``links`` of a store."""

    def __init__(
        self,
        links: Links,
        name: str,
        *,
        terms: base.Terms | None = None,
        worker: base.Identity | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self.worker = name, worker or base.identity()
        self.links, self.terms, self._close = links, terms or base.Terms(), close
        self._lock = RLock()
        self._number = 0
        self._last_heartbeat = -inf  # ticks of the last heartbeat of this worker, with maintenance of the tables if due
        self._mine: dict[str, base.Lease] = {}

    def exchange(self, order: base.Order) -> base.Answer:
        with self._lock:
            ended = order.ended
            mine = {id: lease for id, lease in self._mine.items() if id not in ended}
            has_suspect = any(lease.tries >= SUSPECT_TRIES for lease in mine.values())  # a suspect is processed alone
            by_host = Counter(lease.task.host for lease in mine.values())
            number = 0 if has_suspect else order.take or 0
            answer = base.Answer()
            leasing = table_leasing.Leasing(number, order.delay, order.ahead, by_host, answer)
            only_takes = order.take is not None and not order.changes and order.heartbeat is None
            if only_takes and self._table(lambda tx: self._idle(tx, leasing), write=False):
                return answer
            heartbeat = order.heartbeat is not None
            joins = heartbeat or order.take is not None or bool(order.hold)
            self._work(lambda tx: self._converse(tx, order, mine, leasing), joins=joins, heartbeat=heartbeat)
            leases = {lease.task.id: lease for lease in answer.leases}
            self._mine = {**{id: lease for id, lease in mine.items() if id not in answer.lost}, **leases}
            return answer

    def _idle(self, tx: LinkTransaction, leasing: table_leasing.Leasing) -> bool:
        tx.worker = self._number
        return self._number != 0 and not self._is_due(tx) and table_leasing.idle(tx, leasing)

    def _converse(self, tx: LinkTransaction, order: base.Order, mine: Mapping[str, base.Lease], leasing: table_leasing.Leasing) -> None:
        answer = leasing.answer
        answer.pushed = tx.add(order.push)
        if tx.worker:  # a worker that has left, or never took anything, has no leases
            rows = tx.rows(order.done)
            lost = [row for row in rows if not row.link and row.id in self._mine and row.state in WAITING]
            end_requests(tx, [*_leased(tx, rows), *lost])
            tx.add(order.requeue)
            for ids, at in order.back:
                tx.give_back(_leased(tx, tx.rows(ids)), at)
            table_workers.release_hosts(tx, {cut(host): max(0.0, seconds) for host, seconds in order.free.items()})
        if order.heartbeat:
            activity = json.dumps(dict(order.heartbeat), ensure_ascii=False)
            tx.connection.execute(update(WORKERS).where(WORKERS.c.number == tx.worker).values(activity=activity))
        if order.heartbeat is not None:
            leased = {row.id for row in tx.select(table_workers.LEASES, {"w": tx.worker})}
            # storing an article ends the lease of its link shortly before the request is done
            leased |= {row.id for row in tx.rows(mine.keys() - leased) if row.state not in (*WAITING, LEASED)}
            answer.lost = mine.keys() - leased
        answer.holds = {host: table_workers.hold(tx, cut(host)) for host in order.hold}
        if order.take is not None:
            table_leasing.take(tx, leasing)

    def claim(self, job: str, seconds: float) -> bool:
        return self._work(lambda tx: table_workers.claim(tx, cut(job), seconds))

    def release(self, job: str) -> None:
        if self._number:
            self._work(lambda tx: table_workers.release(tx, cut(job)))

    def leave(self) -> None:
        with self._lock:
            if self._number:
                self._work(lambda tx: table_workers.remove_worker(tx, tx.worker))
                self._number, self._last_heartbeat = 0, -inf
                self._mine.clear()

    def state(self, hosts: int = 20) -> base.QueueState:
        return self._table(lambda tx: _state(tx, hosts), write=False)

    def aside(self, limit: int = 100) -> list[base.SetAside]:
        """Return the tasks set aside, the latest first."""
        query = select(*TASK, LINKS.c.since).where(LINKS.c.queue == self.name, LINKS.c.state == POISONED)
        query = query.order_by(LINKS.c.since.desc(), LINKS.c.number.desc()).limit(limit)
        found = self._table(lambda tx: tx.connection.execute(query).all(), write=False)
        return [base.SetAside(task_of(row), row.reason or "", row.tries, row.since) for row in found]

    def requeue(self, ids: Collection[str] | None = None) -> int:
        return self._settle(ids, lambda tx, rows: tx.give_back([row._replace(tries=0) for row in rows], tries=0, reason=None))

    def drop(self, ids: Collection[str] | None = None) -> int:
        return self._settle(ids, LinkTransaction.remove)

    def _settle(self, ids: Collection[str] | None, apply: Callable[[LinkTransaction, list[Row]], None]) -> int:
        """Apply ``apply`` to rows that were set aside: all, or these."""

        def step(tx: LinkTransaction) -> int:
            query = select(*ROW).where(LINKS.c.queue == tx.queue, LINKS.c.state == POISONED)
            selected = [row for row in tx.select(query) if ids is None or row.id in ids]
            apply(tx, selected)
            return len(selected)

        return self._table(step)

    def clear(self) -> int:
        number = sum(iter(lambda: self._table(lambda tx: tx.clear()), 0))
        self._table(lambda tx: tx.forget_seen())
        return number

    def close(self) -> None:
        self._close()

    def _is_due(self, tx: LinkTransaction) -> bool:
        return not 0 <= tx.now.ticks - self._last_heartbeat < min(table_workers.SWEEP_SECONDS, self.terms.lease / 4)

    def _work(self, step: Callable[[LinkTransaction], Answered], *, joins: bool = True, heartbeat: bool = True) -> Answered:
        """Run ``step`` as a registered worker: it registers with its first work, and again after it was presumed dead."""

        def work(tx: LinkTransaction) -> tuple[Answered, int, float]:
            tx.worker, last_heartbeat = self._number, self._last_heartbeat
            if (tx.worker or joins) and (heartbeat or self._is_due(tx)):
                last_heartbeat = tx.now.ticks
                beats = tx.connection.execute(table_workers.HEARTBEAT, {"w": tx.worker, "now": tx.now.ticks})
                if not beats.rowcount:
                    tx.worker = table_workers.join(tx, self.worker)
                table_workers.sweep(tx)
            return step(tx), tx.worker, last_heartbeat

        with self._lock:
            answer, self._number, self._last_heartbeat = self._table(work)
            return answer


def end_requests(tx: LinkTransaction, rows: Sequence[Row]) -> None:
    """Finish requests that were answered: links without an outcome wait for a retry; other rows are deleted, except for fingerprints."""
    tx.remove([row for row in rows if not row.link and row.fingerprint is None])
    tx.end([row for row in rows if not row.link and row.fingerprint is not None], DONE)
    for row in rows:
        if row.link and row.failures >= MAX_UNFINISHED:
            tx.end([row], FAILED, "unfinished")
        elif row.link:
            tx.fail(row, "unfinished", tx.now.wall + RETRY_SECONDS * 2**row.failures)


def _leased(tx: LinkTransaction, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.worker == tx.worker and row.state == LEASED]


def _state(tx: LinkTransaction, hosts: int) -> base.QueueState:
    by_state = select(LINKS.c.state, func.count()).where(LINKS.c.queue == tx.queue).group_by(LINKS.c.state)
    counts: dict[str, int] = dict(tx.connection.execute(by_state).all())
    # the hosts of this queue with most waiting, then those held by its workers
    table = HOST_QUEUES.c
    columns = select(table.host, table.waiting, WORKERS.c.name, func.coalesce(HOST_LOCKS.c.next_request, 0.0))
    joined = HOST_QUEUES.outerjoin(HOST_LOCKS, HOST_LOCKS.c.host == table.host).outerjoin(WORKERS, WORKERS.c.number == HOST_LOCKS.c.worker)
    busiest = columns.select_from(joined).where(table.queue == tx.queue).order_by(table.waiting.desc(), table.host).limit(hosts)
    found: list[Any] = list(tx.connection.execute(busiest).all())
    included = {row[0] for row in found}
    locks = select(HOST_LOCKS.c.host, WORKERS.c.name, HOST_LOCKS.c.next_request).join(WORKERS, WORKERS.c.number == HOST_LOCKS.c.worker)
    for host, name, at in tx.connection.execute(locks.where(WORKERS.c.queue == tx.queue).limit(hosts)).all():
        if host not in included:
            found.append((host, 0, name, at))
    return base.QueueState(
        tx.queue,
        waiting=sum(counts.get(state, 0) for state in WAITING),
        later=counts.get(DEFERRED, 0),
        leased=counts.get(LEASED, 0),
        aside=counts.get(POISONED, 0),
        workers=tuple(_workers(tx)),
        hosts=tuple(base.HostState(host, waiting, name, max(0.0, at - tx.now.ticks)) for host, waiting, name, at in found[:hosts]),
    )


def _workers(tx: LinkTransaction) -> list[base.WorkerState]:
    """Return the workers whose processes are alive, as far as is known."""
    found = tx.connection.execute(select(WORKERS).where(WORKERS.c.queue == tx.queue).order_by(WORKERS.c.number)).all()
    workers = []
    for row in found:
        if base.has_ended(base.Identity(row.name, row.machine, row.pid, row.started)):
            continue
        mine = select(func.count()).select_from(LINKS).where(LINKS.c.worker == row.number, LINKS.c.state == LEASED)
        held = select(HOST_LOCKS.c.host).where(HOST_LOCKS.c.worker == row.number).order_by(HOST_LOCKS.c.host)
        leased, hosts = tx.connection.scalar(mine) or 0, tuple(tx.connection.scalars(held))
        heartbeat = tx.now.wall - (tx.now.ticks - row.heartbeat)
        workers.append(base.WorkerState(row.name, row.since, heartbeat, leased, hosts, json.loads(row.activity)))
    return workers
