"""Workers of the queue on disk: who is there, who died, and what becomes of what the dead had."""

from __future__ import annotations

import json
from collections.abc import Mapping

from newsportal.frontier.queues import disk_hosts, disk_tasks
from newsportal.frontier.queues.disk_tasks import KNOWN, Row
from newsportal.frontier.queues.disk_turn import Turn
from newsportal.frontier.queues.identity import Identity, gone

SWEEP = 1.0
"""Seconds between two looks after the dead: each costs some 20 microseconds a worker."""

FORGET_EVERY = 86400.0
"""Seconds between two walks over the seen addresses, to forget the old ones."""


def join(turn: Turn, who: Identity) -> int:
    """Its number in this file."""
    made = turn.sql.execute(
        "INSERT INTO workers (queue, name, machine, pid, started, since, beat) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn.queue, who.name, who.machine, who.pid, who.started, turn.wall, turn.ticks),
    )
    return made.lastrowid or 0


def lives(turn: Turn, number: int) -> bool:
    """It gives a sign of life; False if it was taken for dead."""
    return bool(turn.sql.execute("UPDATE workers SET beat = ? WHERE number = ?", (turn.ticks, number)).rowcount)


def say(turn: Turn, doing: Mapping[str, str]) -> None:
    told = json.dumps(dict(doing), ensure_ascii=False)
    turn.sql.execute("UPDATE workers SET doing = ? WHERE number = ?", (told, turn.worker))


def sweep(turn: Turn) -> None:
    """Now and then, whoever comes along: bury the dead, and put in order what time has changed."""
    ticks, swept = turn.sql.execute("SELECT ticks, swept FROM clock").fetchone()
    if ticks <= turn.ticks < ticks + SWEEP:
        return
    turn.sql.execute("UPDATE clock SET ticks = ?", (turn.ticks,))
    if ticks > turn.ticks:  # the machine was started anew, and so is its count of seconds
        turn.sql.execute("UPDATE workers SET beat = min(beat, ?), hungry = 0", (turn.ticks,))
        turn.sql.execute("UPDATE jobs SET until = 0")
        turn.sql.execute("UPDATE tasks SET since = ? WHERE state = 'suspect'", (turn.ticks,))
        disk_hosts.begin_anew(turn)
    for number, who, beat in _all(turn):
        if dead(turn, number, who, beat):
            bury(turn, number)
    disk_hosts.tidy(turn)
    if abs(turn.wall - swept) > FORGET_EVERY:
        turn.sql.execute("DELETE FROM seen WHERE at <= ?", (turn.wall - turn.terms.forget,))
        turn.sql.execute("UPDATE clock SET swept = ?", (turn.wall,))


def dead(turn: Turn, number: int, who: Identity, beat: float) -> bool:
    return number != turn.worker and (turn.ticks - beat > turn.terms.lease or gone(who))


def look_after(turn: Turn, number: int) -> bool:
    """Whether this worker, who is in somebody's way, is there no more; buried if so."""
    found = [(who, beat) for one, who, beat in _all(turn) if one == number]
    if found and not dead(turn, number, *found[0]):
        return False
    bury(turn, number)
    return True


def bury(turn: Turn, number: int) -> None:
    """What it had goes back, with one try more; its hosts rest as if they had been asked just now."""
    name, delay = turn.sql.execute("SELECT name, delay FROM workers WHERE number = ?", (number,)).fetchone() or ("", 0.0)
    for row in leased(turn, number):
        disk_tasks.died(turn, row, name)
    _forget(turn, number, delay)


def leave(turn: Turn) -> None:
    """This worker ends well."""
    (delay,) = turn.sql.execute("SELECT delay FROM workers WHERE number = ?", (turn.worker,)).fetchone() or (0.0,)
    for row in leased(turn, turn.worker):
        disk_tasks.back(turn, row)
    _forget(turn, turn.worker, delay)


def leased(turn: Turn, number: int) -> list[Row]:
    found = turn.sql.execute(f"SELECT {KNOWN} FROM tasks WHERE worker = ? AND state = 'leased' ORDER BY number", (number,))  # noqa: S608
    return [Row(*row) for row in found.fetchall()]


def claim(turn: Turn, job: str, seconds: float) -> bool:
    """Take a job, if nobody who lives has it."""
    found = turn.sql.execute("SELECT worker, until FROM jobs WHERE job = ?", (job,)).fetchone()
    if found is not None and found[0] != turn.worker and found[1] > turn.ticks and not look_after(turn, found[0]):
        return False
    turn.sql.execute("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)", (job, turn.worker, turn.ticks + seconds))
    return True


def release(turn: Turn, job: str) -> None:
    turn.sql.execute("DELETE FROM jobs WHERE job = ? AND worker = ?", (job, turn.worker))


def _forget(turn: Turn, number: int, delay: float) -> None:
    disk_hosts.let_all_go(turn, number, delay)
    turn.sql.execute("DELETE FROM jobs WHERE worker = ?", (number,))
    turn.sql.execute("DELETE FROM workers WHERE number = ?", (number,))


def _all(turn: Turn) -> list[tuple[int, Identity, float]]:
    found = turn.sql.execute("SELECT number, name, machine, pid, started, beat FROM workers").fetchall()
    return [(number, Identity(name, machine, pid, started), beat) for number, name, machine, pid, started, beat in found]
