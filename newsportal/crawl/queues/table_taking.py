"""Leasing from the link table: from which hosts a worker gets tasks, how many, and how hosts are shared.

1. Of hosts that it holds, that are reserved for it, or (up to its share) free: the most urgent first, in two rounds, so that a host with
   many tasks does not displace the others: first as many of each as fit if all get the same, then the rest.
2. A suspect comes first, for a worker without other leases; of the others one takes nothing more until its leases are done.
3. A worker that got less than it requested is *hungry*: others yield its share of hosts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Final

from sqlalchemy import CompoundSelect, Select, and_, bindparam, exists, func, select, union_all, update

from newsportal.crawl.queues import table_workers
from newsportal.crawl.queues.base import Answer, Lease
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import ROW, TASK, LinkTransaction, Row, task_of
from newsportal.store.link_tables import HOSTS, LATER, LEASED, LINES, LINKS, WORKERS

MAX_WOKEN: Final = 1000  # rows that one call wakes at most; the next calls wake the rest
HUNGRY_SECONDS: Final = 5.0  # seconds for which a worker that got less than it requested counts as hungry. It polls several times a second.
POLL_SECONDS: Final = 0.5  # seconds until the next poll where the outcome depends on other workers
MANY_HOSTS: Final = 4096  # with more hosts than this, sharing fairly needs no count
MAX_SUSPECTS: Final = 32  # suspects examined at most for one whose host is free
MAX_WANTED: Final = 16  # hosts requested at once from a worker of another queue
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


def _open(of: str, limit_name: str) -> Select[Any]:
    lines = (LINES.c.queue == bindparam("q"), LINES.c.holder == bindparam(of), LINES.c.resting == 0, LINES.c.ready > 0)
    query = select(LINES.c.host, LINES.c.top, LINES.c.ready, LINES.c.free_at, LINES.c.holder).where(*lines)
    return query.order_by(LINES.c.top, LINES.c.free_at, LINES.c.host).limit(bindparam(limit_name))


OPEN = _open("of", "most")
OPEN_HERE = union_all(*(select(_open(of, f"most_{of}").subquery()) for of in ("own", "reserved", "free")))
LANE_MATE = LINKS.alias()
SUSPECT = (
    select(*TASK, LINES.c.holder)
    .join(LINES, and_(LINES.c.host == LINKS.c.host, LINES.c.queue == LINKS.c.queue))
    .where(LINKS.c.queue == bindparam("q"), LINKS.c.state == "suspect", LINES.c.resting == 0)
    .where(~exists().where(LANE_MATE.c.queue == LINKS.c.queue, LANE_MATE.c.lane == LINKS.c.lane, LANE_MATE.c.state == LEASED))
    .order_by(LINKS.c.tries, LINKS.c.since)
    .limit(MAX_SUSPECTS)
)
DRAINING = (
    select(WORKERS.c.number).where(WORKERS.c.queue == bindparam("q"), WORKERS.c.draining == 1, WORKERS.c.number != bindparam("w")).limit(1)
)
SOME_LINES = select(LINES.c.waiting).where(LINES.c.queue == bindparam("q")).limit(SAMPLE).subquery()
WAITS = select(func.coalesce(func.sum(SOME_LINES.c.waiting), 0))
NEXT = select(func.min(LINKS.c.not_before)).where(LINKS.c.queue == bindparam("q"), LINKS.c.state == LATER)
OUTLOOK = select(WAITS.scalar_subquery(), NEXT.scalar_subquery())
# The worker's own columns; then whether there are hosts with ready rows of which it has not enough leases, suspects, workers that lack
# hosts, rows whose time has come, hosts whose pause has ended, and hosts held by workers of other queues
OWN = (WORKERS.c.delay, WORKERS.c.hungry, WORKERS.c.draining)
CONCERNS = select(
    *(select(column).where(WORKERS.c.number == bindparam("w")).scalar_subquery().label(column.name) for column in OWN),
    exists()
    .where(LINES.c.queue == bindparam("q"), LINES.c.ready > 0, LINES.c.resting == 0)
    .where((LINES.c.holder != bindparam("w")) | LINES.c.host.not_in(bindparam("full", expanding=True)))
    .label("available"),
    exists().where(LINKS.c.queue == bindparam("q"), LINKS.c.state == "suspect").label("suspects"),
    exists()
    .where(WORKERS.c.queue == bindparam("q"), WORKERS.c.number != bindparam("w"), WORKERS.c.hungry > bindparam("now"))
    .label("poor"),
    exists().where(LINKS.c.queue == bindparam("q"), LINKS.c.not_before <= bindparam("wall"), LINKS.c.state == LATER).label("due"),
    exists().where(LINES.c.queue == bindparam("q"), LINES.c.resting == 1, LINES.c.free_at <= bindparam("until")).label("rested"),
    exists()
    .where(LINES.c.queue == bindparam("q"), LINES.c.holder > 0, LINES.c.ready > 0)
    .where(LINES.c.holder.not_in(select(WORKERS.c.number).where(WORKERS.c.queue == bindparam("q"))))
    .label("elsewhere"),
)


@dataclass(slots=True)
class Taking:
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
    def full(self) -> set[str]:
        """Hosts with the maximum of leases."""
        return {host for host, number in self.held_by_host.items() if number >= self.places}


def idle(tx: LinkTransaction, taking: Taking) -> bool:
    """Answer without a write if nothing can be taken and nothing is due. Return whether that was possible."""
    taking.answer.held, taking.answer.yielded = table_workers.held_hosts(tx)
    _look_ahead(tx, taking)
    busy = taking.answer.waiting and taking.number > 0 and any(_concerns(tx, taking)[len(OWN) :])
    return not busy and taking.answer.poll_in != 0.0


def _concerns(tx: LinkTransaction, taking: Taking) -> Any:
    moments = {"now": tx.ticks, "wall": tx.wall, "until": tx.ticks + taking.ahead}
    return tx.connection.execute(CONCERNS, {"q": tx.queue, "w": tx.worker, "full": list(taking.full), **moments}).one()


def take(tx: LinkTransaction, taking: Taking) -> None:
    taking.answer.held, taking.answer.yielded = table_workers.held_hosts(tx)
    tx.settle()
    concerns = _concerns(tx, taking)
    if concerns.due:
        tx.wake(MAX_WOKEN)
        tx.settle()
        concerns = _concerns(tx, taking)
    if concerns.rested:
        table_workers.ripen(tx, taking.ahead)
    if taking.number > 0:
        if not (concerns.suspects and _take_suspect(tx, taking)):
            share, own, poorer = _fair_share(tx) if concerns.poor else (MANY_HOSTS, 0, [])
            taking.answer.yielded |= _reserve(tx, own - share, poorer)
            _take_ready(tx, taking, max(0, share - own) if poorer else taking.number)
        tx.settle()
    hungry = len(taking.answer.leases) < taking.number
    prolonged = hungry and (concerns.hungry or 0.0) > tx.ticks + HUNGRY_SECONDS / 2
    until = concerns.hungry if prolonged else tx.ticks + HUNGRY_SECONDS if hungry else 0.0
    if (taking.delay, until, taking.draining) != concerns[: len(OWN)]:
        values = {"delay": taking.delay, "hungry": until, "draining": int(taking.draining)}
        tx.connection.execute(update(WORKERS).where(WORKERS.c.number == tx.worker).values(values))
    if hungry and concerns.elsewhere:
        request_hosts(tx)
    _look_ahead(tx, taking)


def _look_ahead(tx: LinkTransaction, taking: Taking) -> None:
    """Answer how many tasks wait, and when to poll again."""
    answer = taking.answer
    waiting, due = tx.connection.execute(OUTLOOK, {"q": tx.queue}).one()
    waits = [] if due is None else [max(0.0, due - tx.wall)]
    if waiting:
        full = 0 < taking.number <= len(answer.leases)
        waits.append(0.0 if full else POLL_SECONDS if taking.delay <= 0 else min(POLL_SECONDS, taking.delay))
    answer.waiting, answer.poll_in = int(waiting), min(waits, default=None)


def _take_ready(tx: LinkTransaction, taking: Taking, allowance: int) -> None:
    """Lease ready rows. ``allowance``: how many free hosts this worker may take."""
    full = taking.full | taking.answer.yielded
    holders = {"own": tx.worker, "reserved": -tx.worker, "free": 0}
    limits = {"most_own": taking.number + len(full), "most_reserved": taking.number, "most_free": min(taking.number, allowance)}
    until = tx.ticks + taking.ahead  # more of its own than needed, in case the first ones cannot be served
    lines = tx.connection.execute(OPEN_HERE, {"q": tx.queue, **holders, **limits}).all()
    found = [line for line in lines if line.host not in full and (line.holder >= 0 or line.free_at <= until)]
    found.sort(key=lambda line: line.top)
    even = max(1, taking.number // max(1, len(found)))
    quotas: Counter[str] = Counter()
    left = taking.number
    for cap in (even, taking.number):
        for host, _, ready, *_ in found:
            most = min(cap, ready, taking.places - taking.held_by_host.get(host, 0))
            more = max(0, min(most - quotas[host], left))
            quotas[host] += more
            left -= more
    _lease(tx, taking, [row for some in chunks(+quotas, HOSTS_AT_ONCE) for row in _rows(tx, {host: quotas[host] for host in some})])


def _rows(tx: LinkTransaction, quotas: Mapping[str, int]) -> list[Any]:
    """Return the given number of ready rows of each host, in the order of the hosts."""
    size = 1 << (len(quotas) - 1).bit_length()  # few distinct statements for any number of hosts
    places = {host: place for place, host in enumerate(quotas)}
    of_hosts = [*quotas.items(), *[("", 0)] * (size - len(quotas))]
    params = {f"host{n}": host for n, (host, _) in enumerate(of_hosts)} | {f"most{n}": most for n, (_, most) in enumerate(of_hosts)}
    found = tx.connection.execute(_ready(size), {"q": tx.queue, **params}).all()
    return sorted(found, key=lambda row: (places[row.host], row.precedence, row.number))


def _take_suspect(tx: LinkTransaction, taking: Taking) -> bool:
    """Take a suspect, or drain for one unless another worker does. Return whether nothing else may be taken."""
    for row in tx.connection.execute(SUSPECT, {"q": tx.queue}).all():
        if row.holder not in (0, tx.worker, -tx.worker):
            table_workers.request_host(tx, row.host)
        elif any(taking.held_by_host.values()):
            taking.draining = tx.connection.scalar(DRAINING, {"q": tx.queue, "w": tx.worker}) is None
            return taking.draining
        else:
            _lease(tx, taking, [row])
            return True
    return False


def _lease(tx: LinkTransaction, taking: Taking, rows: Sequence[Any]) -> None:
    tx.move([Row(*row[: len(ROW)]) for row in rows], LEASED, worker=tx.worker)
    taking.answer.leases += tuple(Lease(task_of(row), row.tries) for row in rows)
    fresh = [host for host in {row.host: None for row in rows} if host not in taking.answer.held]
    taking.answer.held |= table_workers.take_hosts(tx, fresh)


def _hosts_of(number: Any) -> Any:
    return select(func.count()).select_from(HOSTS).where(HOSTS.c.holder == number).scalar_subquery()


def _fair_share(tx: LinkTransaction) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the fair share of hosts, how many this worker holds, and how many each hungry worker lacks."""
    query = select(WORKERS.c.number, WORKERS.c.hungry, _hosts_of(WORKERS.c.number))
    others = tx.connection.execute(query.where(WORKERS.c.queue == tx.queue, WORKERS.c.number != tx.worker)).all()
    own = tx.connection.scalar(select(_hosts_of(tx.worker))) or 0
    open_ = (LINES.c.queue == tx.queue, LINES.c.holder <= 0, LINES.c.ready > 0, LINES.c.resting == 0)
    free = tx.connection.scalar(select(func.count()).select_from(LINES).where(*open_)) or 0
    counts = [number for _, hungry, number in others if hungry > tx.ticks or number]
    share = ceil((free + own + sum(counts)) / (1 + len(counts)))
    return share, own, [(number, share - has) for number, hungry, has in others if hungry > tx.ticks and has < share]


