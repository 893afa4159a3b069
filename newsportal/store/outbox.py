"""The outbox: articles to publish, their targets and the results.

An entry is an article at one target (``sources.yaml``: ``publish``). A publisher leases entries and reports the result of each; entries
without a report are leased again by another, so nothing is lost when a process dies. Duplicates are prevented by the target
(``newsportal.services.publishing``), which receives the entry's ``fence``, a number that grows with each lease.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, get_args

from sqlalchemy import BigInteger, Column, Connection, Index, Integer, String, Table, delete, func, select

from newsportal.store.columns import EPOCH, ID_CHARS, LONG_TEXT, METADATA, MICROSECOND, NAME_CHARS, Moment, build
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.link_tables import SERVER_NOW
from newsportal.store.prints import last_seq

OUTBOX = Table(
    "outbox",
    METADATA,
    Column("target", String(NAME_CHARS), primary_key=True),
    Column("article_id", String(ID_CHARS), primary_key=True),  # no foreign key: articles may be withdrawn after deletion
    Column("state", String(16), nullable=False),
    Column("action", String(8), nullable=False),
    Column("due", Moment, nullable=False),
    Column("changed", Moment, nullable=False),
    Column("owner", String(NAME_CHARS)),
    Column("fence", BigInteger, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("revision", Integer),
    Column("digest", String(64)),
    Column("location", LONG_TEXT),
    Column("reason", LONG_TEXT),
    Index(None, "target", "state", "due"),
    Index(None, "state", "changed"),
    Index(None, "article_id"),
)
"""Articles at targets (:class:`OutboxEntry`)."""

POSITIONS = Table(
    "outbox_positions", METADATA, Column("target", String(NAME_CHARS), primary_key=True), Column("seq", BigInteger, nullable=False)
)
"""Position in the change log up to which each target is up to date."""

State = Literal["waiting", "under-way", "done", "failed", "withdrawn"]
Action = Literal["publish", "withdraw"]  # what publishers are to do with the article
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
STATES: Final[tuple[State, ...]] = get_args(State)
OPEN: Final[tuple[State, ...]] = ("waiting", "under-way")  # states that need an action
MAX_REASON: Final = 500  # characters kept of a reason: a driver's message may contain a whole statement


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """``due``: earliest time of the next lease; end of the lease while under way. ``requests`` counts changes of the article and
    requests by operators; ``tries``: attempts since the last success. ``revision`` and ``digest`` describe the copy at the
    target, ``location`` where it is; without ``digest`` there is no known copy."""

    target: str
    article_id: str
    due: datetime
    changed: datetime
    state: State = "waiting"
    action: Action = "publish"
    owner: str | None = None
    fence: int = 0
    requests: int = 1
    tries: int = 0
    revision: int | None = None
    digest: str | None = None
    location: str | None = None
    reason: str | None = None

    @property
    def published(self) -> bool:
        return self.digest is not None


@dataclass(frozen=True, slots=True)
class Result:
    """Result of publishing an entry. ``due``: time of the next try of a waiting one; without it, at once. ``tried`` False: nothing was
    attempted, which does not count as a try."""

    state: State
    reason: str | None = None
    revision: int | None = None
    digest: str | None = None
    location: str | None = None
    due: datetime | None = None
    tried: bool = True


def with_request(
    entry: OutboxEntry | None, target: str, article_id: str, action: Action, *, now: datetime, by_hand: bool = False
) -> OutboxEntry:
    """Return the entry after its article changed or an operator requested it. One withdrawn ``by_hand`` stays so until requested again."""
    if entry is None:
        return OutboxEntry(target, article_id, due=now, changed=now, action=action)
    if entry.action == "withdraw" and action == "publish" and not by_hand:
        return entry
    if entry.state == "under-way":  # its holder does not know of this: it waits again afterwards
        return replace(entry, action=action, requests=entry.requests + 1)
    return replace(entry, action=action, requests=entry.requests + 1, state="waiting", due=now, changed=now, reason=None, tries=0)


def with_lease(entry: OutboxEntry, owner: str, *, now: datetime, seconds: float) -> OutboxEntry:
    """Lease the entry to ``owner`` for ``seconds``. The fence grows with each lease, and is based on the time: a new store continues it."""
    fence = max(entry.fence + 1, (now - EPOCH) // MICROSECOND)
    until = now + timedelta(seconds=seconds)
    return replace(entry, state="under-way", owner=owner, due=until, fence=fence, tries=entry.tries + 1, changed=now)


def is_leased(entry: OutboxEntry | None, lease: OutboxEntry) -> bool:
    return entry is not None and entry.state == "under-way" and (entry.owner, entry.fence) == (lease.owner, lease.fence)


def with_result(entry: OutboxEntry, lease: OutboxEntry, result: Result, *, now: datetime) -> OutboxEntry:
    """Return the entry after its result is known. One requested again meanwhile waits again."""
    again = entry.requests != lease.requests and result.state != "waiting"
    closed = replace(
        entry, state="waiting" if again else result.state, owner=None, due=now if again else result.due or now, changed=now,
        tries=0 if again or result.state in ("done", "withdrawn") else entry.tries - (not result.tried),
        reason=storable_reason(result.reason),
    )  # fmt: skip
    if result.state == "withdrawn":
        return replace(closed, revision=None, digest=None, location=None)
    if result.state != "done":
        return closed
    return replace(closed, revision=result.revision, digest=result.digest, location=result.location)


def storable_reason(reason: str | None) -> str | None:
    return reason.encode("utf-8", "replace").decode().replace("\x00", "")[:MAX_REASON] if reason else None


CHANGING: Final = tuple(field.name for field in fields(OutboxEntry) if field.name not in ("target", "article_id"))


class Outbox(Part):
    def now(self) -> datetime:
        """Return the time of the store's server, else of this machine: leases must not depend on the clocks of publishers."""
        server = SERVER_NOW.get(self._engine.dialect.name)
        return datetime.now(UTC) if server is None else datetime.fromtimestamp(float(self._scalar(select(server))), UTC)

    def position(self, target: str) -> int:
        """Return the position in the change log (``Store.changes``) up to which the target is up to date; 0 for a new target."""
        with self._read() as connection:
            return _position(connection, target)

    def follow(self, target: str, published: Collection[str], removed: Collection[str], *, after: int, up_to: int, now: datetime) -> bool:
        """Request the articles ``published``, and the removal of those ``removed`` that have an entry, and move the position from ``after``
        to ``up_to``. Return False, with nothing done, if it was not at ``after``: another process was faster."""
        with self._write() as connection:
            if _position(connection, target) != after:
                return False
            entries = _find(connection, target, {*published, *removed})
            _save(connection, (with_request(entries.get(id), target, id, "publish", now=now) for id in dict.fromkeys(published)))
            _save(
                connection, (with_request(entries[id], target, id, "withdraw", now=now) for id in dict.fromkeys(removed) if id in entries)
            )
            upsert(connection, POSITIONS, [{"target": target, "seq": up_to}], update=("seq",))
            return True

    def request(self, target: str, article_ids: Collection[str], action: Action, *, now: datetime) -> int:
        """Request publishing or withdrawal by hand, whatever the state. Return the number of entries."""
        with self._write() as connection:
            entries = _find(connection, target, article_ids)
            requests = [with_request(entries.get(id), target, id, action, now=now, by_hand=True) for id in dict.fromkeys(article_ids)]
            _save(connection, requests)
            return len(requests)

    def retry(self, target: str | None = None, article_ids: Collection[str] | None = None, *, now: datetime) -> int:
        """Retry failed entries: of all targets or one, all or these articles. Return their number."""
        query = select(OUTBOX).where(OUTBOX.c.state == "failed")
        if target is not None:
            query = query.where(OUTBOX.c.target == target)
        with self._write() as connection:
            failed = [build(OutboxEntry, row) for row in connection.execute(query).mappings()]
            selected = [entry for entry in failed if article_ids is None or entry.article_id in article_ids]
            _save(
                connection,
                (replace(entry, state="waiting", due=now, tries=0, changed=now, requests=entry.requests + 1) for entry in selected),
            )
            return len(selected)

    def lease_due(self, target: str, owner: str, *, now: datetime, seconds: float, limit: int) -> list[OutboxEntry]:
        """Lease entries that are due, and return them: no other process gets them for ``seconds``."""
        due = select(OUTBOX).where(OUTBOX.c.target == target, OUTBOX.c.state.in_(OPEN), OUTBOX.c.due <= now)
        with self._read() as connection:
            if connection.execute(due.limit(1)).first() is None:
                return []  # usually nothing is due: avoid the write lock
        with self._write() as connection:
            rows = connection.execute(due.order_by(OUTBOX.c.due, OUTBOX.c.article_id).limit(limit)).mappings()
            leases = [with_lease(build(OutboxEntry, row), owner, now=now, seconds=seconds) for row in rows]
            _save(connection, leases)
            return leases

    def settle(self, lease: OutboxEntry, result: Result, *, now: datetime) -> bool:
        """Store the result of an entry. Return False, with nothing done, if the lease is lost to another process."""
        with self._write() as connection:
            entry = _find(connection, lease.target, [lease.article_id]).get(lease.article_id)
            if entry is None or not is_leased(entry, lease):
                return False
            _save(connection, [with_result(entry, lease, result, now=now)])
            return True

    def give_back(self, leases: Sequence[OutboxEntry], *, now: datetime, reason: str | None = None) -> None:
        """Return entries that were not processed: they wait as before, without a try."""
        with self._write() as connection:
            for lease in leases:
                entry = _find(connection, lease.target, [lease.article_id]).get(lease.article_id)
                if entry is not None and is_leased(entry, lease):
                    waiting = replace(entry, state="waiting", owner=None, due=now, tries=max(0, entry.tries - 1), changed=now)
                    _save(connection, [replace(waiting, reason=storable_reason(reason) or entry.reason)])

    def of(self, target: str, article_ids: Collection[str]) -> dict[str, OutboxEntry]:
        """Map articles to their entries, of those that exist."""
        with self._read() as connection:
            return _find(connection, target, article_ids)

    def entries(
        self, target: str | None = None, *, states: Collection[State] = STATES, article_id: str | None = None, limit: int = 100
    ) -> list[OutboxEntry]:
        """Return entries, the most recently changed first."""
        query = select(OUTBOX).where(OUTBOX.c.state.in_(states)).order_by(OUTBOX.c.changed.desc(), OUTBOX.c.target, OUTBOX.c.article_id)
        if target is not None:
            query = query.where(OUTBOX.c.target == target)
        if article_id is not None:
            query = query.where(OUTBOX.c.article_id == article_id)
        return [build(OutboxEntry, row) for row in self._mappings(query.limit(limit))]

    def counts(self) -> Mapping[str, Mapping[State, int]]:
        """Return the number of entries by target and state, for every known target."""
        number = func.count().label("number")
        with self._read() as connection:
            found: dict[str, dict[State, int]] = {target: {} for target in connection.scalars(select(POSITIONS.c.target))}
            for row in connection.execute(select(OUTBOX.c.target, OUTBOX.c.state, number).group_by(OUTBOX.c.target, OUTBOX.c.state)):
                found.setdefault(row.target, {})[row.state] = row.number
        return dict(sorted(found.items()))

    def behind(self, targets: Iterable[str]) -> dict[str, int]:
        """Return the number of rows of the change log that each target has not read."""
        with self._read() as connection:
            last = last_seq(connection)
            return {target: max(0, last - _position(connection, target)) for target in targets}

    def forget(self, target: str) -> int:
        """Delete all data of a target, and return the number of entries deleted."""
        with self._write() as connection:
            connection.execute(delete(POSITIONS).where(POSITIONS.c.target == target))
            return connection.execute(delete(OUTBOX).where(OUTBOX.c.target == target)).rowcount


def _position(connection: Connection, target: str) -> int:
    return connection.scalar(select(POSITIONS.c.seq).where(POSITIONS.c.target == target)) or 0


def _find(connection: Connection, target: str, article_ids: Iterable[str]) -> dict[str, OutboxEntry]:
    query = select(OUTBOX).where(OUTBOX.c.target == target)
    return {row["article_id"]: build(OutboxEntry, row) for row in select_in(connection, query, OUTBOX.c.article_id, article_ids)}


def _save(connection: Connection, entries: Iterable[OutboxEntry]) -> None:
    for chunk in chunks(entries):
        upsert(connection, OUTBOX, [asdict(entry) for entry in chunk], update=CHANGING)
