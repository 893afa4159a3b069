"""Workers of the queue in the link table, recovery of what dead ones held, and the hosts that each holds or waits for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, func, insert, select, update

from newsportal.crawl.queues.base import Identity, has_ended
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import HOST, ROW, LinkTransaction, Row, rebuild
from newsportal.store.link_tables import CLAIMS, CLOCK, HOSTS, LEASED, LINES, LINKS, OVER, WORKERS

SWEEP_SECONDS: Final = 1.0  # seconds between two checks for dead workers
FORGET_EVERY: Final = 86400.0  # seconds between two deletions of old finished rows

BEAT = update(WORKERS).where(WORKERS.c.number == bindparam("w")).values(beat=bindparam("now"))
SWEPT = select(CLOCK.c.ticks, CLOCK.c.swept)
LEASES = select(*ROW).where(LINKS.c.worker == bindparam("w"), LINKS.c.state == LEASED).order_by(LINKS.c.number)
ALL_WORKERS = select(WORKERS.c.number, WORKERS.c.name, WORKERS.c.machine, WORKERS.c.pid, WORKERS.c.started, WORKERS.c.beat)

RESERVED_SECONDS: Final = 5.0  # seconds for which a host is reserved for a waiting worker; asking again prolongs it

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


def join(tx: LinkTransaction, worker: Identity) -> int:
    """Register a new worker, or one that was presumed dead; return its number."""
    values = {"queue": tx.queue, "name": worker.name, "machine": worker.machine, "pid": worker.pid, "started": worker.started}
    initial = {"since": tx.wall, "beat": tx.ticks, "delay": 0.0, "hungry": 0.0, "draining": 0, "doing": "{}"}
    return int(tx.connection.execute(insert(WORKERS).values(**values, **initial)).inserted_primary_key[0])  # type: ignore[index]


def leased(tx: LinkTransaction, number: int) -> list[Row]:
    return [Row(*row) for row in tx.connection.execute(LEASES, {"w": number})]


def sweep(tx: LinkTransaction) -> None:
    """Once a second, by any worker: bury dead workers, and update rows whose time has come."""
    found = tx.connection.execute(SWEPT).first()
    if found is None:  # new tables, or rows copied from another store
        tx.connection.execute(insert(CLOCK).values(id=1, ticks=tx.ticks, shift=tx.now.shift, swept=tx.wall))
        rebuild(tx.connection)
        return
    ticks, swept = found
    if ticks <= tx.ticks < ticks + SWEEP_SECONDS:
        return
    tx.connection.execute(update(CLOCK).values(ticks=tx.ticks, shift=tx.now.shift))
    if ticks > tx.ticks:  # the machine was rebooted, which resets its monotonic clock: no host waits longer than before
        until = tx.ticks + HOSTS.c.gap
        tx.connection.execute(update(HOSTS).where(HOSTS.c.free_at > until).values(free_at=until))
        of_host = select(HOSTS.c.free_at).where(HOSTS.c.host == LINES.c.host).scalar_subquery()
        tx.connection.execute(update(LINES).values(free_at=func.coalesce(of_host, 0.0)))
    for row in tx.connection.execute(ALL_WORKERS).all():
        if _is_dead(tx, row):
            bury(tx, row.number)
    _offer(tx)  # for all: hosts with expired reservations; free ones are deleted
    tx.connection.execute(update(LINES).where(LINES.c.resting == 1, LINES.c.free_at <= tx.ticks).values(resting=0))
    tx.connection.execute(delete(HOSTS).where(HOSTS.c.holder == 0, HOSTS.c.free_at <= tx.ticks, HOSTS.c.wanted_by == 0))
    if abs(tx.wall - swept) > FORGET_EVERY:
        past = LINKS.c.changed <= tx.wall - tx.terms.forget
        tx.connection.execute(delete(LINKS).where(LINKS.c.state.in_(OVER), past))
        tx.connection.execute(update(CLOCK).values(swept=tx.wall))


def _is_dead(tx: LinkTransaction, row: Any) -> bool:
    """Return whether a worker (a row of :data:`ALL_WORKERS`) is dead. A beat far in the future is from before a reboot."""
    silent = abs(tx.ticks - row.beat) > tx.terms.lease
    return row.number != tx.worker and (silent or has_ended(Identity(row.name, row.machine, row.pid, row.started)))


def bury_if_dead(tx: LinkTransaction, number: int) -> bool:
    """Bury a worker if it is dead. Return whether it was."""
    found = tx.connection.execute(ALL_WORKERS.where(WORKERS.c.number == number)).first()
    if found is not None and not _is_dead(tx, found):
        return False
    bury(tx, number)
    return True


def bury(tx: LinkTransaction, number: int) -> None:
    """Return a dead worker's leases to the queue, with one more try counted."""
    name = tx.connection.scalar(select(WORKERS.c.name).where(WORKERS.c.number == number)) or ""
    for row in leased(tx, number):
        tx.set_aside(row, name)
    remove_worker(tx, number)


def remove_worker(tx: LinkTransaction, number: int) -> None:
    """Remove a worker: its leases return to the queue, and its hosts wait as if they had been requested just now."""
    delay = tx.connection.scalar(select(WORKERS.c.delay).where(WORKERS.c.number == number)) or 0.0
    tx.give_back(leased(tx, number))
    release_hosts(tx, number, dict.fromkeys(tx.connection.scalars(select(HOSTS.c.host).where(HOSTS.c.holder == number)), delay))
    tx.connection.execute(update(HOSTS).where(HOSTS.c.wanted_by == number).values(wanted_until=0.0))
    _offer(tx)
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.worker == number))
    tx.connection.execute(delete(WORKERS).where(WORKERS.c.number == number))


