"""Workers of the queue in the link table, recovery of what dead ones held, and the hosts that each holds or waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, func, insert, select, update

from newsportal.crawl.queues.base import Identity, gone
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import HOST, ROW, Row, Turn, rebuild
from newsportal.store.link_tables import CLAIMS, CLOCK, HOSTS, LEASED, LINES, LINKS, OVER, WORKERS

SWEEP: Final = 1.0  # seconds between two checks for dead workers
FORGET_EVERY: Final = 86400.0  # seconds between two deletions of old finished rows

BEAT = update(WORKERS).where(WORKERS.c.number == bindparam("w")).values(beat=bindparam("now"))
SWEPT = select(CLOCK.c.ticks, CLOCK.c.swept)
LEASES = select(*ROW).where(LINKS.c.worker == bindparam("w"), LINKS.c.state == LEASED).order_by(LINKS.c.number)
EVERYBODY = select(WORKERS.c.number, WORKERS.c.name, WORKERS.c.machine, WORKERS.c.pid, WORKERS.c.started, WORKERS.c.beat)

WANTED: Final = 5.0  # seconds for which a host is reserved for a waiting worker; asking again prolongs it

SOME_HOSTS = select(HOSTS.c.host, HOSTS.c.holder, HOSTS.c.free_at, HOSTS.c.wanted_by, HOSTS.c.wanted_until).where(
    HOSTS.c.host.in_(bindparam("hosts", expanding=True))
)
NEW_HOST = insert(HOSTS).values(holder=bindparam("w"), free_at=0.0, gap=0.0, wanted_by=0, wanted_until=0.0)
TAKE = update(HOSTS).where(HOSTS.c.host == bindparam("h")).values(holder=bindparam("w"), wanted_by=0, wanted_until=0.0)
TAKE_LINES = update(LINES).where(LINES.c.host == bindparam("h")).values(holder=bindparam("w"), resting=0)
FREE = update(HOSTS).where(HOSTS.c.host == bindparam("h")).values(holder=0, free_at=bindparam("at"), gap=bindparam("seconds"))
FREE_LINES = update(LINES).where(LINES.c.host == bindparam("h"))
FREE_LINES = FREE_LINES.values(holder=bindparam("for"), resting=bindparam("rests"), free_at=bindparam("at"))
HELD = select(HOSTS.c.host, HOSTS.c.free_at, HOSTS.c.wanted_by, HOSTS.c.wanted_until).where(HOSTS.c.holder == bindparam("w"))


def join(turn: Turn, who: Identity) -> int:
    """Register a new worker, or one that was presumed dead; return its number."""
    values = {"queue": turn.queue, "name": who.name, "machine": who.machine, "pid": who.pid, "started": who.started}
    rest = {"since": turn.wall, "beat": turn.ticks, "delay": 0.0, "hungry": 0.0, "draining": 0, "doing": "{}"}
    return int(turn.connection.execute(insert(WORKERS).values(**values, **rest)).inserted_primary_key[0])  # type: ignore[index]


def leased(turn: Turn, number: int) -> list[Row]:
    """Return the leases of a worker."""
    return [Row(*row) for row in turn.connection.execute(LEASES, {"w": number})]


def sweep(turn: Turn) -> None:
    """Once a second, by any worker: bury dead workers, and update rows whose time has come."""
    found = turn.connection.execute(SWEPT).first()
    if found is None:  # new tables, or rows copied from another store
        turn.connection.execute(insert(CLOCK).values(id=1, ticks=turn.ticks, shift=turn.now.shift, swept=turn.wall))
        rebuild(turn.connection)
        return
    ticks, swept = found
    if ticks <= turn.ticks < ticks + SWEEP:
        return
    turn.connection.execute(update(CLOCK).values(ticks=turn.ticks, shift=turn.now.shift))
    if ticks > turn.ticks:  # the machine was rebooted, which resets its monotonic clock: no host waits longer than before
        until = turn.ticks + HOSTS.c.gap
        turn.connection.execute(update(HOSTS).where(HOSTS.c.free_at > until).values(free_at=until))
        of_host = select(HOSTS.c.free_at).where(HOSTS.c.host == LINES.c.host).scalar_subquery()
        turn.connection.execute(update(LINES).values(free_at=func.coalesce(of_host, 0.0)))
    for one in turn.connection.execute(EVERYBODY).all():
        if _is_dead(turn, one):
            bury(turn, one.number)
    _offer(turn)  # for all: hosts with expired reservations; free ones are deleted
    turn.connection.execute(update(LINES).where(LINES.c.resting == 1, LINES.c.free_at <= turn.ticks).values(resting=0))
    turn.connection.execute(delete(HOSTS).where(HOSTS.c.holder == 0, HOSTS.c.free_at <= turn.ticks, HOSTS.c.wanted_by == 0))
    if abs(turn.wall - swept) > FORGET_EVERY:
        past = LINKS.c.changed <= turn.wall - turn.terms.forget
        turn.connection.execute(delete(LINKS).where(LINKS.c.state.in_(OVER), past))
        turn.connection.execute(update(CLOCK).values(swept=turn.wall))


def _is_dead(turn: Turn, one: Any) -> bool:
    """Return whether a worker (a row of :data:`EVERYBODY`) is dead. A beat far in the future is from before a reboot."""
    silent = abs(turn.ticks - one.beat) > turn.terms.lease
    return one.number != turn.worker and (silent or gone(Identity(one.name, one.machine, one.pid, one.started)))


def bury_if_dead(turn: Turn, number: int) -> bool:
    """Bury a worker if it is dead. Return whether it was."""
    found = turn.connection.execute(EVERYBODY.where(WORKERS.c.number == number)).first()
    if found is not None and not _is_dead(turn, found):
        return False
    bury(turn, number)
    return True


def bury(turn: Turn, number: int) -> None:
    """Return a dead worker's leases to the queue, with one more try counted."""
    name = turn.connection.scalar(select(WORKERS.c.name).where(WORKERS.c.number == number)) or ""
    for row in leased(turn, number):
        turn.bury(row, name)
    remove_worker(turn, number)


