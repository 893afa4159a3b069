"""Rows of the table of links: how they come in, move from state to state, and go. Every function runs inside the caller's transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from newsportal.store.columns import name, storable
from newsportal.store.dialects import chunks
from newsportal.store.link_tables import (
    ASIDE,
    DONE,
    FAILED,
    HELD,
    HOSTS,
    LATER,
    LEASED,
    LINES,
    LINKS,
    OVER,
    WAITING,
    Moments,
    Task,
    Terms,
    number_of,
)

SLICE: Final = 500
"""Rows that are forgotten in one transaction: some hundredths of a second in which the others wait."""

SUSPECT_TRIES: Final = 2
"""Workers that died with a row until it is handed out alone. The first death is bad luck: a worker has many rows in hand."""

Line = tuple[str, str]
"""A host and a queue."""


@dataclass(frozen=True, slots=True)
class Row:
    """What must be known of a row to move it."""

    number: int
    id: str
    queue: str
    host: str
    source: str | None
    state: str
    lane: str | None
    precedence: int
    tries: int
    worker: int | None
    link: int
    seen: int | None
    failures: int


ROW: Final = [LINKS.c[name] for name in Row.__dataclass_fields__]
OF_QUEUE = select(*ROW).where(LINKS.c.queue == bindparam("q"), LINKS.c.id.in_(bindparam("ids", expanding=True)))
OF_IDS = select(*ROW).where(LINKS.c.id.in_(bindparam("ids", expanding=True)))
DUE = (
    select(*ROW)
    .where(LINKS.c.queue == bindparam("q"), LINKS.c.not_before <= bindparam("until"), LINKS.c.state == LATER)
    .order_by(LINKS.c.not_before)
    .limit(bindparam("most"))
)
SEEN = select(LINKS.c.seen).where(
    LINKS.c.queue == bindparam("q"), LINKS.c.seen.in_(bindparam("names", expanding=True)), LINKS.c.changed > bindparam("after")
)
INSERT = insert(LINKS)
MOVE = (
    update(LINKS)
    .where(LINKS.c.number == bindparam("b_number"))
    .values(state=bindparam("b_state"), worker=bindparam("b_worker"), since=bindparam("b_since"), changed=bindparam("b_changed"))
)
LANE_HEAD = select(*ROW).where(LINKS.c.queue == bindparam("q"), LINKS.c.lane == bindparam("lane"), LINKS.c.state.in_(["ready", LEASED]))
LANE_NEXT = (
    select(*ROW)
    .where(LINKS.c.queue == bindparam("q"), LINKS.c.lane == bindparam("lane"), LINKS.c.state == "behind")
    .order_by(LINKS.c.precedence, LINKS.c.number)
    .limit(1)
)
TOP = (
    select(func.min(LINKS.c.precedence))
    .where(LINKS.c.queue == bindparam("b_queue"), LINKS.c.state == "ready", LINKS.c.host == bindparam("b_host"))
    .scalar_subquery()
)
ON_LINE = (LINES.c.host == bindparam("b_host"), LINES.c.queue == bindparam("b_queue"))
COUNT_LINE = (
    update(LINES)
    .where(*ON_LINE)
    .values(waiting=LINES.c.waiting + bindparam("b_waiting"), ready=LINES.c.ready + bindparam("b_ready"), top=TOP)
)
END_LINE = delete(LINES).where(*ON_LINE, LINES.c.waiting <= 0)
HOST = select(HOSTS.c.holder, HOSTS.c.free_at, HOSTS.c.wanted_by, HOSTS.c.wanted_until).where(HOSTS.c.host == bindparam("h"))


@dataclass(slots=True)
class Turn:
    """One transaction on the table of links. ``queue`` and ``worker``: whose it is (0: no worker's)."""

    connection: Connection
    now: Moments
    terms: Terms = field(default_factory=Terms)
    queue: str = ""
    worker: int = 0
    _waiting: Counter[Line] = field(default_factory=Counter)
    _ready: Counter[Line] = field(default_factory=Counter)
    _touched: dict[Line, None] = field(default_factory=dict)
    _lanes: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def ticks(self) -> float:
        return self.now.ticks

    @property
    def wall(self) -> float:
        return self.now.wall

    # into the table

    def add(self, tasks: Iterable[Task], *, reopen: bool = True) -> set[str]:
        """Let tasks wait; answers the ids that were taken in: not those that wait, are leased or set aside, or whose fingerprint was seen.
        ``reopen``: a link that is over is asked for once more."""
        wanted = {task.id: task for task in tasks}
        there = {row.id: row for row in self.rows(wanted)}
        numbers = {task.id: number_of(task.seen) for task in wanted.values() if task.seen is not None}
        seen = self._seen_before(numbers.values())
        fresh, entered = [], set()
        for task in wanted.values():
            row, number = there.get(task.id), numbers.get(task.id)
            if number in seen or (row is not None and (row.state not in OVER or not reopen)):
                continue
            if number is not None:
                seen.add(number)
            if row is not None:
                self._enter(row, task)
            else:
                fresh.append(self._values(task, number))
            entered.add(task.id)
        if fresh:
            self.connection.execute(INSERT, fresh)
            for values in fresh:
                self._count(values["host"], self.queue, values["lane"], values["state"], 1)
        return entered

    def _seen_before(self, numbers: Iterable[int]) -> set[int | None]:
        asked, found = list(numbers), set[int | None]()
        for some in chunks(asked):
            after = self.wall - self.terms.forget
            found.update(self.connection.scalars(SEEN, {"q": self.queue, "names": some, "after": after}))
        return found

    def _state_of(self, task: Task) -> str:
        if task.at is not None and task.at > self.wall:
            return LATER
        return "ready" if task.lane is None else "behind"

    def _values(self, task: Task, seen: int | None) -> dict[str, Any]:
        state = self._state_of(task)
        return {
            "id": task.id,
            "queue": self.queue,
            "state": state,
            "host": name(task.host),
            "source": None if task.source is None else name(task.source),
            "precedence": -task.priority,
            "not_before": task.at,
            "lane": None if task.lane is None else name(task.lane),
            "seen": seen,
            "link": int(task.link),
            "tries": 0,
            "failures": 0,
            "added": self.wall,
            "changed": self.wall,
            "body": storable(task.body),
        }

    def _enter(self, row: Row, task: Task) -> None:
        """A row that was over waits again, for another request perhaps."""
        values = self._values(task, row.seen)
        del values["id"]
        self.connection.execute(update(LINKS).where(LINKS.c.number == row.number).values(**values, reason=None, since=None, worker=None))
        self._count(values["host"], self.queue, values["lane"], values["state"], 1)

    def rows(self, ids: Collection[str]) -> Iterator[Row]:
        """Rows of this queue by id; those that are not there are left out."""
        for some in chunks(list(ids)):
            for found in self.connection.execute(OF_QUEUE, {"q": self.queue, "ids": some}).all():
                yield Row(*found)

    def rows_anywhere(self, ids: Collection[str]) -> Iterator[Row]:
        """Rows of all queues by id."""
        for some in chunks(list(ids)):
            for found in self.connection.execute(OF_IDS, {"ids": some}).all():
                yield Row(*found)

    # from state to state

    def move(self, rows: Sequence[Row], state: str, *, worker: int | None = None, since: float | None = None) -> None:
        """The rows' state is ``state`` from now on."""
        if not rows:
            return
        values = {"b_state": state, "b_worker": worker, "b_since": since, "b_changed": self.wall}
        self.connection.execute(MOVE, [{"b_number": row.number, **values} for row in rows])
        for row in rows:
            self._count(row.host, row.queue, row.lane, row.state, -1)
            self._count(row.host, row.queue, row.lane, state, 1)

    def set(self, row: Row, **values: Any) -> None:
        self.connection.execute(update(LINKS).where(LINKS.c.number == row.number).values(**values))

    def give_back(self, row: Row, at: float | None = None) -> None:
        """A row that was leased, set aside or due waits again, at its old place. ``at``: not before."""
        if at is not None and at > self.wall:
            self.set(row, not_before=at)
            self.move([row], LATER)
        elif row.tries >= SUSPECT_TRIES:
            self.move([row], "suspect", since=self.ticks)
        else:
            self.move([row], "ready" if row.lane is None else "behind")

    def bury(self, row: Row, worker: str) -> None:
        """The worker that had it is dead."""
        row = replace(row, tries=row.tries + 1)
        if row.tries < self.terms.tries:
            self.set(row, tries=row.tries)
            self.give_back(row)
            return
        self.set(row, tries=row.tries, reason=f"{row.tries} workers died while they had it, at last {worker}")
        self.move([row], ASIDE, since=self.wall)

    def end(self, row: Row, state: str, reason: str | None = None) -> None:
        """It is over."""
        self.set(row, body="", reason=None if reason is None else storable(reason), not_before=None)
        self.move([row], state)

    def fail(self, row: Row, reason: str, at: float | None, *, most: int | None = None) -> None:
        """It failed in passing, and waits until ``at``. ``most``: failures until it is over."""
        if most is not None and row.failures >= most:
            self.end(row, FAILED, reason)
            return
        self.set(row, reason=storable(reason), failures=row.failures + (at is not None))
        self.give_back(row, at)

    def finish(self, row: Row) -> None:
        """A request that is no link was answered: its row goes, unless its fingerprint is to be remembered."""
        if row.seen is not None:
            self.end(row, DONE)
            return
        self.remove([row])

    def remove(self, rows: Sequence[Row]) -> None:
        for some in chunks([row.number for row in rows]):
            self.connection.execute(delete(LINKS).where(LINKS.c.number.in_(some)))
        for row in rows:
            self._count(row.host, row.queue, row.lane, row.state, -1)

    def wake(self, limit: int) -> None:
        """Rows whose time has come wait from now on."""
        due = self.connection.execute(DUE, {"q": self.queue, "until": self.wall, "most": limit}).all()
        for row in [Row(*found) for found in due]:
            self.give_back(row)
        if due:
            self.connection.execute(update(LINKS).where(LINKS.c.number.in_([found[0] for found in due])).values(not_before=None))

    def clear(self) -> int:
        """Forget some of what waits; answers how many rows it were."""
        asked = select(*ROW).where(LINKS.c.queue == self.queue, LINKS.c.state.in_((*WAITING, LATER, HELD))).limit(SLICE)
        rows = [Row(*found) for found in self.connection.execute(asked).all()]
        self.remove(rows)
        return len(rows)

    def forget_seen(self) -> None:
        """Forget the fingerprints of this queue: what was pushed and never fetched must not count as seen."""
        of_queue = LINKS.c.queue == self.queue
        self.connection.execute(delete(LINKS).where(of_queue, LINKS.c.state == DONE))
        self.connection.execute(update(LINKS).where(of_queue, LINKS.c.seen.is_not(None)).values(seen=None))

    # what stands beside the rows

    def _count(self, host: str, queue: str, lane: str | None, state: str, by: int) -> None:
        if state in WAITING:
            self._waiting[host, queue] += by
            self._touched[host, queue] = None
            if state == "ready":
                self._ready[host, queue] += by
        if lane is not None:
            self._lanes[queue, lane] = None

    def settle(self) -> None:
        """Let the next row of each lane come forward, and write the figures of the hosts."""
        lanes, self._lanes = self._lanes, {}
        for queue, lane in lanes:
            self._advance(queue, lane)
        self._lanes.clear()
        touched, self._touched = self._touched, {}
        for line in touched:
            self._write_line(line, self._waiting[line], self._ready[line])
        self._waiting.clear()
        self._ready.clear()

    def _advance(self, queue: str, lane: str) -> None:
        """Of a lane one row is ready or in flight: the most urgent."""
        key = {"q": queue, "lane": lane}
        heads = [Row(*found) for found in self.connection.execute(LANE_HEAD, key).all()]
        ready = [row for row in heads if row.state == "ready"]
        if len(ready) < len(heads):
            self.move(ready, "behind")
            return
        found = self.connection.execute(LANE_NEXT, key).first()
        best = None if found is None else Row(*found)
        ready.sort(key=lambda row: (row.precedence, row.number))
        first = ready[0] if ready else None
        if best is not None and (first is None or (best.precedence, best.number) < (first.precedence, first.number)):
            self.move(ready, "behind")
            self.move([best], "ready")
        else:
            self.move(ready[1:], "behind")

    def _write_line(self, line: Line, waiting: int, ready: int) -> None:
        host, queue = line
        values = {"b_host": host, "b_queue": queue}
        changed = self.connection.execute(COUNT_LINE, {**values, "b_waiting": waiting, "b_ready": ready}).rowcount
        if not changed and waiting > 0:
            self._begin_line(line, waiting, ready)
        elif waiting < 0:
            self.connection.execute(END_LINE, values)

    def _begin_line(self, line: Line, waiting: int, ready: int) -> None:
        """The first row of a host: who holds the host, or from when it may be asked, is said beside it."""
        host, queue = line
        holder, free_at = 0, 0.0
        known = self.connection.execute(HOST, {"h": host}).first()
        if known is not None:
            holder, free_at = known[0] or (-known[2] if known[3] > self.ticks else 0), known[1]
        top = self.connection.scalar(select(TOP), {"b_queue": queue, "b_host": host})
        values = {"waiting": waiting, "ready": ready, "top": top, "holder": holder, "free_at": free_at}
        resting = int(holder == 0 and free_at > self.ticks)
        self.connection.execute(insert(LINES).values(host=host, queue=queue, resting=resting, **values))


def rebuild(connection: Connection) -> None:
    """Count the hosts anew: the rows were copied from another database, or the figures are lost. Nobody holds or leases anything then."""
    for table in (LINES, HOSTS):
        connection.execute(delete(table))
    connection.execute(update(LINKS).where(LINKS.c.state == LEASED).values(state="ready", worker=None, since=None))
    connection.execute(update(LINKS).where(LINKS.c.state == "ready", LINKS.c.lane.is_not(None)).values(state="behind"))
    turn = Turn(connection, Moments(0.0, 0.0))
    waits = select(LINKS.c.host, LINKS.c.queue, LINKS.c.state, func.count()).where(LINKS.c.state.in_(WAITING))
    for host, queue, state, number in connection.execute(waits.group_by(LINKS.c.host, LINKS.c.queue, LINKS.c.state)).all():
        turn._waiting[host, queue] += number
        turn._ready[host, queue] += number if state == "ready" else 0
        turn._touched[host, queue] = None
    lanes = select(LINKS.c.queue, LINKS.c.lane).where(LINKS.c.state == "behind").distinct()
    turn._lanes.update(dict.fromkeys(connection.execute(lanes).all()))
    turn.settle()
