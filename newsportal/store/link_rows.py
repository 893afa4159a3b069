"""Rows of the link table: insertion, state transitions and deletion. Every function runs inside the caller's transaction."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Executable, bindparam, delete, func, insert, select, union_all, update

from newsportal.store.columns import name, storable
from newsportal.store.dialects import chunks
from newsportal.store.link_tables import DEFERRED, DONE, HELD, HOST_QUEUES, LEASED, LINKS, OVER, POISONED, WAITING, Moments, Task, Terms

SLICE: Final = 500  # rows deleted in one transaction: some hundredths of a second in which other writers wait
SUSPECT_TRIES: Final = 2  # died workers after which a request is leased on its own. One death may be bad luck: a worker has many requests.

HostQueue = tuple[str, str]  # host and queue


class Row(NamedTuple):
    """A row of the link table without its body. ``added``, ``changed``, ``not_before``: seconds since 1970."""

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
    fingerprint: int | None
    failures: int
    added: float
    changed: float
    reason: str | None
    not_before: float | None


ROW: Final = [LINKS.c[name] for name in Row._fields]
TASK: Final = [*ROW, LINKS.c.body]
OF_IDS = select(*ROW).where(LINKS.c.id.in_(bindparam("ids", expanding=True)))
DUE = (
    select(*ROW)
    .where(LINKS.c.queue == bindparam("q"), LINKS.c.not_before <= bindparam("until"), LINKS.c.state == DEFERRED)
    .order_by(LINKS.c.not_before)
    .limit(bindparam("most"))
)
SEEN = select(LINKS.c.fingerprint).where(
    LINKS.c.queue == bindparam("q"), LINKS.c.fingerprint.in_(bindparam("names", expanding=True)), LINKS.c.changed > bindparam("after")
)
INSERT = insert(LINKS)
MOVE = (
    update(LINKS)
    .where(LINKS.c.number.in_(bindparam("numbers", expanding=True)))
    .values(state=bindparam("b_state"), worker=bindparam("b_worker"), since=bindparam("b_since"), changed=bindparam("b_changed"))
)
_OF_LANES = (LINKS.c.queue == bindparam("q"), LINKS.c.lane.in_(bindparam("lanes", expanding=True)))
_PLACE = func.row_number().over(partition_by=LINKS.c.lane, order_by=(LINKS.c.precedence, LINKS.c.number)).label("place")
_BEHIND = select(*ROW, _PLACE).where(*_OF_LANES, LINKS.c.state == "behind").subquery()
LANE_ROWS = union_all(
    select(*ROW).where(*_OF_LANES, LINKS.c.state.in_(["ready", LEASED])),
    select(*(_BEHIND.c[name] for name in Row._fields)).where(_BEHIND.c.place == 1),
)  # rows that are leased or ready, and the next row of each lane
TOP = (
    select(func.min(LINKS.c.precedence))
    .where(LINKS.c.queue == bindparam("b_queue"), LINKS.c.state == "ready", LINKS.c.host == bindparam("b_host"))
    .scalar_subquery()
)
_HOST_QUEUE = (HOST_QUEUES.c.host == bindparam("b_host"), HOST_QUEUES.c.queue == bindparam("b_queue"))
_MORE = {name: HOST_QUEUES.c[name] + bindparam(f"b_{name}") for name in ("waiting", "ready")}
COUNT = update(HOST_QUEUES).where(*_HOST_QUEUE).values(**_MORE, top=TOP)
BEGIN = insert(HOST_QUEUES).values(**{name: bindparam(f"b_{name}") for name in ("host", "queue", "waiting", "ready")}, top=TOP)
END = delete(HOST_QUEUES).where(*_HOST_QUEUE, HOST_QUEUES.c.waiting <= 0)


@dataclass(slots=True)
class LinkTransaction:
    """One transaction on the link table, for ``queue`` and ``worker`` (0: none)."""

    connection: Connection
    now: Moments
    terms: Terms = field(default_factory=Terms)
    queue: str = ""
    worker: int = 0
    _waiting: Counter[HostQueue] = field(default_factory=Counter)
    _ready: Counter[HostQueue] = field(default_factory=Counter)
    _lanes: dict[tuple[str, str], None] = field(default_factory=dict)

    # insertion

    def add(self, tasks: Iterable[Task]) -> set[str]:
        """Add tasks, and return the ids added. Tasks that are waiting, leased, set aside or seen are skipped; finished ones wait again."""
        by_id = {task.id: task for task in tasks}
        existing = {row.id: row for row in self.rows(by_id)}
        numbers = {task.id: number_of(task.fingerprint) for task in by_id.values() if task.fingerprint is not None}
        seen, after = set[int | None](), self.now.wall - self.terms.forget
        for chunk in chunks(numbers.values()):
            seen.update(self.connection.scalars(SEEN, {"q": self.queue, "names": chunk, "after": after}))
        fresh, entered = [], set()
        for task in by_id.values():
            row, number = existing.get(task.id), numbers.get(task.id)
            if number in seen or (row is not None and (row.state not in OVER)):
                continue
            if number is not None:
                seen.add(number)
            later = task.at is not None and task.at > self.now.wall
            values: dict[str, Any] = {
                "id": task.id, "queue": self.queue, "state": DEFERRED if later else "ready" if task.lane is None else "behind",
                "host": name(task.host), "source": None if task.source is None else name(task.source), "precedence": -task.priority,
                "not_before": task.at, "lane": None if task.lane is None else name(task.lane),
                "fingerprint": number if row is None else row.fingerprint, "link": int(task.link), "tries": 0, "failures": 0,
                "added": self.now.wall, "changed": self.now.wall, "body": storable(task.body),
            }  # fmt: skip
            if row is None:
                fresh.append(values)
            else:  # finished before: it waits again, perhaps with another request
                reset = {**values, "reason": None, "since": None, "worker": None}
                self.connection.execute(update(LINKS).where(LINKS.c.number == row.number).values(reset))
            self._count(values["host"], self.queue, values["lane"], values["state"], 1)
            entered.add(task.id)
        if fresh:
            self.connection.execute(INSERT, fresh)
        return entered

    def rows(self, ids: Iterable[str]) -> list[Row]:
        """Return rows by id, of this queue if there is one; missing ones are omitted."""
        return [row for row in rows_of(self.connection, ids) if self.queue in ("", row.queue)]

    # state transitions

    def move(self, rows: Collection[Row], state: str, *, worker: int | None = None, since: float | None = None, **also: Any) -> None:
        """Change the state of rows, and the columns in ``also``."""
        values = {"b_state": state, "b_worker": worker, "b_since": since, "b_changed": self.now.wall}
        for chunk in chunks([row.number for row in rows]):
            self.connection.execute(MOVE.values(**also) if also else MOVE, {"numbers": chunk, **values})
        for row in rows:
            lane = None if (row.state, state) == ("ready", LEASED) else row.lane  # nothing else in its lane is ready
            self._count(row.host, row.queue, lane, row.state, -1)
            self._count(row.host, row.queue, lane, state, 1)

    def give_back(self, rows: Iterable[Row], at: float | None = None, **also: Any) -> None:
        """Return leased, set aside or due rows to the queue, with their old priority. ``at``: earliest time."""
        if at is not None and at > self.now.wall:
            self.move(list(rows), DEFERRED, not_before=at, **also)
            return
        places = defaultdict[str, list[Row]](list)
        for row in rows:
            places["suspect" if row.tries >= SUSPECT_TRIES else "ready" if row.lane is None else "behind"].append(row)
        for state, found in places.items():
            self.move(found, state, since=self.now.ticks if state == "suspect" else None, **also)

    def count_death(self, row: Row, worker: str) -> None:
        tries = row.tries + 1
        if tries < self.terms.tries:
            self.give_back([row._replace(tries=tries)], tries=tries)
        else:
            self.move([row], POISONED, since=self.now.wall, tries=tries, reason=f"{tries} workers died while they had it, at last {worker}")

    def end(self, rows: Collection[Row], state: str, reason: str | None = None) -> None:
        self.move(rows, state, body="", reason=None if reason is None else storable(reason), not_before=None)

    def fail(self, row: Row, reason: str, at: float | None) -> None:
        """Record a temporary failure; the row waits until ``at``."""
        self.give_back([row], at, reason=storable(reason), failures=row.failures + (at is not None))

    def remove(self, rows: Collection[Row]) -> None:
        for chunk in chunks([row.number for row in rows]):
            self.connection.execute(delete(LINKS).where(LINKS.c.number.in_(chunk)))
        for row in rows:
            self._count(row.host, row.queue, row.lane, row.state, -1)

    def wake(self, limit: int) -> None:
        """Return rows to the queue whose ``not_before`` has passed."""
        self.give_back(self.select(DUE, {"q": self.queue, "until": self.now.wall, "most": limit}), not_before=None)

    def clear(self) -> int:
        """Delete some of the waiting rows, and return their number."""
        query = select(*ROW).where(LINKS.c.queue == self.queue, LINKS.c.state.in_((*WAITING, DEFERRED, HELD))).limit(SLICE)
        rows = self.select(query)
        self.remove(rows)
        return len(rows)

    def forget_seen(self) -> None:
        """Remove fingerprints, so that requests pushed but never fetched do not count as seen."""
        of_queue = LINKS.c.queue == self.queue
        self.connection.execute(delete(LINKS).where(of_queue, LINKS.c.state == DONE))
        self.connection.execute(update(LINKS).where(of_queue, LINKS.c.fingerprint.is_not(None)).values(fingerprint=None))

    # derived tables

    def _count(self, host: str, queue: str, lane: str | None, state: str, by: int) -> None:
        if state in WAITING:
            self._waiting[host, queue] += by
            self._ready[host, queue] += by if state == "ready" else 0
        if lane is not None:
            self._lanes[queue, lane] = None

    def settle(self) -> None:
        """Make the next row of each lane ready, and write the counts of the hosts."""
        self._advance()
        shrunk = list[dict[str, Any]]()
        for (host, queue), waiting in self._waiting.items():
            values = {"b_host": host, "b_queue": queue, "b_waiting": waiting, "b_ready": self._ready[host, queue]}
            if waiting <= 0:
                shrunk.append(values)
            elif not self.connection.execute(COUNT, values).rowcount:
                self.connection.execute(BEGIN, values)
        if shrunk:
            self.connection.execute(COUNT, shrunk)
        if ended := [{name: values[name] for name in ("b_host", "b_queue")} for values in shrunk if values["b_waiting"] < 0]:
            self.connection.execute(END, ended)
        self._lanes.clear()
        self._waiting.clear()
        self._ready.clear()

    def _advance(self) -> None:
        """Make the most urgent row of each lane ready, unless one is leased."""
        lanes, rows = defaultdict[str, list[str]](list), defaultdict[tuple[str, str | None], list[Row]](list)
        for queue, lane in self._lanes:
            lanes[queue].append(lane)
        for queue, names in lanes.items():
            for chunk in chunks(names):
                for row in self.select(LANE_ROWS, {"q": queue, "lanes": chunk}):
                    rows[queue, row.lane].append(row)
        behind, ready = list[Row](), list[Row]()
        for found in rows.values():
            urgent = sorted((row for row in found if row.state != LEASED), key=lambda row: (row.precedence, row.number))
            first = urgent[:1] if len(urgent) == len(found) else []  # otherwise one is leased
            ready += [row for row in first if row.state == "behind"]
            behind += [row for row in urgent[len(first) :] if row.state == "ready"]
        self.move(behind, "behind")
        self.move(ready, "ready")

    def select(self, query: Executable, values: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the rows of a query with the columns of :data:`ROW`."""
        return [Row(*found) for found in self.connection.execute(query, values).all()]


