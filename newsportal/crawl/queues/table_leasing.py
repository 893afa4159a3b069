"""Leasing from the link table: from which hosts a worker gets tasks, how many, and how hosts are shared.

1. Of hosts that it holds, or that are free or reserved for it (up to its share): the most urgent first, in two rounds, so that a host with
   many tasks does not displace the others: first as many of each as fit if all get the same, then the rest.
2. A suspect comes first, for a worker without other leases; of the others one takes nothing more until its leases are done.
3. A worker that got less than it requested is *starved*: it requests hosts of workers that hold more than their share.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Final

from sqlalchemy import CompoundSelect, bindparam, exists, func, select, union_all, update

from newsportal.crawl.queues import table_workers
from newsportal.crawl.queues.base import Answer, Lease
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import ROW, TASK, LinkTransaction, Row, task_of
from newsportal.store.link_tables import DEFERRED, HOST_LOCKS, HOST_QUEUES, LEASED, LINKS, WORKERS

MAX_WOKEN: Final = 1000  # rows that one call wakes at most; the next calls wake the rest
STARVED_SECONDS: Final = 5.0  # seconds for which a worker that got less than it requested is starved: it polls several times a second
POLL_SECONDS: Final = 0.5  # seconds until the next poll where the outcome depends on other workers
MAX_SUSPECTS: Final = 32  # suspects examined at most for one whose host is free
MAX_REQUESTED: Final = 16  # hosts requested at once from a worker of another queue
SAMPLE: Final = 100  # hosts whose waiting rows are summed: it matters only whether any wait
HOSTS_AT_ONCE: Final = 64  # hosts whose rows are read in one statement
ROUNDING: Final = 1e-9  # 0.3 / 0.1 is 3


@cache
def _ready(hosts: int) -> CompoundSelect[Any]:
    """Return the query for the first rows of this number of hosts."""
    of_host = (
        select(*TASK)
        .where(LINKS.c.queue == bindparam("q"), LINKS.c.state == "ready", LINKS.c.host == bindparam(f"host{n}"))
        .order_by(LINKS.c.precedence, LINKS.c.number)
        .limit(bindparam(f"most{n}"))
        for n in range(hosts)
    )
    return union_all(*(select(rows.subquery()) for rows in of_host))


READY = (HOST_QUEUES.c.queue == bindparam("q"), HOST_QUEUES.c.ready > 0)
OWN_HOST = HOST_QUEUES.c.host.in_(bindparam("own", expanding=True))
_RESERVED = (HOST_LOCKS.c.requested_until > bindparam("now")) & (HOST_LOCKS.c.requested_by != bindparam("w"))
FREE_HOST = ~exists().where(
    HOST_LOCKS.c.host == HOST_QUEUES.c.host,
    (HOST_LOCKS.c.worker > 0) | (HOST_LOCKS.c.next_request > bindparam("until")) | _RESERVED,
)
_READY_AT_LOCK = exists().where(*READY, HOST_QUEUES.c.host == HOST_LOCKS.c.host)
_HOSTS = select(HOST_QUEUES.c.host, HOST_QUEUES.c.top, HOST_QUEUES.c.ready).where(*READY)
OWN_HOSTS = _HOSTS.where(OWN_HOST)
_FREE = _HOSTS.where(FREE_HOST).order_by(HOST_QUEUES.c.top, HOST_QUEUES.c.host).limit(bindparam("most_free"))
AVAILABLE = union_all(OWN_HOSTS, select(_FREE.subquery()))
LANE_MATE = LINKS.alias()
SUSPECT = (
    select(*TASK)
    .outerjoin(HOST_LOCKS, HOST_LOCKS.c.host == LINKS.c.host)
    .where(LINKS.c.queue == bindparam("q"), LINKS.c.state == "suspect", func.coalesce(HOST_LOCKS.c.next_request, 0.0) <= bindparam("now"))
    .where(~exists().where(LANE_MATE.c.queue == LINKS.c.queue, LANE_MATE.c.lane == LINKS.c.lane, LANE_MATE.c.state == LEASED))
    .order_by(LINKS.c.tries, LINKS.c.since)
    .limit(MAX_SUSPECTS)
)
DRAINING = (
    select(WORKERS.c.number).where(WORKERS.c.queue == bindparam("q"), WORKERS.c.draining == 1, WORKERS.c.number != bindparam("w")).limit(1)
)
_SOME = select(HOST_QUEUES.c.waiting).where(HOST_QUEUES.c.queue == bindparam("q")).limit(SAMPLE).subquery()
WAITS = select(func.coalesce(func.sum(_SOME.c.waiting), 0))
HOSTS_BY_WORKER = select(HOST_LOCKS.c.worker, func.count()).where(HOST_LOCKS.c.worker > 0).group_by(HOST_LOCKS.c.worker)
FREE_HOSTS = select(func.count()).select_from(HOST_QUEUES).where(*READY, FREE_HOST)
NEXT = select(func.min(LINKS.c.not_before)).where(LINKS.c.queue == bindparam("q"), LINKS.c.state == DEFERRED)
OUTLOOK = select(WAITS.scalar_subquery(), NEXT.scalar_subquery())
# The worker's own columns, and whether another worker is starved; then whether there are hosts from which it may take more, suspects, rows
# whose time has come, and hosts with ready rows held by other workers
OWN = (WORKERS.c.delay, WORKERS.c.starved_until, WORKERS.c.draining)
CONCERNS = select(
    *(select(column).where(WORKERS.c.number == bindparam("w")).scalar_subquery().label(column.name) for column in OWN),
    exists()
    .where(WORKERS.c.queue == bindparam("q"), WORKERS.c.number != bindparam("w"), WORKERS.c.starved_until > bindparam("now"))
    .label("others_starved"),
    (exists().where(*READY, OWN_HOST) | exists().where(*READY, FREE_HOST)).label("available"),
    exists().where(LINKS.c.queue == bindparam("q"), LINKS.c.state == "suspect").label("suspects"),
    exists().where(LINKS.c.queue == bindparam("q"), LINKS.c.not_before <= bindparam("wall"), LINKS.c.state == DEFERRED).label("due"),
    exists().where(HOST_LOCKS.c.worker > 0, HOST_LOCKS.c.worker != bindparam("w"), _READY_AT_LOCK).label("elsewhere"),
)


@dataclass(slots=True)
class Leasing:
    """One call of :func:`take`. ``number``: tasks requested, 0 while it has a suspect. ``held_by_host``: the worker's leases per host.
    ``draining``: it takes nothing, to get a suspect next."""

    number: int
    delay: float
    ahead: float
    held_by_host: Mapping[str, int]
    answer: Answer
    draining: bool = False

    @property
    def places(self) -> int:
        """Maximum of leases per host."""
        return max(1, int(self.ahead / self.delay + ROUNDING)) if self.delay > 0 else self.number

    @property
    def own(self) -> list[str]:
        """Hosts that it holds and does not yield, with fewer leases than the maximum."""
        return [host for host in self.answer.held.keys() - self.answer.yielded if self.held_by_host.get(host, 0) < self.places]


def idle(tx: LinkTransaction, leasing: Leasing) -> bool:
    """Answer without a write if nothing can be taken and nothing is due. Return whether that was possible."""
    leasing.answer.held, leasing.answer.yielded = table_workers.held_hosts(tx)
    _look_ahead(tx, leasing)
    busy = leasing.answer.waiting and leasing.number > 0 and any(_concerns(tx, leasing)[len(OWN) + 1 :])
    return not busy and leasing.answer.poll_in != 0.0


def _concerns(tx: LinkTransaction, leasing: Leasing) -> Any:
    return tx.connection.execute(CONCERNS, {**_parameters(tx, leasing), "own": leasing.own, "wall": tx.now.wall}).one()


def _parameters(tx: LinkTransaction, leasing: Leasing) -> dict[str, Any]:
    return {"q": tx.queue, "w": tx.worker, "now": tx.now.ticks, "until": tx.now.ticks + leasing.ahead}


def take(tx: LinkTransaction, leasing: Leasing) -> None:
    leasing.answer.held, leasing.answer.yielded = table_workers.held_hosts(tx)
    tx.settle()
    concerns = _concerns(tx, leasing)
    if concerns.due:
        tx.wake(MAX_WOKEN)
        tx.settle()
        concerns = _concerns(tx, leasing)
    if leasing.number > 0:
        if not (concerns.suspects and _take_suspect(tx, leasing)):
            fair, held, _ = _shares(tx, leasing) if concerns.others_starved else (leasing.number, Counter[int](), set())
            _take_ready(tx, leasing, max(0, fair - held[tx.worker]))
        tx.settle()
    starved = len(leasing.answer.leases) < leasing.number
    prolonged = starved and (concerns.starved_until or 0.0) > tx.now.ticks + STARVED_SECONDS / 2
    until = concerns.starved_until if prolonged else tx.now.ticks + STARVED_SECONDS if starved else 0.0
    if (leasing.delay, until, leasing.draining) != concerns[: len(OWN)]:
        values = {"delay": leasing.delay, "starved_until": until, "draining": int(leasing.draining)}
        tx.connection.execute(update(WORKERS).where(WORKERS.c.number == tx.worker).values(values))
    if starved and concerns.elsewhere:
        _request_hosts(tx, leasing)
    _look_ahead(tx, leasing)


def _look_ahead(tx: LinkTransaction, leasing: Leasing) -> None:
    """Answer how many tasks wait, and when to poll again."""
    answer = leasing.answer
    waiting, due = tx.connection.execute(OUTLOOK, {"q": tx.queue}).one()
    waits = [] if due is None else [max(0.0, due - tx.now.wall)]
    if waiting:
        full = 0 < leasing.number <= len(answer.leases)
        waits.append(0.0 if full else POLL_SECONDS if leasing.delay <= 0 else min(POLL_SECONDS, leasing.delay))
    answer.waiting, answer.poll_in = int(waiting), min(waits, default=None)


def _take_ready(tx: LinkTransaction, leasing: Leasing, allowance: int) -> None:
    """Lease ready rows. ``allowance``: how many free hosts this worker may take."""
    parameters = {**_parameters(tx, leasing), "own": leasing.own, "most_free": min(leasing.number, allowance)}
    rows = tx.connection.execute(AVAILABLE, parameters).all()
    found = sorted(rows, key=lambda row: row.top)
    even = max(1, leasing.number // max(1, len(found)))
    quotas: Counter[str] = Counter()
    left = leasing.number
    for cap in (even, leasing.number):
        for host, _, ready in found:
            most = min(cap, ready, leasing.places - leasing.held_by_host.get(host, 0))
            more = max(0, min(most - quotas[host], left))
            quotas[host] += more
            left -= more
    _lease(tx, leasing, [row for some in chunks(+quotas, HOSTS_AT_ONCE) for row in _rows(tx, {host: quotas[host] for host in some})])


def _rows(tx: LinkTransaction, quotas: Mapping[str, int]) -> list[Any]:
    """Return the given number of ready rows of each host, in the order of the hosts."""
    size = 1 << (len(quotas) - 1).bit_length()  # few distinct statements for any number of hosts
    places = {host: place for place, host in enumerate(quotas)}
    of_hosts = [*quotas.items(), *[("", 0)] * (size - len(quotas))]
    params = {f"host{n}": host for n, (host, _) in enumerate(of_hosts)} | {f"most{n}": most for n, (_, most) in enumerate(of_hosts)}
    found = tx.connection.execute(_ready(size), {"q": tx.queue, **params}).all()
    return sorted(found, key=lambda row: (places[row.host], row.precedence, row.number))


def _take_suspect(tx: LinkTransaction, leasing: Leasing) -> bool:
    """Take a suspect, or drain for one unless another worker does. Return whether nothing else may be taken."""
    for row in tx.connection.execute(SUSPECT, {"q": tx.queue, "now": tx.now.ticks}).all():
        if table_workers.user(tx, row.host) not in (0, tx.worker):
            table_workers.request_hosts(tx, [row.host])
        elif any(leasing.held_by_host.values()):
            leasing.draining = tx.connection.scalar(DRAINING, {"q": tx.queue, "w": tx.worker}) is None
            return leasing.draining
        else:
            _lease(tx, leasing, [row])
            return True
    return False


def _lease(tx: LinkTransaction, leasing: Leasing, rows: Sequence[Any]) -> None:
    tx.move([Row(*row[: len(ROW)]) for row in rows], LEASED, worker=tx.worker)
    leasing.answer.leases += tuple(Lease(task_of(row), row.tries) for row in rows)
    fresh = [host for host in {row.host: None for row in rows} if host not in leasing.answer.held]
    leasing.answer.held |= table_workers.take_hosts(tx, fresh)


def _shares(tx: LinkTransaction, leasing: Leasing) -> tuple[int, Counter[int], set[int]]:
    """Return the fair share of a worker that is starved or holds hosts, the number of hosts by worker, and the workers of this queue."""
    held = Counter[int](dict(tx.connection.execute(HOSTS_BY_WORKER).all()))
    workers = tx.connection.execute(select(WORKERS.c.number, WORKERS.c.starved_until).where(WORKERS.c.queue == tx.queue)).all()
    sharing = {tx.worker, *(number for number, until in workers if until > tx.now.ticks or held[number])}
    free = tx.connection.scalar(FREE_HOSTS, _parameters(tx, leasing)) or 0
    fair = ceil((free + sum(held[number] for number in sharing)) / len(sharing))
    return fair, held, {number for number, _ in workers}


def _request_hosts(tx: LinkTransaction, leasing: Leasing) -> None:
    """Request hosts, those with most ready rows first, from workers with more than their share and from workers of other queues."""
    fair, held, of_queue = _shares(tx, leasing)
    lacking = fair - held[tx.worker]
    for worker, number in held.items():
        shared = worker in of_queue
        most = min(number - fair, lacking) if shared else MAX_REQUESTED
        if worker != tx.worker and most > 0:
            locks = tx.connection.execute(table_workers.HELD, {"w": worker}).all()
            requests = {lock.host: lock.requested_by if lock.requested_until > tx.now.ticks else 0 for lock in locks}
            hosts = [host for host, requester in requests.items() if requester in (0, tx.worker)]
            rows = tx.connection.execute(OWN_HOSTS, {"q": tx.queue, "own": hosts}).all()
            chosen = sorted(rows, key=lambda row: (requests[row.host] == 0, -row.ready))[:most]
            table_workers.request_hosts(tx, [row.host for row in chosen])
            lacking -= len(chosen) if shared else 0
