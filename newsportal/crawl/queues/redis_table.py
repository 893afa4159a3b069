"""A queue in Redis backed by the link table: many machines share the work, and Redis may be lost at any time.

Tasks are written to the table, then pushed without body, which halves the memory of Redis. Tasks that are taken are looked up in the
table; rows that Redis lacks are pushed again.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from sqlalchemy import func, select

from newsportal.crawl.queues.base import Answer, Order, SetAside, Task
from newsportal.crawl.queues.redis_partition import Partition
from newsportal.crawl.queues.redis_queue import RedisQueue
from newsportal.crawl.queues.table import LinksBacked, end_requests
from newsportal.errors import FrontierUnavailable
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import TASK, LinkTransaction, task_of
from newsportal.store.link_tables import DEFERRED, FAILED, LINKS, WAITING
from newsportal.store.links import Links

RECONCILE: Final = 15.0  # seconds between two comparisons of the table with Redis: one count each while they agree
PAGE: Final = 500
MAX_PAGES: Final = 10  # pages pushed again per take at most: some tenths of a second for which this worker is busy


class RedisTableQueue(LinksBacked, RedisQueue):
    """A queue in Redis backed by the ``links`` of a store."""

    backed = True

    def __init__(self, *args: Any, links: Links, close: Callable[[], None] = lambda: None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.links, self._close = links, close
        self._compared = -RECONCILE
        self._was_away = False
        self._was_empty = False
        self._last_pushed: int | None = None  # number of the last row that was pushed again, during a comparison

    def exchange(self, order: Order) -> Answer:
        if order.take is not None:
            self._compare()
        queued = set[str]()
        if order.push or order.done or order.requeue or any(at is not None for _, at in order.back):
            queued, order = self._table(lambda tx, order=order: self._write(tx, order))  # type: ignore[misc]
        answer = super().exchange(order)
        idle = order.take is not None and not answer.leases
        empty = idle and not answer.waiting and not self._leased_number
        if (idle and self._was_away) or (empty and not self._was_empty):
            self._compared = -RECONCILE  # a node is back without the changes it missed, or Redis may have restarted empty unnoticed
            self._compare()
            retry = Order(take=order.take, delay=order.delay, ahead=order.ahead)
            answer = replace(super().exchange(retry), lost=answer.lost, holds=answer.holds)
        answer.pushed, self._was_empty = queued, empty
        if ids := [lease.task.id for lease in answer.leases]:
            tasks = {task.id: task for task in self._table(lambda tx: self._waiting_tasks(tx, ids), write=False)}
            super().exchange(Order(done=[id for id in ids if id not in tasks]))
            answer.leases = tuple(
                replace(lease, task=_with_body(lease.task, tasks[lease.task.id])) for lease in answer.leases if lease.task.id in tasks
            )
        return answer

    def _write(self, tx: LinkTransaction, order: Order) -> tuple[set[str], Order]:
        """Apply ``order`` to the table; return the ids that were queued, and the order that is left for Redis."""
        queued = tx.add(order.push)
        pushed = self._waiting_tasks(tx, [task.id for task in order.push])
        end_requests(tx, [row for row in tx.rows(order.done) if row.state in WAITING])
        failed = {task.id: task.at for task in self._waiting_tasks(tx, order.done)}  # transient failures: they wait for a retry
        tx.add(order.requeue)
        requeued = self._waiting_tasks(tx, [task.id for task in order.requeue])
        for ids, at in order.back:
            if at is not None:
                tx.give_back([row for row in tx.rows(ids) if row.state in WAITING], at)
        return queued, replace(
            order,
            push=_without_bodies(pushed),
            done=[id for id in order.done if id not in failed],
            requeue=_without_bodies(requeued),
            back=[*(([id], at) for id, at in failed.items()), *order.back],
        )

    def refresh(self, ids: Collection[str]) -> None:
        order = Order(push=_without_bodies(self._table(lambda tx: self._waiting_tasks(tx, ids), write=False)))
        orders = self._by_part(order)
        self._each(lambda part: part.make_due(orders[part].push), orders, strict=self.whole)

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        try:
            return RedisQueue.outstanding(self, sources)
        except FrontierUnavailable:
            return super().outstanding(sources)  # including tasks of the unreachable node

    def aside(self, limit: int = 100) -> list[SetAside]:
        found = super().aside(limit)
        tasks = {task.id: task for task in self._table(lambda tx: self._waiting_tasks(tx, [row.task.id for row in found]), write=False)}
        return [replace(row, task=_with_body(row.task, tasks.get(row.task.id, row.task))) for row in found]

    def drop(self, ids: Collection[str] | None = None) -> int:
        dropped = [row.task.id for row in self.aside(10_000) if ids is None or row.task.id in ids]

        def step(tx: LinkTransaction) -> None:
            rows = tx.rows(dropped)
            tx.end([row for row in rows if row.link], FAILED, "dropped")
            tx.remove([row for row in rows if not row.link])

        self._table(step)
        return super().drop(ids)

    def clear(self) -> int:
        self._table(lambda tx: tx.clear())
        self._table(lambda tx: tx.forget_seen())
        return super().clear()

    def close(self) -> None:
        super().close()
        self._close()

    def _recover(self, part: Partition) -> None:
        self._compared, self._was_away, self._last_pushed = -RECONCILE, True, None

    def _compare(self) -> None:
        """Push tasks of the table that Redis lacks, some pages per call."""
        with self._lock:
            if self._last_pushed is None and monotonic() - self._compared >= RECONCILE and self._differs():
                self._last_pushed = 0
            query = select(*TASK).where(*self._waits()).order_by(LINKS.c.number).limit(PAGE)
            for _ in range(MAX_PAGES if self._last_pushed is not None else 0):
                page = query.where(LINKS.c.number > self._last_pushed)
                found = self._table(lambda tx, page=page: tx.connection.execute(page).all(), write=False)  # type: ignore[misc]
                super().exchange(Order(push=_without_bodies(map(task_of, found))))
                self._last_pushed = found[-1].number if found else None
                if not found:
                    return

    def _differs(self) -> bool:
        """Return whether Redis has fewer tasks than the table, or was unreachable: finished tasks it still has may hide missing ones."""
        count = select(func.count()).select_from(LINKS).where(*self._waits())
        number = self._table(lambda tx: tx.connection.scalar(count) or 0, write=False)
        was_away, self._was_away = self._was_away, False
        self._compared = monotonic()
        try:
            state = self.state(0)
        except FrontierUnavailable:
            return was_away
        return was_away or number > state.waiting + state.later + state.leased + state.aside

    def _waits(self) -> tuple[Any, ...]:
        return LINKS.c.queue == self.name, LINKS.c.state.in_((*WAITING, DEFERRED))

    def _waiting_tasks(self, tx: LinkTransaction, ids: Collection[str]) -> list[Task]:
        """Return those of these rows that wait."""
        query = select(*TASK).where(*self._waits()).order_by(LINKS.c.number)
        return [task_of(row) for some in chunks(ids) for row in tx.connection.execute(query.where(LINKS.c.id.in_(some)))]


def _without_bodies(tasks: Iterable[Task]) -> list[Task]:
    return [replace(task, body="") for task in tasks]


def _with_body(task: Task, row: Task) -> Task:
    """Complete a task from Redis with its row."""
    return replace(task, body=row.body, link=row.link)
