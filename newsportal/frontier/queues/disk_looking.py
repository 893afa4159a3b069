"""What is to be said of a queue on disk, for people and for those who decide what comes next."""

from __future__ import annotations

import json
from collections.abc import Collection

from newsportal.frontier.queues.base import Aside, HostState, QueueState, WorkerState
from newsportal.frontier.queues.disk_tasks import KNOWN, Row, lease_of, rows
from newsportal.frontier.queues.disk_turn import Turn
from newsportal.frontier.queues.identity import Identity, gone


def state(turn: Turn, name: str, hosts: int) -> QueueState:
    counts = dict(turn.sql.execute("SELECT state, number FROM counts WHERE queue = ?", (turn.queue,)).fetchall())
    return QueueState(
        name,
        waiting=sum(counts.get(one, 0) for one in ("ready", "behind", "suspect")),
        later=counts.get("later", 0),
        leased=counts.get("leased", 0),
        aside=counts.get("aside", 0),
        workers=tuple(_workers(turn)),
        hosts=tuple(_hosts(turn, hosts)),
    )


def outstanding(turn: Turn, source: str) -> int:
    found = turn.sql.execute("SELECT number FROM visits WHERE queue = ? AND source = ?", (turn.queue, source)).fetchone()
    return int(found[0]) if found else 0


def aside(turn: Turn, limit: int) -> list[Aside]:
    """Those set aside last first."""
    found = turn.sql.execute(
        "SELECT number, id, body, priority, at, lane, source, seen, tries, host, reason, since FROM tasks"
        " WHERE queue = ? AND state = 'aside' ORDER BY since DESC, number DESC LIMIT ?",
        (turn.queue, limit),
    ).fetchall()
    return [Aside(lease_of(row[9], row[:9]).task, row[10] or "", row[8], row[11]) for row in found]


def set_aside(turn: Turn, ids: Collection[str] | None) -> list[Row]:
    """Tasks that were set aside: all, or these."""
    if ids is not None:
        return [row for _, row in rows(turn, ids) if row.state == "aside"]
    found = turn.sql.execute(f"SELECT {KNOWN} FROM tasks WHERE queue = ? AND state = 'aside'", (turn.queue,))  # noqa: S608
    return [Row(*row) for row in found.fetchall()]


def _workers(turn: Turn) -> list[WorkerState]:
    """Those whose processes are there, as far as can be told; the others' tasks are handed on when somebody asks for work."""
    found = turn.sql.execute(
        "SELECT number, machine, pid, started, name, since, beat, doing,"
        " (SELECT count(*) FROM tasks WHERE worker = workers.number AND state = 'leased') FROM workers WHERE queue = ? ORDER BY number",
        (turn.queue,),
    ).fetchall()
    return [
        WorkerState(name, since, turn.wall - (turn.ticks - beat), leased, _held(turn, number), json.loads(doing))
        for number, machine, pid, started, name, since, beat, doing, leased in found
        if not gone(Identity(name, machine, pid, started))
    ]


def _held(turn: Turn, number: int) -> tuple[str, ...]:
    return tuple(host for (host,) in turn.sql.execute("SELECT host FROM hosts WHERE holder = ? ORDER BY host", (number,)))


def _hosts(turn: Turn, limit: int) -> list[HostState]:
    """Those of this queue with most waiting, then those that its workers hold."""
    found = turn.sql.execute(
        "SELECT lines.host, waiting, name, coalesce(hosts.free_at, 0) FROM lines LEFT JOIN hosts USING (host)"
        " LEFT JOIN workers ON workers.number = hosts.holder WHERE lines.queue = ? ORDER BY waiting DESC, lines.host LIMIT ?",
        (turn.queue, limit),
    ).fetchall()
    listed = {host for host, *_ in found}
    found += [
        row
        for row in turn.sql.execute(
            "SELECT host, 0, name, free_at FROM hosts JOIN workers ON workers.number = hosts.holder WHERE workers.queue = ? LIMIT ?",
            (turn.queue, limit),
        )
        if row[0] not in listed
    ]
    return [HostState(host, waiting, name, max(0.0, free_at - turn.ticks)) for host, waiting, name, free_at in found[:limit]]
