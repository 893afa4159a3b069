"""Tasks of the queue on disk: how they come in, are leased, go back and go. Their states are told in ``disk_schema``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from newsportal.frontier.queues.base import Lease, Task
from newsportal.frontier.queues.disk_turn import Turn, number_of

SUSPECT_TRIES = 2
"""Workers that died with a task until it is handed out alone. The first death is bad luck: a worker has many tasks in hand."""

KNOWN = "number, queue, host, source, state, lane, priority, tries, worker"
BATCH = 500
"""Names in one question: SQLite of old allows 999."""


@dataclass(frozen=True, slots=True)
class Row:
    """What must be known of a task to move it."""

    number: int
    queue: int
    host: str
    source: str | None
    state: str
    lane: str | None
    priority: int
    tries: int
    worker: int | None


def push(turn: Turn, task: Task) -> bool:
    """Let it wait; False if it is here already or was seen."""
    sql, seen = turn.sql, None if task.seen is None else number_of(task.seen)
    if seen is not None:
        found = sql.execute("SELECT at FROM seen WHERE queue = ? AND name = ?", (turn.queue, seen)).fetchone()
        if found is not None and turn.wall - found[0] < turn.terms.forget:
            return False
    later = task.at is not None and task.at > turn.wall
    state = "later" if later else "ready" if task.lane is None else "behind"
    done = sql.execute(
        "INSERT OR IGNORE INTO tasks (queue, id, host, state, priority, at, lane, source, seen, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (turn.queue, task.id, task.host, state, task.priority, task.at, task.lane, task.source, task.seen, task.body),
    )
    if not done.rowcount:
        return False
    if seen is not None:
        sql.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (turn.queue, seen, turn.wall))
    turn.tally.count(turn.queue, task.host, task.source, state, 1)
    if state == "behind" and done.lastrowid is not None:
        _come_forward(turn, Row(done.lastrowid, turn.queue, task.host, task.source, state, task.lane, task.priority, 0, None))
    return True


def rows(turn: Turn, ids: Collection[str]) -> Iterator[tuple[str, Row]]:
    """Tasks of this queue by id; those that are not there are left out."""
    names = list(ids)
    for start in range(0, len(names), BATCH):
        some = names[start : start + BATCH]
        marks = ", ".join("?" * len(some))
        found = turn.sql.execute(f"SELECT id, {KNOWN} FROM tasks WHERE queue = ? AND id IN ({marks})", (turn.queue, *some))  # noqa: S608
        yield from [(row[0], Row(*row[1:])) for row in found.fetchall()]


def lease(turn: Turn, host: str, number: int) -> list[Lease]:
    """At most ``number`` ready tasks of a host, which this worker holds."""
    found = turn.sql.execute(
        "SELECT number, id, body, priority, at, lane, source, seen, tries FROM tasks WHERE queue = ? AND host = ? AND state = 'ready'"
        " ORDER BY priority DESC, number LIMIT ?",
        (turn.queue, host, number),
    ).fetchall()
    turn.sql.executemany("UPDATE tasks SET state = 'leased', worker = ? WHERE number = ?", [(turn.worker, row[0]) for row in found])
    for row in found:
        turn.tally.count(turn.queue, host, row[6], "ready", -1)
        turn.tally.count(turn.queue, host, row[6], "leased", 1)
    return [lease_of(host, row) for row in found]


def lease_of(host: str, row: Any) -> Lease:
    _, id, body, priority, at, lane, source, seen, tries = row
    return Lease(Task(id, host, body, priority, at, lane, source, seen), tries)


def lease_suspect(turn: Turn, row: Row) -> list[Lease]:
    """This one alone, or nothing if another of its lane is in flight."""
    if row.lane is not None and not _take_lane(turn, row):
        return []
    found = turn.sql.execute(
        "SELECT number, id, body, priority, at, lane, source, seen, tries FROM tasks WHERE number = ?", (row.number,)
    ).fetchone()
    _set(turn, row, "leased", worker=turn.worker)
    return [lease_of(row.host, found)]


def remove(turn: Turn, row: Row) -> None:
    """The task is done, or dropped; its lane goes on."""
    turn.sql.execute("DELETE FROM tasks WHERE number = ?", (row.number,))
    turn.tally.count(row.queue, row.host, row.source, row.state, -1)
    _leave_lane(turn, row)


def back(turn: Turn, row: Row, at: float | None = None) -> None:
    """A leased task, or one that was set aside, waits again, at its old place."""
    if at is not None and at > turn.wall:
        turn.sql.execute("UPDATE tasks SET at = ? WHERE number = ?", (at, row.number))
        _set(turn, row, "later")
        _leave_lane(turn, row)
    elif row.tries >= SUSPECT_TRIES:
        _set(turn, row, "suspect", since=turn.ticks)
        _leave_lane(turn, row)
    else:
        _wait(turn, row)


def died(turn: Turn, row: Row, worker: str) -> None:
    """The worker that had it is dead."""
    tries = row.tries + 1
    turn.sql.execute("UPDATE tasks SET tries = ? WHERE number = ?", (tries, row.number))
    if tries < turn.terms.tries:
        back(turn, Row(row.number, row.queue, row.host, row.source, row.state, row.lane, row.priority, tries, row.worker))
        return
    reason = f"{tries} workers died while they had it, at last {worker}"
    turn.sql.execute("UPDATE tasks SET reason = ? WHERE number = ?", (reason, row.number))
    _set(turn, row, "aside", since=turn.wall)
    _leave_lane(turn, row)


def wake(turn: Turn, limit: int) -> None:
    """Tasks whose time has come, wait."""
    found = turn.sql.execute(
        f"SELECT {KNOWN} FROM tasks WHERE queue = ? AND state = 'later' AND at <= ? ORDER BY at LIMIT ?",  # noqa: S608
        (turn.queue, turn.wall, limit),
    )
    for row in [Row(*row) for row in found.fetchall()]:
        if row.tries >= SUSPECT_TRIES:
            _set(turn, row, "suspect", since=turn.ticks)
        else:
            _wait(turn, row)


def _wait(turn: Turn, row: Row) -> None:
    if row.lane is None:
        _set(turn, row, "ready")
        return
    _set(turn, row, "behind")
    head = _head(turn, row)
    if head is not None and head.number == row.number:  # it was the one in flight: the most urgent of the lane comes now
        _leave_lane(turn, row)
    else:
        _come_forward(turn, row, head)


def _come_forward(turn: Turn, row: Row, head: Row | None = None) -> None:
    """A task that is behind becomes its lane's first if there is none, or only a less urgent one that nobody has yet."""
    head = head or _head(turn, row)
    if head is None:
        turn.sql.execute("INSERT INTO lanes VALUES (?, ?, ?)", (row.queue, row.lane, row.number))
    elif head.state == "ready" and (head.priority, -head.number) < (row.priority, -row.number):
        _set(turn, head, "behind")
        turn.sql.execute("UPDATE lanes SET task = ? WHERE queue = ? AND lane = ?", (row.number, row.queue, row.lane))
    else:
        return
    _set(turn, Row(row.number, row.queue, row.host, row.source, "behind", row.lane, row.priority, row.tries, None), "ready")


