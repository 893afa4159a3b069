"""What a worker gets of the queue on disk: of which hosts, how much of each, and how they are shared.

1. Of hosts that it holds, or that are kept for it, or (up to its share) free: the most urgent first, in two rounds, so that one host with
   much to do does not take the place of the others: first as many of each as fit if all get the same, then the rest.
2. A suspect, if it has nothing else in hand and got nothing else; at once if the suspect has waited for :data:`PATIENCE`.
3. With less than it asked for it is *hungry*: others see to it that it gets its share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf

from newsportal.frontier.queues import disk_hosts, disk_tasks
from newsportal.frontier.queues.base import Lease, Taken
from newsportal.frontier.queues.disk_tasks import KNOWN, Row
from newsportal.frontier.queues.disk_turn import Turn

WAKE = 1000
"""Tasks for later that one call lets wait, at most; the rest comes with the next ones."""

HUNGER = 5.0
"""Seconds for which a worker that got less than it asked for is thought of. It asks several times a second."""

PATIENCE = 30.0
"""Seconds after which a suspect is not put off any more: a worker takes nothing new until it has nothing in hand, then the suspect."""

POLL = 0.5
"""Seconds until it is worth asking again where that depends on others."""

MANY = 4096
"""More hosts than this need not be counted to be shared fairly."""

SUSPECTS = 32
"""Suspects that are looked at, at most, for one whose host is free."""

WANTS = 16
"""Hosts of another queue's worker that are asked for at once."""


ROUNDING = 1e-9
"""0.3 / 0.1 is 3."""


@dataclass(slots=True)
class Taking:
    """One call: how much is wanted, and what came of it. ``in_hand``: tasks that the worker has of each host."""

    number: int
    room: int
    ahead: float
    in_hand: Mapping[str, int]
    leases: list[Lease] = field(default_factory=list)
    yielded: frozenset[str] = frozenset()
    suspect: bool = False


def take(turn: Turn, number: int, delay: float, ahead: float, in_hand: Mapping[str, int], *, alone: bool) -> tuple[Taken, bool]:
    """The answer, and whether it is a suspect. ``alone``: a suspect is in hand, so nothing goes with it."""
    turn.sql.execute("UPDATE workers SET delay = ? WHERE number = ? AND delay <> ?", (delay, turn.worker, delay))
    disk_tasks.wake(turn, WAKE)
    disk_hosts.ripen(turn, ahead)
    turn.settle()
    taking = Taking(number, max(1, int(ahead / delay + ROUNDING)) if delay > 0 else number, ahead, in_hand)
    if number > 0 and not alone:
        _fill(turn, taking)
    taking.yielded = disk_hosts.wanted(turn)
    turn.settle()
    hungry = number > 0 and not alone and len(taking.leases) < number
    turn.sql.execute("UPDATE workers SET hungry = ? WHERE number = ?", (turn.ticks + HUNGER if hungry else 0.0, turn.worker))
    if hungry:
        _want(turn)
    return _answer(turn, taking, delay, ahead), taking.suspect


def _fill(turn: Turn, taking: Taking) -> None:
    waiting = _suspects(turn)
    empty = not any(taking.in_hand.values())
    overdue = any(turn.ticks - since > PATIENCE for _, since in waiting)
    if not overdue:
        _drains_no_more(turn)
    elif _drains(turn):
        if not empty:
            return  # nothing new, until nothing is in hand
        if _take_suspect(turn, taking, waiting):
            return
    _share(turn)
    taking.yielded = disk_hosts.wanted(turn)
    _take_ready(turn, taking)
    if empty and not taking.leases:
        _take_suspect(turn, taking, waiting)


