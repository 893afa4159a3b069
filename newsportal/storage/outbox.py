"""What is to be published, where, and what became of it: a protocol of its own within the store.

An entry is an article at one target (``sources.yaml``: ``publish``). Whoever publishes takes entries for some time, and tells what came of
each; what nobody told of is taken again by another. So nothing is lost when a process dies. That nothing comes twice is the target's part
(``newsportal.publishing``): it is told the entry's ``fence``, which grows each time the entry is taken.

The steps are pure functions from entry to entry, the same whatever the database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, Protocol, get_args

State = Literal["waiting", "under-way", "done", "failed", "withdrawn"]
Wanted = Literal["there", "gone"]
"""What is to be: the article stands at the target, or it does not."""

STATES: Final[tuple[State, ...]] = get_args(State)
OPEN: Final[tuple[State, ...]] = ("waiting", "under-way")
"""States of entries that somebody has to do something about, by and by."""

MAX_REASON: Final = 500
"""Characters of a reason that are kept: a driver's message may hold a whole statement."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """``due``: not before then it is taken; while it is under way, when its lease ends. ``asked`` counts how often the article changed or
    somebody asked for it; ``tries`` the tries since it was done last. ``revision`` and ``digest`` say what stands at the target, ``place``
    where, in the target's own words; without ``digest`` nothing is known to stand there."""

    target: str
    article_id: str
    due: datetime
    changed: datetime
    state: State = "waiting"
    wanted: Wanted = "there"
    owner: str | None = None
    fence: int = 0
    asked: int = 1
    tries: int = 0
    revision: int | None = None
    digest: str | None = None
    place: str | None = None
    reason: str | None = None

    @property
    def published(self) -> bool:
        return self.digest is not None


COLUMNS: Final = tuple(field.name for field in fields(Entry))


@dataclass(frozen=True, slots=True)
class Result:
    """What came of an entry. ``due``: when a waiting one may be tried again; without it, at once. ``tried`` False: nothing was done about
    it, which counts as no try."""

    state: State
    reason: str | None = None
    revision: int | None = None
    digest: str | None = None
    place: str | None = None
    due: datetime | None = None
    tried: bool = True


def asked(entry: Entry | None, target: str, article_id: str, wanted: Wanted, *, now: datetime, by_hand: bool = False) -> Entry:
    """The entry once its article has changed, or somebody asked for it. What was taken back by hand stays so until somebody asks."""
    if entry is None:
        return Entry(target, article_id, due=now, changed=now, wanted=wanted)
    if entry.wanted == "gone" and wanted == "there" and not by_hand:
        return entry
    if entry.state == "under-way":  # who has it does not know of this: it waits again when he is done
        return replace(entry, wanted=wanted, asked=entry.asked + 1)
    return replace(entry, wanted=wanted, asked=entry.asked + 1, state="waiting", due=now, changed=now, reason=None, tries=0)


def may_be_taken(entry: Entry, now: datetime) -> bool:
    return entry.state in OPEN and entry.due <= now


def taken(entry: Entry, owner: str, *, now: datetime, seconds: float) -> Entry:
    """The entry in the hands of ``owner`` for so many seconds. The fence grows from one taking to the next, and is a moment, so that it
    does not begin anew with another store."""
    fence = max(entry.fence + 1, (now - EPOCH) // timedelta(microseconds=1))
    until = now + timedelta(seconds=seconds)
    return replace(entry, state="under-way", owner=owner, due=until, fence=fence, tries=entry.tries + 1, changed=now)


def is_held(entry: Entry | None, held: Entry) -> bool:
    """Whether ``held``, as it was taken, is still in the hands of who took it."""
    return entry is not None and entry.state == "under-way" and (entry.owner, entry.fence) == (held.owner, held.fence)


def settled(entry: Entry, held: Entry, result: Result, *, now: datetime) -> Entry:
    """The entry once it is told what came of it. One that was asked for meanwhile waits again."""
    again = entry.asked != held.asked and result.state != "waiting"
    told = replace(
        entry,
        state="waiting" if again else result.state,
        owner=None,
        due=now if again else result.due or now,
        changed=now,
        tries=0 if again or result.state in ("done", "withdrawn") else entry.tries - (not result.tried),
        reason=_kept(result.reason),
    )
    if result.state == "withdrawn":
        return replace(told, revision=None, digest=None, place=None)
    if result.state != "done":
        return told
    return replace(told, revision=result.revision, digest=result.digest, place=result.place)


class Outbox(Protocol):
    """Blocking calls, each one transaction. Raises ``StoreUnavailable``."""

    def position(self, target: str) -> int:
        """Up to which change (``Store.changes``) the target was looked after; 0 for one never met."""
        ...

    def follow(self, target: str, there: Collection[str], gone: Collection[str], *, after: int, upto: int, now: datetime) -> bool:
        """Ask for the articles ``there``, and for those ``gone`` that have an entry, and move the position from ``after`` to ``upto``.
        False, and nothing is done, if it was not at ``after``: another process was quicker."""
        ...

    def ask(self, target: str, article_ids: Collection[str], wanted: Wanted, *, now: datetime) -> int:
        """By hand: publish or take back, whatever was before. Answers how many."""
        ...

    def again(self, target: str | None = None, article_ids: Collection[str] | None = None, *, now: datetime) -> int:
        """Let those that failed wait anew: of all targets or one, all or these articles. Answers how many."""
        ...

    def take(self, target: str, owner: str, *, now: datetime, seconds: float, limit: int) -> list[Entry]:
        """Entries that are due, as they were taken: nobody else has them for so many seconds."""
        ...

    def settle(self, held: Entry, result: Result, *, now: datetime) -> bool:
        """What came of an entry. False, and nothing is done, if it is not held any more: another process has taken it."""
        ...

    def give_back(self, held: Sequence[Entry], *, now: datetime, reason: str | None = None) -> None:
        """Entries that nothing was done about: they wait as before, without a try."""
        ...

    def of(self, target: str, article_ids: Collection[str]) -> dict[str, Entry]:
        """Article → entry, of those that exist."""
        ...

    def entries(
        self, target: str | None = None, *, states: Collection[State] = STATES, article_id: str | None = None, limit: int = 100
    ) -> list[Entry]:
        """Those that changed last first."""
        ...

    def counts(self) -> Mapping[str, Mapping[State, int]]:
        """Target → state → how many; of every target that was ever met."""
        ...

    def forget(self, target: str) -> int:
        """Everything that is known of a target. Answers how many entries there were."""
        ...


def given_back(entry: Entry, *, now: datetime, reason: str | None) -> Entry:
    """The entry as nobody has it any more, and as if it had not been taken."""
    why = _kept(reason) or entry.reason
    return replace(entry, state="waiting", owner=None, due=now, tries=max(0, entry.tries - 1), changed=now, reason=why)


def open_again(entry: Entry, *, now: datetime) -> Entry:
    """A failed entry as it waits anew."""
    return replace(entry, state="waiting", due=now, tries=0, changed=now, asked=entry.asked + 1)


def _kept(reason: str | None) -> str | None:
    """A reason as every database can keep it: what drivers and servers say may hold anything."""
    return reason.encode("utf-8", "replace").decode().replace("\x00", "")[:MAX_REASON] if reason else None