def _reserve(tx: LinkTransaction, excess: int, poorer: list[tuple[int, int]]) -> set[str]:
    """Reserve hosts beyond the share for hungry workers, those without leases first. Return the hosts."""
    spare = min(excess, sum(lacking for _, lacking in poorer))
    if spare <= 0:
        return set()
    mine = (HOSTS.c.holder == tx.worker, HOSTS.c.wanted_until > tx.ticks)
    reserved = tx.connection.scalar(select(func.count()).select_from(HOSTS).where(*mine)) or 0
    busy = exists().where(LINKS.c.worker == tx.worker, LINKS.c.state == LEASED, LINKS.c.host == LINES.c.host)
    hosts = tx.connection.scalars(
        select(LINES.c.host)
        .join(HOSTS, HOSTS.c.host == LINES.c.host)
        .where(LINES.c.queue == tx.queue, LINES.c.holder == tx.worker, LINES.c.ready > 0, HOSTS.c.wanted_until <= tx.ticks)
        .order_by(busy, LINES.c.waiting.desc())
        .limit(max(0, spare - reserved))
    ).all()
    takers = [number for number, lacking in poorer for _ in range(lacking)]
    until = tx.ticks + table_workers.RESERVED_SECONDS
    for host, worker in zip(hosts, takers, strict=False):
        tx.connection.execute(update(HOSTS).where(HOSTS.c.host == host).values(wanted_by=worker, wanted_until=until))
    # prolong earlier reservations while a worker is hungry
    tx.connection.execute(update(HOSTS).where(*mine, HOSTS.c.wanted_by != tx.worker).values(wanted_until=until))
    return {host for host, _ in zip(hosts, takers, strict=False)}


def request_hosts(tx: LinkTransaction) -> None:
    """Request hosts that this queue waits for from workers of other queues."""
    query = select(LINES.c.holder).where(LINES.c.queue == tx.queue, LINES.c.holder > 0, LINES.c.ready > 0).distinct()
    of_queue = select(WORKERS.c.number).where(WORKERS.c.queue == tx.queue)
    for number in tx.connection.scalars(query.where(LINES.c.holder.not_in(of_queue))).all():
        for host, *_ in tx.connection.execute(OPEN, {"q": tx.queue, "of": number, "most": MAX_WANTED}).all():
            table_workers.request_host(tx, host)
