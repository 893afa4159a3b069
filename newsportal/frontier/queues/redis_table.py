"""Redis hands out what the table of links says: many machines share the work, and Redis may be lost at any moment.

What waits is written into the table first, then pushed. What is taken is looked up there: a row that is over is acknowledged without a
request. Rows that wait and that Redis does not know (it lost them, or their writer died before it pushed them) are pushed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from time import monotonic
from typing import Final, TypeVar

from sqlalchemy import func, select

from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.frontier.queues.base import Aside, QueueState, Taken, Task, WaitingLinks
from newsportal.frontier.queues.shared import SharedQueue
from newsportal.frontier.queues.table import end_request
from newsportal.frontier.queues.table_taking import task_of
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import ROW, Row, Turn
from newsportal.store.link_states import FAILED, LATER, WAITING
from newsportal.store.link_tables import LINKS
from newsportal.store.links import Links

Answer = TypeVar("Answer")

RECONCILE: Final = 15.0
"""Seconds between two comparisons of the table with Redis: one count each while they agree."""

PAGE: Final = 500


class RedisTableQueue:
    """A :class:`~newsportal.frontier.queues.base.Queue`."""

    def __init__(self, links: Links, redis: SharedQueue, *, close: Callable[[], None] = lambda: None) -> None:
        self.name, self.worker = redis.name, redis.worker
        self.links, self.redis, self._close = links, redis, close
        self._lock = RLock()
        self._compared = -RECONCILE
        self._away = False

    def push(self, tasks: Sequence[Task]) -> set[str]:
        def step(turn: Turn) -> tuple[set[str], list[Task]]:
            return turn.add(tasks), self._waiting_tasks(turn, [task.id for task in tasks])

        if not tasks:
            return set()
        entered, waiting = self._table(step)
        self._asked(lambda: self.redis.push(waiting))
        return entered

    def take(self, number: int, *, delay: float, ahead: float) -> Taken:
        self._compare()
        taken = self._asked(lambda: self.redis.take(number, delay=delay, ahead=ahead))
        if not taken.leases:
            return taken
        ids = [lease.task.id for lease in taken.leases]
        states = self._table(lambda turn: {row.id: (row.state, row.link) for row in turn.rows(ids)}, write=False)
        good = {id for id, (state, _) in states.items() if state in (*WAITING, LATER)}
        if over := [id for id in ids if id not in good]:
            self._asked(lambda: self.redis.done(over))
        leases = (replace(one, task=replace(one.task, link=bool(states[one.task.id][1]))) for one in taken.leases if one.task.id in good)
        return replace(taken, leases=tuple(leases))

    def done(self, ids: Collection[str]) -> None:
        def step(turn: Turn) -> dict[str, float | None]:
            for row in list(turn.rows(ids)):
                if row.state in WAITING:
                    end_request(turn, row)
            turn.settle()
            return {task.id: task.at for task in self._waiting_tasks(turn, ids)}

        if not ids:
            return
        moments = self._table(step)
        for id, at in moments.items():  # it failed in passing: it waits for another try
            self._asked(lambda id=id, at=at: self.redis.back([id], at=at))  # type: ignore[misc]
        self._asked(lambda: self.redis.done([id for id in ids if id not in moments]))

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        def step(turn: Turn) -> None:
            for row in list(turn.rows(ids)):
                if row.state in WAITING:
                    turn.give_back(row, at)

        if at is not None:
            self._table(step)
        self._asked(lambda: self.redis.back(ids, at=at))

    def refresh(self, ids: Collection[str]) -> None:
        tasks = self._table(lambda turn: self._waiting_tasks(turn, ids), write=False)
        self._asked(lambda: self.redis.hasten(tasks))

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        return self._asked(lambda: self.redis.beat(doing))

    def hold(self, host: str) -> float | None:
        return self._asked(lambda: self.redis.hold(host))

    def free(self, hosts: Mapping[str, float]) -> None:
        self._asked(lambda: self.redis.free(hosts))

    def claim(self, job: str, seconds: float) -> bool:
        return self._asked(lambda: self.redis.claim(job, seconds))

    def release(self, job: str) -> None:
        self._asked(lambda: self.redis.release(job))

    def leave(self) -> None:
        self._asked(self.redis.leave)

    def state(self, hosts: int = 20) -> QueueState:
        return self.redis.state(hosts)

    def outstanding(self, source: str) -> int:
        return self._asked(lambda: self.redis.outstanding(source))

    def retries(self) -> list[WaitingLinks]:
        return [row for row in self.links.waiting() if row.queue == self.name]

    def aside(self, limit: int = 100) -> list[Aside]:
        return self.redis.aside(limit)

    def again(self, ids: Collection[str] | None = None) -> int:
        return self.redis.again(ids)

    def drop(self, ids: Collection[str] | None = None) -> int:
        gone = [one.task.id for one in self.redis.aside(10_000) if ids is None or one.task.id in ids]

        def step(turn: Turn) -> None:
            for row in list(turn.rows(gone)):
                if row.link:
                    turn.end(row, FAILED, "dropped")
                else:
                    turn.remove([row])

        self._table(step)
        return self.redis.drop(ids)

    def clear(self) -> int:
        self._table(lambda turn: turn.clear())
        self._table(lambda turn: turn.forget_seen())
        return self.redis.clear()

    def close(self) -> None:
        self.redis.close()
        self._close()

    # the table is the truth

    def _compare(self) -> None:
        """Push what waits in the table and is not in Redis."""
        with self._lock:
            if monotonic() - self._compared < RECONCILE:
                return
            states = (LINKS.c.queue == self.name, LINKS.c.state.in_((*WAITING, LATER)))
            count = select(func.count()).select_from(LINKS).where(*states)
            number = self._table(lambda turn: turn.connection.scalar(count) or 0, write=False)
            there = self._asked(lambda: self.redis.state(0))
            self._compared = monotonic()
            last = 0
            while number > there.waiting + there.later + there.leased + there.aside:
                tasks, last = self._page(last)
                if not tasks:
                    return
                self._asked(lambda tasks=tasks: self.redis.push(tasks))  # type: ignore[misc]

    def _page(self, last: int) -> tuple[list[Task], int]:
        """Some of what waits, with the number of the last row."""
        asked = select(*ROW, LINKS.c.body, LINKS.c.not_before).where(LINKS.c.queue == self.name, LINKS.c.number > last)
        asked = asked.where(LINKS.c.state.in_((*WAITING, LATER))).order_by(LINKS.c.number).limit(PAGE)
        found = self._table(lambda turn: turn.connection.execute(asked).all(), write=False)
        return [task_of(Row(*one[:-2]), one[-2], one[-1]) for one in found], found[-1][0] if found else last

    def _waiting_tasks(self, turn: Turn, ids: Collection[str]) -> list[Task]:
        """Those of these rows that wait, as the table has them."""
        asked = select(*ROW, LINKS.c.body, LINKS.c.not_before).where(LINKS.c.queue == self.name, LINKS.c.state.in_((*WAITING, LATER)))
        found = [
            one
            for some in chunks(list(ids))
            for one in turn.connection.execute(asked.where(LINKS.c.id.in_(some)).order_by(LINKS.c.number)).all()
        ]
        return [task_of(Row(*one[:-2]), one[-2], one[-1]) for one in found]

    def _asked(self, ask: Callable[[], Answer]) -> Answer:
        try:
            answer = ask()
        except FrontierUnavailable:
            self._away = True
            raise
        if self._away:  # it may have come back empty
            self._away, self._compared = False, -RECONCILE
        return answer

    def _table(self, step: Callable[[Turn], Answer], *, write: bool = True) -> Answer:
        try:
            return (self.links.write if write else self.links.read)(step, self.name, self.redis.terms)
        except StoreError as error:
            raise FrontierUnavailable(f"table of links: {error}") from error
