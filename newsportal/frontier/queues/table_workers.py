"""Workers of the queue in the record: who is there, who died, and what becomes of what the dead had."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, case, delete, insert, select, update

from newsportal.frontier.queues import table_hosts
from newsportal.frontier.queues.identity import Identity, gone
from newsportal.store.link_rows import ROW, Row, Turn, rebuild
from newsportal.store.link_states import LEASED, OVER
from newsportal.store.link_tables import CLAIMS, CLOCK, LINKS, WORKERS

SWEEP: Final = 1.0
"""Seconds between two looks after the dead."""

FORGET_EVERY: Final = 86400.0
"""Seconds between two deletions of rows that have been over for long."""

BEAT = update(WORKERS).where(WORKERS.c.number == bindparam("w")).values(beat=bindparam("now"))
SWEPT = select(CLOCK.c.ticks, CLOCK.c.swept)
LEASES = select(*ROW).where(LINKS.c.worker == bindparam("w"), LINKS.c.state == LEASED).order_by(LINKS.c.number)
EVERYBODY = select(WORKERS.c.number, WORKERS.c.name, WORKERS.c.machine, WORKERS.c.pid, WORKERS.c.started, WORKERS.c.beat)


def join(turn: Turn, who: Identity) -> int:
    """The number of a worker that is here for the first time, or was taken for dead."""
    values = {"queue": turn.queue, "name": who.name, "machine": who.machine, "pid": who.pid, "started": who.started}
    rest = {"since": turn.wall, "beat": turn.ticks, "delay": 0.0, "hungry": 0.0, "draining": 0, "doing": "{}"}
    return int(turn.connection.execute(insert(WORKERS).values(**values, **rest)).inserted_primary_key[0])  # type: ignore[index]


def lives(turn: Turn, number: int) -> bool:
    """It gives a sign of life; False if it was taken for dead."""
    return bool(turn.connection.execute(BEAT, {"w": number, "now": turn.ticks}).rowcount)


def say(turn: Turn, doing: Mapping[str, str]) -> None:
    text = json.dumps(dict(doing), ensure_ascii=False)
    turn.connection.execute(update(WORKERS).where(WORKERS.c.number == turn.worker).values(doing=text))


def is_due(turn: Turn) -> bool:
    """Whether it is time to :func:`sweep`."""
    found = turn.connection.execute(SWEPT).first()
    return found is None or not found[0] <= turn.ticks < found[0] + SWEEP


def sweep(turn: Turn) -> None:
    """Now and then, whoever comes along: bury the dead, and put in order what time has changed."""
    found = turn.connection.execute(SWEPT).first()
    if found is None:  # new tables, or rows that were copied from another store
        turn.connection.execute(insert(CLOCK).values(id=1, ticks=turn.ticks, shift=turn.now.shift, swept=turn.wall))
        rebuild(turn.connection)
        return
    ticks, swept = found
    if ticks <= turn.ticks < ticks + SWEEP:
        return
    turn.connection.execute(update(CLOCK).values(ticks=turn.ticks, shift=turn.now.shift))
    if ticks > turn.ticks:  # the machine was started anew, and so is its count of seconds
        earlier = case((WORKERS.c.beat > turn.ticks, turn.ticks), else_=WORKERS.c.beat)
        turn.connection.execute(update(WORKERS).values(beat=earlier, hungry=0.0))
        turn.connection.execute(update(CLAIMS).values(expires=0.0))
        turn.connection.execute(update(LINKS).where(LINKS.c.state == "suspect").values(since=turn.ticks))
        table_hosts.restart(turn)
    for number, who, beat in _all(turn):
        if dead(turn, number, who, beat):
            bury(turn, number)
    table_hosts.tidy(turn)
    if abs(turn.wall - swept) > FORGET_EVERY:
        past = LINKS.c.changed <= turn.wall - turn.terms.forget
        turn.connection.execute(delete(LINKS).where(LINKS.c.state.in_(OVER), past))
        turn.connection.execute(update(CLOCK).values(swept=turn.wall))


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
    """What it had goes back, with one try more; its hosts wait as if they had been asked just now."""
    name, delay = turn.connection.execute(select(WORKERS.c.name, WORKERS.c.delay).where(WORKERS.c.number == number)).first() or ("", 0.0)
    for row in leases(turn, number):
        turn.bury(row, name)
    _forget(turn, number, delay)


def leave(turn: Turn) -> None:
    """This worker ends well."""
    delay = turn.connection.scalar(select(WORKERS.c.delay).where(WORKERS.c.number == turn.worker)) or 0.0
    for row in leases(turn, turn.worker):
        turn.give_back(row)
    _forget(turn, turn.worker, delay)


def leases(turn: Turn, number: int) -> list[Row]:
    return [Row(*found) for found in turn.connection.execute(LEASES, {"w": number}).all()]


def claim(turn: Turn, job: str, seconds: float) -> bool:
    """Take a job, if no worker that lives has it."""
    found = turn.connection.execute(select(CLAIMS.c.worker, CLAIMS.c.expires).where(CLAIMS.c.job == job)).first()
    if found is not None and found[0] != turn.worker and found[1] > turn.ticks and not look_after(turn, found[0]):
        return False
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job))
    turn.connection.execute(insert(CLAIMS).values(job=job, worker=turn.worker, expires=turn.ticks + seconds))
    return True


def release(turn: Turn, job: str) -> None:
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job, CLAIMS.c.worker == turn.worker))


def _forget(turn: Turn, number: int, delay: float) -> None:
    table_hosts.let_all_go(turn, number, delay)
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.worker == number))
    turn.connection.execute(delete(WORKERS).where(WORKERS.c.number == number))


def _all(turn: Turn) -> list[tuple[int, Identity, float]]:
    return [
        (number, Identity(name, machine, pid, started), beat)
        for number, name, machine, pid, started, beat in turn.connection.execute(EVERYBODY).all()
    ]
