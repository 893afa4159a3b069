"""The links of the record, a row each: which are new, what waits, and how the others ended. The queue hands out what stands here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from threading import RLock
from typing import TypeVar

from sqlalchemy import Connection, Engine, func, select, union

from newsportal.dedup.canonical import identity
from newsportal.items import Article, content_id
from newsportal.store import reading as articles
from newsportal.store.columns import name as cut
from newsportal.store.dialects import Part, select_in
from newsportal.store.link_rows import Turn, rows_of
from newsportal.store.link_tables import (
    HELD,
    LATER,
    LEASED,
    LINKS,
    OVER,
    PRUNED,
    STORED,
    WAITING,
    WORKERS,
    Clock,
    LinkState,
    Task,
    Terms,
    WaitingLinks,
    clock_of,
)

Answer = TypeVar("Answer")
STATE = [LINKS.c[name] for name in LinkState.__dataclass_fields__]


class Links(Part):
    """Blocking; shared between threads. ``clock`` replaces the shared clock in tests."""

    def __init__(self, engine: Engine, clock: Clock = clock_of) -> None:
        super().__init__(engine)
        self._clock = clock
        self._lock = RLock() if engine.dialect.name == "sqlite" else nullcontext()  # threads take turns, and do not poll the file's lock

    @contextmanager
    def turn(self, queue: str = "", terms: Terms | None = None) -> Iterator[Turn]:
        """One transaction that changes rows."""
        with self._lock, self._write() as connection:
            turn = Turn(connection, self._clock(connection), terms or Terms(), queue)
            yield turn
            turn.settle()

    def write(self, step: Callable[[Turn], Answer], queue: str = "", terms: Terms | None = None) -> Answer:
        """What ``step`` answers, in one transaction."""
        with self.turn(queue, terms) as turn:
            return step(turn)

    def read(self, step: Callable[[Turn], Answer], queue: str = "", terms: Terms | None = None) -> Answer:
        with self._read() as connection:
            return step(Turn(connection, self._clock(connection), terms or Terms(), queue))

    # links

    def states(self, ids: Collection[str]) -> dict[str, LinkState]:
        with self._read() as connection:
            return states(connection, ids)

    def open(
        self, queue: str, tasks: Sequence[Task], *, since: float, names: Mapping[str, str] | None = None, held: Collection[str] = ()
    ) -> set[str]:
        """Let these links wait; answers the ids of those that do so only now. Refused are links that wait already, that were over since
        the moment ``since``, and (``names``: id → identity) whose article is stored. Those of ``held`` are not handed out by the queue."""
        if not tasks:
            return set()
        with self.turn(queue) as turn:
            there = states(turn.connection, [task.id for task in tasks])
            stored = articles.find_stored(turn.connection, names.values()) if names else {}
            waits = {row.id for row in there.values() if row.state not in OVER or row.changed >= since}
            fresh = [task for task in tasks if (names or {}).get(task.id) not in stored and task.id not in waits]
            over = [task.id for task in fresh if task.id in there]
            turn.remove([row for row in turn.rows(over, anywhere=True) if row.queue != queue])  # this queue asks for them now
            entered = turn.add(fresh)
            if kept := entered.intersection(held):
                turn.move(turn.rows(kept), HELD)
            return entered

    def finish(self, ids: Collection[str], state: str = STORED, reason: str | None = None) -> None:
        """These links are over, wherever they wait."""
        if not ids:
            return
        with self.turn() as turn:
            rows = turn.rows(ids, anywhere=True)
            turn.end([row for row in rows if row.link and (row.state not in OVER or state == STORED != row.state)], state, reason)

    def postpone(self, id: str, reason: str, at: float | None) -> None:
        """The link failed in passing and waits until ``at``, or only for its host."""
        with self.turn() as turn:
            for row in turn.rows([id], anywhere=True):
                if row.state in (*WAITING, LATER, LEASED, HELD):
                    turn.fail(row, reason, at)

    def release(self, source: str) -> list[str]:
        """Try links of a source now that failed in passing; answers their ids."""
        asked = select(LINKS.c.id).where(
            LINKS.c.source == cut(source), LINKS.c.state == LATER, LINKS.c.reason.is_not(None), LINKS.c.link == 1
        )
        if not self._scalars(asked.limit(1)):
            return []
        with self.turn() as turn:
            rows = turn.rows(turn.connection.scalars(asked).all(), anywhere=True)
            turn.give_back(rows, not_before=None)
            return [row.id for row in rows]

    def forget(self, source: str) -> None:
        waits = (LINKS.c.source == source, LINKS.c.state.not_in((*OVER, PRUNED)))
        self.write(lambda turn: turn.connection.execute(LINKS.delete().where(*waits)))

    def held(self, source: str) -> list[str]:
        """Requests (JSON) of a source's feed entries that no queue hands out, the oldest first."""
        asked = select(LINKS.c.body).where(LINKS.c.source == cut(source), LINKS.c.state == HELD).order_by(LINKS.c.number)
        return self._scalars(asked)

    # for people

    def queues(self) -> list[str]:
        return sorted(filter(None, self._scalars(union(select(LINKS.c.queue), select(WORKERS.c.queue)))))

    def waiting(self) -> list[WaitingLinks]:
        """Links that wait for another try, by queue, source and reason."""
        columns = (LINKS.c.queue, LINKS.c.source, LINKS.c.reason)
        asked = select(*columns, func.count(), func.min(LINKS.c.not_before)).where(LINKS.c.state == LATER).group_by(*columns)
        rows = [WaitingLinks(queue, source, reason or "", number, next_) for queue, source, reason, number, next_ in self._rows(asked)]
        return sorted(rows, key=lambda row: (row.queue, row.source or "", row.reason))


def states(connection: Connection, ids: Iterable[str]) -> dict[str, LinkState]:
    return {row["id"]: LinkState(**row) for row in select_in(connection, select(*STATE).where(LINKS.c.link == 1), LINKS.c.id, ids)}


def finish_stored(connection: Connection, stored: Iterable[Article]) -> None:
    """The links that lead to articles which this very transaction stores are over: by their own names, and those of the articles' pages."""
    names, urls = set[str](), set[str]()
    for article in stored:
        link = article.link
        names.update((article.identity or "", link.identity or ""))
        if not link.identity:  # else other articles have this URL's identity, too
            urls.update((link.url, article.url, *article.pages))
    names.update(map(identity, urls))
    rows = [row for row in rows_of(connection, [content_id(name) for name in names if name]) if row.link and row.state != STORED]
    if rows:
        turn = Turn(connection, clock_of(connection))
        turn.end(rows, STORED)
        turn.settle()