def claim(tx: LinkTransaction, job: str, seconds: float) -> bool:
    found = tx.connection.execute(select(CLAIMS.c.worker, CLAIMS.c.expires).where(CLAIMS.c.job == job)).first()
    if found is not None and found[0] != tx.worker and found[1] > tx.ticks and not bury_if_dead(tx, found[0]):
        return False
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job))
    tx.connection.execute(insert(CLAIMS).values(job=job, worker=tx.worker, expires=tx.ticks + seconds))
    return True


def release(tx: LinkTransaction, job: str) -> None:
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job, CLAIMS.c.worker == tx.worker))


# hosts


def _states(tx: LinkTransaction, hosts: Iterable[str]) -> dict[str, tuple[int, float, int, float]]:
    """Return holder, earliest request, and reservation (for whom, until when) of hosts that are or were recently held or awaited."""
    results = (tx.connection.execute(SOME_HOSTS, {"hosts": some}) for some in chunks(hosts))
    return {host: (holder, free_at, wanted_by, until) for rows in results for host, holder, free_at, wanted_by, until in rows}


def take_hosts(tx: LinkTransaction, hosts: Sequence[str]) -> dict[str, float]:
    """Hold hosts. Return the seconds until the first request to each."""
    existing = _states(tx, hosts)
    if fresh := [{"host": host, "w": tx.worker} for host in hosts if host not in existing]:
        tx.connection.execute(NEW_HOST, fresh)
    if existing:
        tx.connection.execute(TAKE, [{"h": host, "w": tx.worker} for host in existing])
    if hosts:
        tx.connection.execute(TAKE_LINES, [{"h": host, "w": tx.worker} for host in hosts])
    return {host: max(0.0, existing[host][1] - tx.ticks) if host in existing else 0.0 for host in hosts}


def holder(tx: LinkTransaction, host: str) -> int:
    """Return the worker that holds a host: 0 for none, negative for the worker for which it is reserved."""
    found = tx.connection.execute(HOST, {"h": host}).first()
    return 0 if found is None else int(found[0] or (-found[2] if found[3] > tx.ticks else 0))


def request_host(tx: LinkTransaction, host: str) -> None:
    """Request a host from its holder for this worker, unless another has done so."""
    mine = HOSTS.c.wanted_by.in_([0, tx.worker]) | (HOSTS.c.wanted_until <= tx.ticks)
    values = {"wanted_by": tx.worker, "wanted_until": tx.ticks + RESERVED_SECONDS}
    tx.connection.execute(update(HOSTS).where(HOSTS.c.host == host, mine).values(values))


def hold(tx: LinkTransaction, host: str) -> float | None:
    """Hold a host. Return the seconds until the first request; ``None`` if another worker holds it, which is asked to yield it."""
    current = holder(tx, host)
    if current > 0 and current != tx.worker and bury_if_dead(tx, current):
        current = holder(tx, host)
    if current in (0, tx.worker, -tx.worker):
        return take_hosts(tx, [host])[host]
    request_host(tx, host)
    return None


def release_hosts(tx: LinkTransaction, worker: int, hosts: Mapping[str, float]) -> None:
    """Release hosts of a ``worker``, each with the seconds until the next request, and reserve them for the workers that wait for them."""
    freed, lines = list[dict[str, Any]](), list[dict[str, Any]]()
    for host, (holder, _, wanted_by, until) in _states(tx, hosts).items():
        if holder != worker:
            continue
        seconds, reserved = hosts[host], -wanted_by if wanted_by != worker and until > tx.ticks else 0
        free_at = tx.ticks + seconds
        freed.append({"h": host, "at": free_at, "seconds": seconds})
        lines.append({"h": host, "at": free_at, "for": reserved, "rests": int(reserved == 0 and seconds > 0)})
    if freed:
        tx.connection.execute(FREE, freed)
        tx.connection.execute(FREE_LINES, lines)


def ripen(tx: LinkTransaction, ahead: float) -> None:
    """Make hosts of this queue available whose pause ends within ``ahead`` seconds."""
    due = (LINES.c.queue == tx.queue, LINES.c.resting == 1, LINES.c.free_at <= tx.ticks + ahead)
    tx.connection.execute(update(LINES).where(*due).values(resting=0))


def held_hosts(tx: LinkTransaction) -> tuple[dict[str, float], frozenset[str]]:
    """Return this worker's hosts, with the seconds until the next request; and those that another worker waits for."""
    found = tx.connection.execute(HELD, {"w": tx.worker}).all()
    awaited = (host for host, _, wanted_by, until in found if wanted_by not in (0, tx.worker) and until > tx.ticks)
    return {host: max(0.0, free_at - tx.ticks) for host, free_at, _, _ in found}, frozenset(awaited)


def _offer(tx: LinkTransaction) -> None:
    """Offer hosts whose reservations have expired."""
    past = and_(HOSTS.c.wanted_by > 0, HOSTS.c.wanted_until <= tx.ticks)
    for host, worker, free_at in tx.connection.execute(select(HOSTS.c.host, HOSTS.c.holder, HOSTS.c.free_at).where(past)).all():
        tx.connection.execute(update(HOSTS).where(HOSTS.c.host == host).values(wanted_by=0, wanted_until=0.0))
        if worker == 0:
            resting = int(free_at > tx.ticks)
            tx.connection.execute(update(LINES).where(LINES.c.host == host).values(holder=0, resting=resting))