def _take_ready(turn: Turn, taking: Taking) -> None:
    full = {host for host, number in taking.in_hand.items() if number >= taking.room} | taking.yielded
    own = _lines(turn, turn.worker, taking.number + len(full))  # more than can be served, if the first ones cannot
    kept = _lines(turn, -turn.worker, taking.number, turn.ticks + taking.ahead)
    free = _lines(turn, 0, min(taking.number, _allowance(turn, taking.number)))
    found = [line for line in [*own, *kept, *free] if line[0] not in full]
    found.sort(key=lambda line: -line[1])
    mine = {host for host, _ in own}
    even = max(1, taking.number // max(1, len(found)))
    got: Counter[str] = Counter()
    for cap in (even, taking.number):
        for host, _ in found:
            number = min(cap - got[host], taking.room - taking.in_hand.get(host, 0) - got[host], taking.number - len(taking.leases))
            if number <= 0:
                continue
            if host not in mine:
                disk_hosts.take(turn, host)
                mine.add(host)
            leases = disk_tasks.lease(turn, host, number)
            got[host] += len(leases)
            taking.leases += leases


def _lines(turn: Turn, holder: int, limit: int, until: float = inf) -> list[tuple[str, int]]:
    """Hosts of this queue with something to be had, the most urgent first; those that rest longer than ``until`` left out."""
    return turn.sql.execute(
        "SELECT host, top FROM lines WHERE queue = ? AND holder = ? AND ready > 0 AND resting = 0 AND free_at <= ?"
        " ORDER BY top DESC, free_at LIMIT ?",
        (turn.queue, holder, until, limit),
    ).fetchall()


def _suspects(turn: Turn) -> list[tuple[Row, float]]:
    """Those that the fewest workers died of first; with each, since when it waits (ticks)."""
    found = turn.sql.execute(
        f"SELECT {KNOWN}, since FROM tasks WHERE queue = ? AND state = 'suspect' ORDER BY tries, since LIMIT ?",  # noqa: S608
        (turn.queue, SUSPECTS),
    ).fetchall()
    return [(Row(*row[:-1]), row[-1]) for row in found]


def _take_suspect(turn: Turn, taking: Taking, waiting: list[tuple[Row, float]]) -> bool:
    for row, _ in waiting:
        of = disk_hosts.holder(turn, row.host)
        if of not in (0, turn.worker, -turn.worker):
            disk_hosts.want(turn, row.host)
            continue
        leases = disk_tasks.lease_suspect(turn, row)
        if leases:
            disk_hosts.take(turn, row.host)
            taking.leases, taking.suspect = leases, True
            break
    _drains_no_more(turn)
    return taking.suspect


def _drains(turn: Turn) -> bool:
    """Whether this worker is the one that makes room for a suspect."""
    other = turn.sql.execute(
        "SELECT 1 FROM workers WHERE queue = ? AND draining = 1 AND number <> ? LIMIT 1", (turn.queue, turn.worker)
    ).fetchone()
    if other is None:
        turn.sql.execute("UPDATE workers SET draining = 1 WHERE number = ?", (turn.worker,))
    return other is None


def _drains_no_more(turn: Turn) -> None:
    turn.sql.execute("UPDATE workers SET draining = 0 WHERE number = ? AND draining = 1", (turn.worker,))


def _poorer(turn: Turn) -> tuple[int, int, list[tuple[int, int]]]:
    """A fair share of hosts, how many this worker holds, and who is hungry with fewer than a share (with what is lacking)."""
    others = turn.sql.execute(
        "SELECT number, hungry > ?, (SELECT count(*) FROM hosts WHERE holder = workers.number) FROM workers"
        " WHERE queue = ? AND number <> ?",
        (turn.ticks, turn.queue, turn.worker),
    ).fetchall()
    if not any(hungry for _, hungry, _ in others):
        return MANY, 0, []
    own = turn.sql.execute("SELECT count(*) FROM hosts WHERE holder = ?", (turn.worker,)).fetchone()[0]
    free = turn.sql.execute(
        "SELECT count(*) FROM (SELECT 1 FROM lines WHERE queue = ? AND holder <= 0 AND ready > 0 AND resting = 0 LIMIT ?)",
        (turn.queue, MANY),
    ).fetchone()[0]
    counted = [number for _, hungry, number in others if hungry or number]
    share = ceil((free + own + sum(counted)) / (1 + len(counted)))
    return share, own, [(number, share - has) for number, hungry, has in others if hungry and has < share]


def _allowance(turn: Turn, number: int) -> int:
    """How many free hosts this worker may take on."""
    share, own, poorer = _poorer(turn)
    return max(0, share - own) if poorer else number


def _share(turn: Turn) -> None:
    """Of more hosts than a share, keep some for those that have fewer and are hungry; those of which nothing is in hand first."""
    share, own, poorer = _poorer(turn)
    spare = min(own - share, sum(lacking for _, lacking in poorer))
    if spare <= 0:
        return
    wanted = turn.sql.execute("SELECT count(*) FROM hosts WHERE holder = ? AND wanted_until > ?", (turn.worker, turn.ticks)).fetchone()[0]
    hosts = turn.sql.execute(
        "SELECT host FROM lines JOIN hosts USING (host) WHERE lines.queue = ? AND lines.holder = ? AND ready > 0 AND wanted_until <= ?"
        " ORDER BY EXISTS (SELECT 1 FROM tasks WHERE worker = lines.holder AND state = 'leased' AND tasks.host = lines.host),"
        " waiting DESC LIMIT ?",
        (turn.queue, turn.worker, turn.ticks, max(0, spare - wanted)),
    ).fetchall()
    to = [number for number, lacking in poorer for _ in range(lacking)]
    until = turn.ticks + disk_hosts.WANTED
    turn.sql.executemany(
        "UPDATE hosts SET wanted_by = ?, wanted_until = ? WHERE host = ?",
        [(by, until, host) for (host,), by in zip(hosts, to, strict=False)],
    )
    turn.sql.execute(  # those that were asked for before, as long as somebody is hungry
        "UPDATE hosts SET wanted_until = ? WHERE holder = ? AND wanted_until > ? AND wanted_by <> ?",
        (until, turn.worker, turn.ticks, turn.worker),
    )


def _want(turn: Turn) -> None:
    """Tell workers of other queues which of their hosts are waited for here. Those of this queue do what waits themselves."""
    others = turn.sql.execute("SELECT number FROM workers WHERE queue <> ?", (turn.queue,)).fetchall()
    for (number,) in others:
        for host, _ in _lines(turn, number, WANTS):
            disk_hosts.want(turn, host)


def _answer(turn: Turn, taking: Taking, delay: float, ahead: float) -> Taken:
    states = dict(turn.sql.execute("SELECT state, number FROM counts WHERE queue = ?", (turn.queue,)).fetchall())
    waiting, later = sum(states.get(name, 0) for name in ("ready", "behind", "suspect")), states.get("later", 0)
    soon: float | None = None
    if waiting:
        soon = 0.0 if 0 < taking.number <= len(taking.leases) else POLL if delay <= 0 else min(POLL, delay)
    if later:
        (at,) = turn.sql.execute("SELECT min(at) FROM tasks WHERE queue = ? AND state = 'later'", (turn.queue,)).fetchone()
        until = max(0.0, at - turn.wall)
        soon = until if soon is None else min(soon, until)
    return Taken(tuple(taking.leases), waiting, later, soon, disk_hosts.held(turn), taking.yielded)