def _head(turn: Turn, row: Row) -> Row | None:
    """The task of a lane that is in flight, or the next to be."""
    found = turn.sql.execute(
        f"SELECT {KNOWN} FROM tasks WHERE number = (SELECT task FROM lanes WHERE queue = ? AND lane = ?)",  # noqa: S608
        (row.queue, row.lane),
    ).fetchone()
    return Row(*found) if found else None


def _take_lane(turn: Turn, row: Row) -> bool:
    head = _head(turn, row)
    if head is not None and head.state != "ready":
        return False
    if head is not None:
        _set(turn, head, "behind")
    turn.sql.execute("INSERT OR REPLACE INTO lanes VALUES (?, ?, ?)", (row.queue, row.lane, row.number))
    return True


def _leave_lane(turn: Turn, row: Row) -> None:
    """If it was its lane's first, the next one comes."""
    if row.lane is None:
        return
    key = (row.queue, row.lane)
    found = turn.sql.execute("SELECT task FROM lanes WHERE queue = ? AND lane = ?", key).fetchone()
    if found is None or found[0] != row.number:
        return
    following = turn.sql.execute(
        f"SELECT {KNOWN} FROM tasks WHERE queue = ? AND lane = ? AND state = 'behind' ORDER BY priority DESC, number LIMIT 1",  # noqa: S608
        key,
    ).fetchone()
    if following is None:
        turn.sql.execute("DELETE FROM lanes WHERE queue = ? AND lane = ?", key)
        return
    turn.sql.execute("UPDATE lanes SET task = ? WHERE queue = ? AND lane = ?", (following[0], *key))
    _set(turn, Row(*following), "ready")


def _set(turn: Turn, row: Row, state: str, *, worker: int | None = None, since: float | None = None) -> None:
    """The task's state now is ``state``; ``row`` tells the one it leaves."""
    turn.sql.execute("UPDATE tasks SET state = ?, worker = ?, since = ? WHERE number = ?", (state, worker, since, row.number))
    turn.tally.count(row.queue, row.host, row.source, row.state, -1)
    turn.tally.count(row.queue, row.host, row.source, state, 1)


def again(turn: Turn, row: Row) -> None:
    """One that was set aside waits anew, as if nobody had died of it."""
    turn.sql.execute("UPDATE tasks SET tries = 0, reason = NULL WHERE number = ?", (row.number,))
    _wait(turn, Row(row.number, row.queue, row.host, row.source, row.state, row.lane, row.priority, 0, None))


def last(turn: Turn) -> int:
    """The number of the task that came last."""
    (number,) = turn.sql.execute("SELECT max(number) FROM tasks").fetchone()
    return number or 0


def clear(turn: Turn, until: int, limit: int) -> int:
    """Forget so many of the tasks that wait and came not after ``until``; answers how many they were."""
    found = turn.sql.execute(
        f"SELECT {KNOWN} FROM tasks WHERE queue = ? AND number <= ? AND state IN ('ready', 'behind', 'later', 'suspect') LIMIT ?",  # noqa: S608
        (turn.queue, until, limit),
    )
    gone = [Row(*row) for row in found.fetchall()]
    turn.sql.executemany("DELETE FROM tasks WHERE number = ?", [(row.number,) for row in gone])
    for row in gone:
        turn.tally.count(row.queue, row.host, row.source, row.state, -1)
    for row in gone:
        _leave_lane(turn, row)
    return len(gone)


def forget_seen(turn: Turn, limit: int) -> int:
    """Forget so many of the seen addresses: one that was pushed and never fetched must not count as seen."""
    return turn.sql.execute(
        "DELETE FROM seen WHERE queue = ? AND name IN (SELECT name FROM seen WHERE queue = ? LIMIT ?)", (turn.queue, turn.queue, limit)
    ).rowcount
