"""Links in the store, one row each: new, waiting and finished ones. The queue leases from these rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from threading import RLock
from time import time
from typing import TypeVar

from sqlalchemy import Connection, Engine, func, select, union

from newsportal.dedup.canonical import identity
from newsportal.items import Article, content_id
from newsportal.store import reading as articles
from newsportal.store.columns import name as stored_name
from newsportal.store.dialects import Part
from newsportal.store.link_rows import ROW, LinkTransaction, Row, rows_of
from newsportal.store.link_tables import (
    DEFERRED,
    HELD,
    LINKS,
    OUTSTANDING,
    OVER,
    PRUNED,
    STORED,
    WORKERS,
    Clock,
    Task,
    Terms,
    WaitingLinks,
    clock_of,
)

Answer = TypeVar("Answer")


class Links(Part):
    """The link table. Calls block; shared between threads. ``clock`` replaces the shared clock in tests."""

    def __init__(self, engine: Engine, clock: Clock = clock_of) -> None:
        super().__init__(engine)
        self._clock = clock
        self._lock = RLock() if engine.dialect.name == "sqlite" else nullcontext()  # threads wait here instead of polling the file lock

    @contextmanager
    def transaction(self, queue: str = "", terms: Terms | None = None) -> Iterator[LinkTransaction]:
        """Run one transaction that changes rows."""
        with self._lock, self._write() as connection:
            tx = LinkTransaction(connection, self._clock(connection), terms or Terms(), queue)
            yield tx
            tx.settle()

    def write(self, step: Callable[[LinkTransaction], Answer], queue: str = "", terms: Terms | None = None) -> Answer:
        """Return the result of ``step``, run in one transaction."""
        with self.transaction(queue, terms) as tx:
            return step(tx)

    def read(self, step: Callable[[LinkTransaction], Answer], queue: str = "", terms: Terms | None = None) -> Answer:
        with self._read() as connection:
            return step(LinkTransaction(connection, self._clock(connection), terms or Terms(), queue))

    def clock_ahead(self) -> timedelta:
        """Return by how much this machine's clock is ahead of that of the store's server."""
        with self._read() as connection:
            return timedelta(seconds=round(time() - self._clock(connection).wall))

    # links

    def states(self, ids: Collection[str]) -> dict[str, Row]:
        """Return the rows of these links; missing ones are omitted."""
        with self._read() as connection:
            return {row.id: row for row in rows_of(connection, ids) if row.link}

    def open(
        self, queue: str, tasks: Sequence[Task], *, since: float, names: Mapping[str, str] | None = None, held: Collection[str] = ()
    ) -> set[str]:
        """Add links to the queue, and return the ids that were not waiting before. Skipped are links that already wait, that finished after
        ``since``, and (``names``: id → identity) whose article is stored. Those in ``held`` are not leased by the queue."""
        if not tasks:
            return set()
        with self.transaction(queue) as tx:
            existing = rows_of(tx.connection, [task.id for task in tasks])
            stored = articles.find_stored(tx.connection, names.values()) if names else {}
            waiting = {row.id for row in existing if row.state not in OVER or row.changed >= since}
            fresh = {task.id: task for task in tasks if (names or {}).get(task.id) not in stored and task.id not in waiting}
            tx.remove([row for row in existing if row.id in fresh and row.queue != queue])  # move them to this queue
            entered = tx.add(fresh.values())
            if held_ids := entered.intersection(held):
                tx.move(tx.rows(held_ids), HELD)
            return entered

    def finish(self, ids: Collection[str], state: str = STORED, reason: str | None = None) -> None:
        """Finish these links in any queue."""
        if not ids:
            return
        with self.transaction() as tx:
            rows = tx.rows(ids)
            tx.end([row for row in rows if row.link and (row.state not in OVER or state == STORED != row.state)], state, reason)

    def postpone(self, id: str, reason: str, at: float | None) -> None:
        """Record a temporary failure of a link, which waits until ``at`` (``None``: only for its host)."""
        with self.transaction() as tx:
            for row in tx.rows([id]):
                if row.state in (*OUTSTANDING, DEFERRED, HELD):
                    tx.fail(row, reason, at)

    def release(self, source: str, until: float) -> list[str]:
        """Retry links of a source now that failed temporarily and wait no longer than ``until``, and return their ids."""
        waiting = (LINKS.c.state == DEFERRED, LINKS.c.reason.is_not(None), LINKS.c.link == 1, LINKS.c.not_before <= until)
        query = select(*ROW).where(LINKS.c.source == stored_name(source), *waiting)
        if not self._rows(query.limit(1)):
            return []
        with self.transaction() as tx:
            rows = tx.select(query)
            tx.give_back(rows, not_before=None)
            return [row.id for row in rows]

    def forget(self, source: str) -> None:
        waiting = (LINKS.c.source == source, LINKS.c.state.not_in((*OVER, PRUNED)))
        self.write(lambda tx: tx.connection.execute(LINKS.delete().where(*waiting)))

    def held(self, source: str) -> list[str]:
        """Return the requests (JSON) of a source's held feed entries, oldest first."""
        query = select(LINKS.c.body).where(LINKS.c.source == stored_name(source), LINKS.c.state == HELD).order_by(LINKS.c.number)
        return self._scalars(query)

    # monitoring

    def queues(self) -> list[str]:
        return sorted(filter(None, self._scalars(union(select(LINKS.c.queue), select(WORKERS.c.queue)))))

    def waiting(self) -> list[WaitingLinks]:
        """Return links that wait for a retry, by queue, source and reason."""
        columns = (LINKS.c.queue, LINKS.c.source, LINKS.c.reason)
        query = select(*columns, func.count(), func.min(LINKS.c.not_before)).where(LINKS.c.state == DEFERRED).group_by(*columns)
        rows = [WaitingLinks(queue, source, reason or "", number, next_) for queue, source, reason, number, next_ in self._rows(query)]
        return sorted(rows, key=lambda row: (row.queue, row.source or "", row.reason))


def finish_stored(connection: Connection, stored: Iterable[Article]) -> None:
    """Finish the links to articles stored in this transaction: by the articles' identities, and by those of their pages."""
    names, urls = set[str](), set[str]()
    for article in stored:
        link = article.link
        names.update((article.identity or "", link.identity or ""))
        if not link.identity:  # otherwise other articles share this URL's identity
            urls.update((link.url, article.url, *article.pages))
    names.update(map(identity, urls))
    rows = [row for row in rows_of(connection, [content_id(name) for name in names if name]) if row.link and row.state != STORED]
    if rows:
        tx = LinkTransaction(connection, clock_of(connection))
        tx.end(rows, STORED)
        tx.settle()