def number_of(name: str) -> int:
    """Hash a name to 64 bits: a million take 20 MB, with one collision in 10 million cases."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def task_of(row: Any) -> Task:
    """Build the task from a row with the columns of :data:`TASK`."""
    return Task(row.id, row.host, row.body, -row.precedence, row.not_before, row.lane, row.source, None, bool(row.link))


def rows_of(connection: Connection, ids: Iterable[str]) -> list[Row]:
    return [Row(*found) for chunk in chunks(ids) for found in connection.execute(OF_IDS, {"ids": chunk})]


def rebuild(connection: Connection) -> None:
    """Rebuild the counts of hosts, for rows copied from another database."""
    connection.execute(delete(HOST_QUEUES))
    connection.execute(update(LINKS).where(LINKS.c.state == LEASED).values(state="ready", worker=None, since=None))
    connection.execute(update(LINKS).where(LINKS.c.state == "ready", LINKS.c.lane.is_not(None)).values(state="behind"))
    tx = LinkTransaction(connection, Moments(0.0, 0.0))
    waits = select(LINKS.c.host, LINKS.c.queue, LINKS.c.state, func.count()).where(LINKS.c.state.in_(WAITING))
    for host, queue, state, number in connection.execute(waits.group_by(LINKS.c.host, LINKS.c.queue, LINKS.c.state)).all():
        tx._count(host, queue, None, state, number)
    lanes = select(LINKS.c.queue, LINKS.c.lane).where(LINKS.c.state == "behind").distinct()
    tx._lanes.update(dict.fromkeys(connection.execute(lanes).all()))
    tx.settle()
