"""Hosts of the queue in the record: who holds one, from when it may be asked again, and who waits for it. Shared by all queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import and_, bindparam, case, delete, func, insert, select, update

from newsportal.store.link_rows import HOST, Turn
from newsportal.store.link_tables import HOSTS, LINES

WANTED: Final = 5.0
"""Seconds for which a host is reserved for a worker that asked for it in vain; asking again prolongs it. Workers ask several times a second
while they wait."""

TAKE = update(HOSTS).where(HOSTS.c.host == bindparam("h")).values(holder=bindparam("w"), wanted_by=0, wanted_until=0.0)
TAKE_LINES = update(LINES).where(LINES.c.host == bindparam("h")).values(holder=bindparam("w"), resting=0)
HELD = select(HOSTS.c.host, HOSTS.c.free_at, HOSTS.c.wanted_by, HOSTS.c.wanted_until).where(HOSTS.c.holder == bindparam("w"))


def take(turn: Turn, host: str) -> float:
    """It is this worker's now. Seconds until it may be asked."""
    found = turn.connection.execute(HOST, {"h": host}).first()
    if found is None:
        new = insert(HOSTS).values(host=host, holder=turn.worker, free_at=0.0, gap=0.0, wanted_by=0, wanted_until=0.0)
        turn.connection.execute(new)
    else:
        turn.connection.execute(TAKE, {"h": host, "w": turn.worker})
    turn.connection.execute(TAKE_LINES, {"h": host, "w": turn.worker})
    return 0.0 if found is None else max(0.0, found[1] - turn.ticks)


def holder(turn: Turn, host: str) -> int:
    """Who holds it; 0 for nobody, below 0 for whom it is reserved."""
    found = turn.connection.execute(HOST, {"h": host}).first()
    if found is None:
        return 0
    return int(found[0] or (-found[2] if found[3] > turn.ticks else 0))


def want(turn: Turn, host: str) -> None:
    """Tell its holder that this worker waits for it, unless another does already."""
    mine = HOSTS.c.wanted_by.in_([0, turn.worker]) | (HOSTS.c.wanted_until <= turn.ticks)
    values = {"wanted_by": turn.worker, "wanted_until": turn.ticks + WANTED}
    turn.connection.execute(update(HOSTS).where(HOSTS.c.host == host, mine).values(values))


def let_go(turn: Turn, host: str, of: int, seconds: float) -> None:
    """Worker ``of`` holds it no more; nobody may ask it for so many seconds. It is reserved for whoever waits for it."""
    found = turn.connection.execute(HOST, {"h": host}).first()
    if found is None or found[0] != of:
        return
    free_at, reserved = turn.ticks + seconds, -found[2] if found[2] != of and found[3] > turn.ticks else 0
    turn.connection.execute(update(HOSTS).where(HOSTS.c.host == host).values(holder=0, free_at=free_at, gap=seconds))
    resting = int(reserved == 0 and seconds > 0)
    turn.connection.execute(update(LINES).where(LINES.c.host == host).values(holder=reserved, resting=resting, free_at=free_at))


def let_all_go(turn: Turn, of: int, seconds: float) -> None:
    """Everything that worker ``of`` holds or waits for."""
    for host in turn.connection.scalars(select(HOSTS.c.host).where(HOSTS.c.holder == of)).all():
        let_go(turn, host, of, seconds)
    turn.connection.execute(update(HOSTS).where(HOSTS.c.wanted_by == of).values(wanted_until=0.0))
    _offer(turn)


def ripen(turn: Turn, ahead: float) -> None:
    """Hosts of this queue that may be asked within ``ahead`` seconds may be taken."""
    due = (LINES.c.queue == turn.queue, LINES.c.resting == 1, LINES.c.free_at <= turn.ticks + ahead)
    turn.connection.execute(update(LINES).where(*due).values(resting=0))


def tidy(turn: Turn) -> None:
    """Once in a while: offer to all what nobody waits for any more, and forget hosts that may be asked by anybody."""
    _offer(turn)
    turn.connection.execute(update(LINES).where(LINES.c.resting == 1, LINES.c.free_at <= turn.ticks).values(resting=0))
    turn.connection.execute(delete(HOSTS).where(HOSTS.c.holder == 0, HOSTS.c.free_at <= turn.ticks, HOSTS.c.wanted_by == 0))


def restart(turn: Turn) -> None:
    """The machine was started anew, and so is its count of seconds: no host waits for longer than it was to."""
    ticks, until = turn.ticks, turn.ticks + HOSTS.c.gap
    turn.connection.execute(
        update(HOSTS).values(
            wanted_until=case((HOSTS.c.wanted_until > ticks, ticks), else_=HOSTS.c.wanted_until),
            free_at=case((HOSTS.c.free_at > until, until), else_=HOSTS.c.free_at),
        )
    )
    of_host = select(HOSTS.c.free_at).where(HOSTS.c.host == LINES.c.host).scalar_subquery()
    turn.connection.execute(update(LINES).values(free_at=func.coalesce(of_host, 0.0)))


def held(turn: Turn) -> tuple[Mapping[str, float], frozenset[str]]:
    """This worker's hosts, with the seconds until they may be asked; and those of them that another one waits for."""
    found = turn.connection.execute(HELD, {"w": turn.worker}).all()
    wanted = (host for host, _, by, until in found if by not in (0, turn.worker) and until > turn.ticks)
    return {host: max(0.0, free_at - turn.ticks) for host, free_at, _, _ in found}, frozenset(wanted)


def _offer(turn: Turn) -> None:
    """Hosts that were reserved for a worker that does not ask any more are everybody's."""
    past = and_(HOSTS.c.wanted_by > 0, HOSTS.c.wanted_until <= turn.ticks)
    for host, of, free_at in turn.connection.execute(select(HOSTS.c.host, HOSTS.c.holder, HOSTS.c.free_at).where(past)).all():
        turn.connection.execute(update(HOSTS).where(HOSTS.c.host == host).values(wanted_by=0, wanted_until=0.0))
        if of == 0:
            resting = int(free_at > turn.ticks)
            turn.connection.execute(update(LINES).where(LINES.c.host == host).values(holder=0, resting=resting))
