"""Workers of the queue in the link table, recovery of what dead ones held, and the hosts that each holds or waits for."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from newsportal.crawl.queues.base import Identity, has_ended
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import ROW, LinkTransaction, rebuild
from newsportal.store.link_tables import CLAIMS, CLOCK, HOST_LOCKS, LEASED, LINKS, OVER, WORKERS

SWEEP_SECONDS: Final = 1.0  # seconds between two checks for dead workers
FORGET_EVERY: Final = 86400.0  # seconds between two deletions of old finished rows

HEARTBEAT = update(WORKERS).where(WORKERS.c.number == bindparam("w")).values(heartbeat=bindparam("now"))
SWEPT = select(CLOCK.c.ticks, CLOCK.c.swept)
LEASES = select(*ROW).where(LINKS.c.worker == bindparam("w"), LINKS.c.state == LEASED).order_by(LINKS.c.number)
ALL_WORKERS = select(WORKERS.c.number, WORKERS.c.name, WORKERS.c.machine, WORKERS.c.pid, WORKERS.c.started, WORKERS.c.heartbeat)

RESERVED_SECONDS: Final = 5.0  # seconds for which a host is reserved for a waiting worker; asking again prolongs it

LOCK = select(HOST_LOCKS).where(HOST_LOCKS.c.host == bindparam("h"))
NEXT_REQUESTS = select(HOST_LOCKS.c.host, HOST_LOCKS.c.next_request).where(HOST_LOCKS.c.host.in_(bindparam("hosts", expanding=True)))
UNREQUESTED: Final = {"requested_by": 0, "requested_until": 0.0}
NEW_LOCK = insert(HOST_LOCKS).values(worker=bindparam("w"), next_request=0.0, **UNREQUESTED)
ACQUIRE = update(HOST_LOCKS).where(HOST_LOCKS.c.host == bindparam("h")).values(worker=bindparam("w"), **UNREQUESTED)
OF_WORKER = update(HOST_LOCKS).where(HOST_LOCKS.c.worker == bindparam("w"))
RELEASE = OF_WORKER.where(HOST_LOCKS.c.host == bindparam("h")).values(worker=0, next_request=bindparam("at"))
HELD = select(HOST_LOCKS).where(HOST_LOCKS.c.worker == bindparam("w"))


def join(tx: LinkTransaction, worker: Identity) -> int:
    """Register a new worker, or one that was presumed dead; return its number."""
    values = {"queue": tx.queue, "name": worker.name, "machine": worker.machine, "pid": worker.pid, "started": worker.started}
    initial = {"since": tx.now.wall, "heartbeat": tx.now.ticks, "delay": 0.0, "starved_until": 0.0, "draining": 0, "activity": "{}"}
    return int(tx.connection.execute(insert(WORKERS).values(**values, **initial)).inserted_primary_key[0])  # type: ignore[index]


def sweep(tx: LinkTransaction) -> None:
    """Once a second, by any worker: bury dead workers, and delete rows that are no longer needed."""
    found = tx.connection.execute(SWEPT).first()
    if found is None:  # new tables, or rows copied from another store
        tx.connection.execute(insert(CLOCK).values(id=1, ticks=tx.now.ticks, shift=tx.now.shift, swept=tx.now.wall))
        tx.connection.execute(delete(HOST_LOCKS))
        rebuild(tx.connection)
        return
    ticks, swept = found
    if ticks <= tx.now.ticks < ticks + SWEEP_SECONDS:
        return
    tx.connection.execute(update(CLOCK).values(ticks=tx.now.ticks, shift=tx.now.shift))
    if ticks > tx.now.ticks:  # the machine was rebooted, which resets its monotonic clock: hosts wait as long as when it went down
        until = HOST_LOCKS.c.next_request + (tx.now.ticks - ticks)
        tx.connection.execute(update(HOST_LOCKS).values(next_request=until, **UNREQUESTED))
    for row in tx.connection.execute(ALL_WORKERS).all():
        if _is_dead(tx, row):
            bury(tx, row.number)
    free = (HOST_LOCKS.c.worker == 0, HOST_LOCKS.c.next_request <= tx.now.ticks, HOST_LOCKS.c.requested_until <= tx.now.ticks)
    tx.connection.execute(delete(HOST_LOCKS).where(*free))
    if abs(tx.now.wall - swept) > FORGET_EVERY:
        past = LINKS.c.changed <= tx.now.wall - tx.terms.forget
        tx.connection.execute(delete(LINKS).where(LINKS.c.state.in_(OVER), past))
        tx.connection.execute(update(CLOCK).values(swept=tx.now.wall))


def _is_dead(tx: LinkTransaction, row: Any) -> bool:
    """Return whether a worker (a row of :data:`ALL_WORKERS`) is dead. A heartbeat far in the future is from before a reboot."""
    silent = abs(tx.now.ticks - row.heartbeat) > tx.terms.lease
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
    for row in tx.select(LEASES, {"w": number}):
        tx.count_death(row, name)
    remove_worker(tx, number)


def remove_worker(tx: LinkTransaction, number: int) -> None:
    """Remove a worker: its leases return to the queue, and its hosts wait as if they had been requested just now."""
    delay = tx.connection.scalar(select(WORKERS.c.delay).where(WORKERS.c.number == number)) or 0.0
    tx.give_back(tx.select(LEASES, {"w": number}))
    tx.connection.execute(OF_WORKER.values(worker=0, next_request=tx.now.ticks + delay), {"w": number})
    tx.connection.execute(update(HOST_LOCKS).where(HOST_LOCKS.c.requested_by == number).values(UNREQUESTED))
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.worker == number))
    tx.connection.execute(delete(WORKERS).where(WORKERS.c.number == number))


def claim(tx: LinkTransaction, job: str, seconds: float) -> bool:
    found = tx.connection.execute(select(CLAIMS.c.worker, CLAIMS.c.expires).where(CLAIMS.c.job == job)).first()
    if found is not None and found[0] != tx.worker and found[1] > tx.now.ticks and not bury_if_dead(tx, found[0]):
        return False
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job))
    tx.connection.execute(insert(CLAIMS).values(job=job, worker=tx.worker, expires=tx.now.ticks + seconds))
    return True


def release(tx: LinkTransaction, job: str) -> None:
    tx.connection.execute(delete(CLAIMS).where(CLAIMS.c.job == job, CLAIMS.c.worker == tx.worker))


# hosts


def take_hosts(tx: LinkTransaction, hosts: Collection[str]) -> dict[str, float]:
    """Hold hosts. Return the seconds until the first request to each."""
    found: dict[str, float] = {}
    for some in chunks(hosts):
        found.update(tx.connection.execute(NEXT_REQUESTS, {"hosts": some}).all())
    for statement, of in ((NEW_LOCK, [host for host in hosts if host not in found]), (ACQUIRE, found)):
        if of:
            tx.connection.execute(statement, [{"host": host, "h": host, "w": tx.worker} for host in of])
    return {host: max(0.0, found.get(host, 0.0) - tx.now.ticks) for host in hosts}


def user(tx: LinkTransaction, host: str) -> int:
    """Return the worker that holds a host, or for which it is reserved; 0 for none."""
    lock = tx.connection.execute(LOCK, {"h": host}).first()
    return 0 if lock is None else int(lock.worker or (lock.requested_by if lock.requested_until > tx.now.ticks else 0))


def request_hosts(tx: LinkTransaction, hosts: Collection[str]) -> None:
    """Request hosts from their holders for this worker, unless another has done so; asking again prolongs a request."""
    mine = HOST_LOCKS.c.requested_by.in_([0, tx.worker]) | (HOST_LOCKS.c.requested_until <= tx.now.ticks)
    values = {"requested_by": tx.worker, "requested_until": tx.now.ticks + RESERVED_SECONDS}
    for some in chunks(hosts):
        tx.connection.execute(update(HOST_LOCKS).where(HOST_LOCKS.c.host.in_(some), mine).values(values))


def hold(tx: LinkTransaction, host: str) -> float | None:
    """Hold a host. Return the seconds until the first request; ``None`` if another worker holds it, which is asked to yield it."""
    current = user(tx, host)
    if current not in (0, tx.worker) and bury_if_dead(tx, current):
        current = user(tx, host)
    if current in (0, tx.worker):
        return take_hosts(tx, [host])[host]
    request_hosts(tx, [host])
    return None


def release_hosts(tx: LinkTransaction, hosts: Mapping[str, float]) -> None:
    """Release this worker's hosts, each with the seconds until the next request."""
    if hosts:
        tx.connection.execute(RELEASE, [{"w": tx.worker, "h": host, "at": tx.now.ticks + seconds} for host, seconds in hosts.items()])


def held_hosts(tx: LinkTransaction) -> tuple[dict[str, float], frozenset[str]]:
    """Return this worker's hosts, with the seconds until the next request; and those that another worker waits for."""
    locks = tx.connection.execute(HELD, {"w": tx.worker}).all()
    requested = (lock.host for lock in locks if lock.requested_by not in (0, tx.worker) and lock.requested_until > tx.now.ticks)
    return {lock.host: max(0.0, lock.next_request - tx.now.ticks) for lock in locks}, frozenset(requested)
