"""Hosts of the queue on disk: who holds one, from when it may be asked again, and who waits for it. Shared by all queues of the file."""

from __future__ import annotations

from collections.abc import Mapping

from newsportal.frontier.queues.disk_turn import Turn

WANTED = 5.0
"""Seconds for which a host is kept for somebody who asked for it in vain; asking again prolongs it. Workers ask several times a second
while they wait."""


def take(turn: Turn, host: str) -> float:
    """It is this worker's now. Seconds until it may be asked."""
    free_at = _free_at(turn, host)
    turn.sql.execute(
        "INSERT INTO hosts (host, holder, free_at, gap) VALUES (?, ?, ?, 0)"
        " ON CONFLICT DO UPDATE SET holder = excluded.holder, wanted_by = 0, wanted_until = 0",
        (host, turn.worker, free_at),
    )
    turn.sql.execute("UPDATE lines SET holder = ?, resting = 0 WHERE host = ?", (turn.worker, host))
    return max(0.0, free_at - turn.ticks)


def holder(turn: Turn, host: str) -> int:
    """Who holds it; 0 for nobody, below 0 for whom it is kept."""
    found = turn.sql.execute("SELECT holder, wanted_by, wanted_until FROM hosts WHERE host = ?", (host,)).fetchone()
    if found is None:
        return 0
    return int(found[0] or (-found[1] if found[2] > turn.ticks else 0))


def want(turn: Turn, host: str) -> None:
    """Tell its holder that this worker waits for it, unless somebody does already."""
    turn.sql.execute(
        "UPDATE hosts SET wanted_by = ?, wanted_until = ? WHERE host = ? AND (wanted_by IN (0, ?) OR wanted_until <= ?)",
        (turn.worker, turn.ticks + WANTED, host, turn.worker, turn.ticks),
    )


def let_go(turn: Turn, host: str, of: int, seconds: float) -> None:
    """Worker ``of`` holds it no more; nobody may ask it for so many seconds. It is kept for whoever waits for it."""
    found = turn.sql.execute("SELECT wanted_by, wanted_until FROM hosts WHERE host = ? AND holder = ?", (host, of)).fetchone()
    if found is None:
        return
    free_at, kept = turn.ticks + seconds, -found[0] if found[0] != of and found[1] > turn.ticks else 0
    turn.sql.execute("UPDATE hosts SET holder = 0, free_at = ?, gap = ? WHERE host = ?", (free_at, seconds, host))
    turn.sql.execute(
        "UPDATE lines SET holder = ?, resting = ?, free_at = ? WHERE host = ?", (kept, int(kept == 0 and seconds > 0), free_at, host)
    )


def let_all_go(turn: Turn, of: int, seconds: float) -> None:
    """Everything that worker ``of`` holds or waits for."""
    for (host,) in turn.sql.execute("SELECT host FROM hosts WHERE holder = ?", (of,)).fetchall():
        let_go(turn, host, of, seconds)
    turn.sql.execute("UPDATE hosts SET wanted_until = 0 WHERE wanted_by = ? AND wanted_by > 0", (of,))
    _offer(turn)


def ripen(turn: Turn, ahead: float) -> None:
    """Hosts of this queue that may be asked within ``ahead`` seconds are to be had."""
    turn.sql.execute("UPDATE lines SET resting = 0 WHERE queue = ? AND resting = 1 AND free_at <= ?", (turn.queue, turn.ticks + ahead))


def tidy(turn: Turn) -> None:
    """Once in a while: offer to all what nobody waits for any more, and forget hosts that have rested."""
    _offer(turn)
    turn.sql.execute("UPDATE lines SET resting = 0 WHERE resting = 1 AND free_at <= ?", (turn.ticks,))
    turn.sql.execute("DELETE FROM hosts WHERE holder = 0 AND free_at <= ? AND wanted_by = 0", (turn.ticks,))


def begin_anew(turn: Turn) -> None:
    """The machine was started anew, and so is its count of seconds: hosts rest for as long as they were to, at most."""
    turn.sql.execute("UPDATE hosts SET wanted_until = min(wanted_until, ?), free_at = min(free_at, ? + gap)", (turn.ticks, turn.ticks))
    turn.sql.execute("UPDATE lines SET free_at = coalesce((SELECT free_at FROM hosts WHERE hosts.host = lines.host), 0)")


def held(turn: Turn) -> Mapping[str, float]:
    """This worker's hosts, with the seconds until they may be asked."""
    found = turn.sql.execute("SELECT host, free_at FROM hosts WHERE holder = ?", (turn.worker,))
    return {host: max(0.0, free_at - turn.ticks) for host, free_at in found}


def wanted(turn: Turn) -> frozenset[str]:
    """This worker's hosts that another one waits for."""
    found = turn.sql.execute(
        "SELECT host FROM hosts WHERE wanted_by > 0 AND holder = ? AND wanted_by <> ? AND wanted_until > ?",
        (turn.worker, turn.worker, turn.ticks),
    )
    return frozenset(host for (host,) in found)


def _offer(turn: Turn) -> None:
    """Hosts that were kept for somebody who does not ask any more are everybody's."""
    past = turn.sql.execute("SELECT host, holder, free_at FROM hosts WHERE wanted_by > 0 AND wanted_until <= ?", (turn.ticks,)).fetchall()
    for host, of, free_at in past:
        turn.sql.execute("UPDATE hosts SET wanted_by = 0, wanted_until = 0 WHERE host = ?", (host,))
        if of == 0:
            turn.sql.execute("UPDATE lines SET holder = 0, resting = ? WHERE host = ?", (int(free_at > turn.ticks), host))


def rests(turn: Turn, host: str) -> float:
    """Seconds until it may be asked."""
    return max(0.0, _free_at(turn, host) - turn.ticks)


def _free_at(turn: Turn, host: str) -> float:
    found = turn.sql.execute("SELECT free_at FROM hosts WHERE host = ?", (host,)).fetchone()
    return float(found[0]) if found else 0.0