def remove_worker(turn: Turn, number: int) -> None:
    """Remove a worker: its leases return to the queue, and its hosts wait as if they had been requested just now."""
    delay = turn.connection.scalar(select(WORKERS.c.delay).where(WORKERS.c.number == number)) or 0.0
    turn.give_back(leased(turn, number))
    release_hosts(turn, number, dict.fromkeys(turn.connection.scalars(select(HOSTS.c.host).where(HOSTS.c.holder == number)), delay))
    turn.connection.execute(update(HOSTS).where(HOSTS.c.wanted_by == number).values(wanted_until=0.0))
    _offer(turn)
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.worker == number))
    turn.connection.execute(delete(WORKERS).where(WORKERS.c.number == number))


def claim(turn: Turn, job: str, seconds: float) -> bool:
    found = turn.connection.execute(select(CLAIMS.c.worker, CLAIMS.c.expires).where(CLAIMS.c.job == job)).first()
    if found is not None and found[0] != turn.worker and found[1] > turn.ticks and not bury_if_dead(turn, found[0]):
        return False
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job))
    turn.connection.execute(insert(CLAIMS).values(job=job, worker=turn.worker, expires=turn.ticks + seconds))
    return True


def release(turn: Turn, job: str) -> None:
    turn.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job, CLAIMS.c.worker == turn.worker))


# hosts


def _states(turn: Turn, hosts: Iterable[str]) -> dict[str, tuple[int, float, int, float]]:
    """Return holder, earliest request, and reservation (for whom, until when) of hosts that are or were recently held or awaited."""
    asked = (turn.connection.execute(SOME_HOSTS, {"hosts": some}) for some in chunks(hosts))
    return {host: (holder, free_at, by, until) for rows in asked for host, holder, free_at, by, until in rows}


def take_hosts(turn: Turn, hosts: Sequence[str]) -> dict[str, float]:
    """Hold hosts. Return the seconds until the first request to each."""
    there = _states(turn, hosts)
    if fresh := [{"host": host, "w": turn.worker} for host in hosts if host not in there]:
        turn.connection.execute(NEW_HOST, fresh)
    if there:
        turn.connection.execute(TAKE, [{"h": host, "w": turn.worker} for host in there])
    if hosts:
        turn.connection.execute(TAKE_LINES, [{"h": host, "w": turn.worker} for host in hosts])
    return {host: max(0.0, there[host][1] - turn.ticks) if host in there else 0.0 for host in hosts}


def holder(turn: Turn, host: str) -> int:
    """Return the worker that holds a host: 0 for none, negative for the worker for which it is reserved."""
    found = turn.connection.execute(HOST, {"h": host}).first()
    return 0 if found is None else int(found[0] or (-found[2] if found[3] > turn.ticks else 0))


def request_host(turn: Turn, host: str) -> None:
    """Request a host from its holder for this worker, unless another has done so."""
    mine = HOSTS.c.wanted_by.in_([0, turn.worker]) | (HOSTS.c.wanted_until <= turn.ticks)
    values = {"wanted_by": turn.worker, "wanted_until": turn.ticks + WANTED}
    turn.connection.execute(update(HOSTS).where(HOSTS.c.host == host, mine).values(values))


def hold(turn: Turn, host: str) -> float | None:
    """Hold a host. Return the seconds until the first request; ``None`` if another worker holds it, which is asked to yield it."""
    of = holder(turn, host)
    if of > 0 and of != turn.worker and bury_if_dead(turn, of):
        of = holder(turn, host)
    if of in (0, turn.worker, -turn.worker):
        return take_hosts(turn, [host])[host]
    request_host(turn, host)
    return None


def release_hosts(turn: Turn, of: int, hosts: Mapping[str, float]) -> None:
    """Release hosts of worker ``of``, each with the seconds until the next request, and reserve them for the workers that wait for them."""
    freed, lines = list[dict[str, Any]](), list[dict[str, Any]]()
    for host, (holder, _, by, until) in _states(turn, hosts).items():
        if holder != of:
            continue
        seconds, reserved = hosts[host], -by if by != of and until > turn.ticks else 0
        free_at = turn.ticks + seconds
        freed.append({"h": host, "at": free_at, "seconds": seconds})
        lines.append({"h": host, "at": free_at, "for": reserved, "rests": int(reserved == 0 and seconds > 0)})
    if freed:
        turn.connection.execute(FREE, freed)
        turn.connection.execute(FREE_LINES, lines)


def ripen(turn: Turn, ahead: float) -> None:
    """Make hosts of this queue available whose pause ends within ``ahead`` seconds."""
    due = (LINES.c.queue == turn.queue, LINES.c.resting == 1, LINES.c.free_at <= turn.ticks + ahead)
    turn.connection.execute(update(LINES).where(*due).values(resting=0))


def held_hosts(turn: Turn) -> tuple[dict[str, float], frozenset[str]]:
    """Return this worker's hosts, with the seconds until the next request; and those that another worker waits for."""
    found = turn.connection.execute(HELD, {"w": turn.worker}).all()
    wanted = (host for host, _, by, until in found if by not in (0, turn.worker) and until > turn.ticks)
    return {host: max(0.0, free_at - turn.ticks) for host, free_at, _, _ in found}, frozenset(wanted)


def _offer(turn: Turn) -> None:
    """Offer hosts whose reservations have expired."""
    past = and_(HOSTS.c.wanted_by > 0, HOSTS.c.wanted_until <= turn.ticks)
    for host, of, free_at in turn.connection.execute(select(HOSTS.c.host, HOSTS.c.holder, HOSTS.c.free_at).where(past)).all():
        turn.connection.execute(update(HOSTS).where(HOSTS.c.host == host).values(wanted_by=0, wanted_until=0.0))
        if of == 0:
            resting = int(free_at > turn.ticks)
            turn.connection.execute(update(LINES).where(LINES.c.host == host).values(holder=0, resting=resting))
