"""Alerts: what somebody wants to be told of, where and when; and the outbox of what they tell.

A message is an alert and a thing: a story, or a condition of the portal. It has one row (for ``retention.messages`` days), made in one
transaction with the mark up to which the store's changes were looked through. Before it is sent it is claimed; whoever dies between
claiming and telling what came of it leaves it ``sending``, and once the lease is over it is ``unknown``: perhaps it was sent. It is not
sent again unless somebody says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Final, Literal

from sqlalchemy import Row, delete, distinct, func, insert, select, update

from newsportal.services.accounts.tables import ALERT_MARKS, ALERTS, FEED_KEYS, MESSAGES, PORTAL
from newsportal.store.columns import build
from newsportal.store.dialects import Part, insert_new, upsert
from newsportal.store.outbox import storable_reason

About = Literal["topic", "search", "event", "briefing", "rising", "sources", "disk", "crawl"]
"""Stories of a topic, stories that a search finds, stories of an event; the briefing and what rises, at the alert's hours; a
source fails, the disk gets full, no crawl has come to an end."""

State = Literal["waiting", "sending", "sent", "failed", "unknown", "withdrawn"]

OF_STORIES: Final[tuple[About, ...]] = ("topic", "search", "event")  # What tells of stories, as they come
SCHEDULED: Final[tuple[About, ...]] = ("briefing", "rising")  # What is looked for at the hours of `digest` alone: one message each
OPERATORS: Final[tuple[About, ...]] = ("sources", "disk", "crawl")  # Conditions of the portal: for those who may watch it
SETTINGS: Final = ("name", "about", "of", "channel", "fields", "digest", "quiet", "per_hour", "language")
HOUR: Final = timedelta(hours=1)
CHANGES, SENDER = "changes", "sender"


@dataclass(frozen=True, slots=True)
class Alert:
    """``of``: the topic's name (briefing, rising: or nothing), the words of the search or the event's id. ``fields``: what the channel
    needs, secrets too. ``digest``: hours of the day at which all that is new is told at once; none: as it comes. ``quiet``: nothing is sent
    from this hour to that. ``per_hour``: messages at most; others go into the next. ``after``: the store's change since which it tells."""

    id: str
    person_id: str
    name: str
    about: About
    of: str
    channel: str
    fields: Mapping[str, str] = field(repr=False)
    created: datetime
    after: int = 0
    digest: tuple[int, ...] = ()
    quiet: tuple[int, int] | None = None
    per_hour: int = 6
    language: str = "zh"
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """``thing``: a story's id, or the name of a condition; ``article_id``: which article of the story made it known."""

    alert_id: str
    thing: str
    article_id: str
    title: str
    found: datetime
    due: datetime
    changed: datetime
    state: State = "waiting"
    claim: str | None = None
    tries: int = 0
    reason: str | None = None


class Alerts(Part):
    """In the accounts' database. May be shared between threads. Blocking calls; errors are those of stores."""

    def add(self, alert: Alert) -> None:
        self._execute(insert(ALERTS).values(_written(alert)))

    def save(self, alert: Alert) -> None:
        self._execute(update(ALERTS).where(ALERTS.c.id == alert.id).values(_written(alert)))

    def drop(self, id: str) -> None:
        with self._write() as connection:
            connection.execute(delete(MESSAGES).where(MESSAGES.c.alert_id == id))
            connection.execute(delete(ALERTS).where(ALERTS.c.id == id))

    def alert(self, id: str) -> Alert | None:
        row = self._row(select(ALERTS).where(ALERTS.c.id == id))
        return _alert(row) if row is not None else None

    def all(self, person_id: str | None = None) -> list[Alert]:
        """Everybody's, or one person's; the latest last."""
        wanted = select(ALERTS).order_by(ALERTS.c.created, ALERTS.c.id)
        if person_id is not None:
            wanted = wanted.where(ALERTS.c.person_id == person_id)
        return [_alert(row) for row in self._rows(wanted)]

    def position(self) -> int | None:
        """Up to which change of the store somebody looked; ``None``: nobody ever did."""
        found: int | None = self._scalar(select(ALERT_MARKS.c.seq).where(ALERT_MARKS.c.name == CHANGES))
        return found

    def follow(self, messages: Iterable[Message], *, after: int | None, upto: int) -> bool:
        """Keep what is to be told, and move the position, in one transaction. False, and nothing is done, where another was quicker."""
        with self._write() as connection:
            there = connection.scalar(select(ALERT_MARKS.c.seq).where(ALERT_MARKS.c.name == CHANGES))
            if there != after:
                return False
            for message in messages:
                insert_new(connection, MESSAGES, asdict(message))
            upsert(connection, ALERT_MARKS, [{"name": CHANGES, "seq": upto}], update=("seq",))
            return True

    def shorten(self, last: int) -> None:
        """The store's log ends at ``last``, before what was looked through (an older backup was restored): what comes next is told."""
        with self._write() as connection:
            connection.execute(update(ALERT_MARKS).where(ALERT_MARKS.c.name == CHANGES, ALERT_MARKS.c.seq > last).values(seq=last))
            connection.execute(update(ALERTS).where(ALERTS.c.after > last).values(after=last))

    def keep(self, messages: Iterable[Message]) -> int:
        """Conditions of the portal, which no change of the store tells. Answers how many are new."""
        with self._write() as connection:
            return sum(insert_new(connection, MESSAGES, asdict(message)) for message in messages)

    def has_announced(self, alert_id: str, things: Collection[str], articles: Collection[str]) -> bool:
        """Whether the alert told of one of these, whatever came of it."""
        wanted = select(MESSAGES.c.thing).where(MESSAGES.c.alert_id == alert_id)
        return bool(self._select_in(wanted, MESSAGES.c.thing, things) or self._select_in(wanted, MESSAGES.c.article_id, articles))

    def due(self, now: datetime) -> set[str]:
        wanted = select(MESSAGES.c.alert_id).where(MESSAGES.c.state.in_(("waiting", "sending")), MESSAGES.c.due <= now).distinct()
        return set(self._scalars(wanted))

    def claim(self, alert: Alert, *, now: datetime, seconds: float, most: int) -> list[Message]:
        """Up to ``most`` of the messages that are due, the earliest first: nobody else sends them. None where the hour is full."""
        mine, claim = MESSAGES.c.alert_id == alert.id, token_hex(CLAIM_BYTES)
        with self._write() as connection:
            lost = (mine, MESSAGES.c.state == "sending", MESSAGES.c.due <= now)
            connection.execute(update(MESSAGES).where(*lost).values(state="unknown", reason=LOST, changed=now))
            asked = select(func.count(distinct(MESSAGES.c.claim))).where(mine, MESSAGES.c.changed > now - HOUR)
            if (connection.scalar(asked.where(MESSAGES.c.state.in_(("sending", "sent", "unknown")))) or 0) >= alert.per_hour:
                return []
            wanted = select(MESSAGES).where(mine, MESSAGES.c.state == "waiting", MESSAGES.c.due <= now)
            rows = connection.execute(wanted.order_by(MESSAGES.c.found, MESSAGES.c.thing).limit(most)).mappings().all()
            until = now + timedelta(seconds=seconds)
            told = {"state": "sending", "claim": claim, "due": until, "changed": now}
            held = [build(Message, {**row, **told, "tries": row["tries"] + 1}) for row in rows]
            claimed = mine & MESSAGES.c.thing.in_([one.thing for one in held])
            connection.execute(update(MESSAGES).where(claimed).values(**told, tries=MESSAGES.c.tries + 1))
            return held

    def settle(
        self, held: Sequence[Message], state: State, *, now: datetime, reason: str | None = None, due: datetime | None = None
    ) -> bool:
        """What came of a claim. False, and nothing is done, where the lease was over and it counts as unknown."""
        if not held:
            return True
        claimed = (MESSAGES.c.alert_id == held[0].alert_id, MESSAGES.c.claim == held[0].claim, MESSAGES.c.state == "sending")
        told = {"state": state, "reason": storable_reason(reason), "due": due or now, "changed": now}
        with self._write() as connection:
            named = [one.thing for one in held]
            return connection.execute(update(MESSAGES).where(*claimed, MESSAGES.c.thing.in_(named)).values(told)).rowcount > 0

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete messages that are over since before that moment; answers how many. A story that changes later is told of once more."""
        over = MESSAGES.c.state.not_in(("waiting", "sending"))
        return self._delete_old(MESSAGES, MESSAGES.c.changed < before, over, dry_run=dry_run)

    def again(self, alert_id: str, *, now: datetime) -> int:
        """By hand: what failed, and what perhaps was sent, waits anew. Answers how many."""
        wanted = (MESSAGES.c.alert_id == alert_id, MESSAGES.c.state.in_(("failed", "unknown")))
        return self._execute(update(MESSAGES).where(*wanted).values(state="waiting", due=now, tries=0, changed=now))

    def messages(self, alert_id: str, limit: int = 50) -> list[Message]:
        """Those that changed last first."""
        wanted = select(MESSAGES).where(MESSAGES.c.alert_id == alert_id).order_by(MESSAGES.c.changed.desc(), MESSAGES.c.thing)
        return [build(Message, row) for row in self._mappings(wanted.limit(limit))]

    def counts(self, of: Collection[str] | None = None) -> dict[str, dict[State, int]]:
        """Alert → state → how many; ``of`` these alerts, or of all, which reads all messages there ever were."""
        wanted = select(MESSAGES.c.alert_id, MESSAGES.c.state, func.count().label("number"))
        wanted = wanted.group_by(MESSAGES.c.alert_id, MESSAGES.c.state)
        found: dict[str, dict[State, int]] = {}
        for row in self._mappings(wanted) if of is None else self._select_in(wanted, MESSAGES.c.alert_id, of):
            found.setdefault(row["alert_id"], {})[row["state"]] = row["number"]
        return found

    def failing(self, person_id: str, since: datetime) -> int:
        """How many alerts of somebody have a message that failed for good, or perhaps did not arrive, since then."""
        mine = select(ALERTS.c.id).where(ALERTS.c.person_id == person_id)
        bad = (MESSAGES.c.state.in_(("failed", "unknown")), MESSAGES.c.changed >= since)
        return self._scalar(select(func.count(distinct(MESSAGES.c.alert_id))).where(MESSAGES.c.alert_id.in_(mine), *bad)) or 0

    def hold(self, owner: str, *, now: datetime, seconds: float) -> bool:
        """Whether ``owner`` is the one process that sends, for so many seconds from now on."""
        told = {"owner": owner, "until": now + timedelta(seconds=seconds)}
        with self._write() as connection:
            if insert_new(connection, ALERT_MARKS, {"name": SENDER, "seq": 0, **told}):
                return True
            row = connection.execute(select(ALERT_MARKS).where(ALERT_MARKS.c.name == SENDER)).one()
            if row.owner != owner and row.until is not None and row.until > now:
                return False
            connection.execute(update(ALERT_MARKS).where(ALERT_MARKS.c.name == SENDER).values(told))
            return True

    def release(self, owner: str, *, now: datetime) -> None:
        self._execute(update(ALERT_MARKS).where(ALERT_MARKS.c.name == SENDER, ALERT_MARKS.c.owner == owner).values(until=now))

    def signing_key(self, make: Callable[[], str]) -> str:
        """The portal's own key, with which its messages are signed: of ``make`` the first time, the same from then on."""
        with self._write() as connection:
            mine = select(FEED_KEYS.c.secret).where(FEED_KEYS.c.person_id == PORTAL)
            if (known := connection.scalar(mine)) is None:
                insert_new(connection, FEED_KEYS, {"person_id": PORTAL, "secret": make()})
                known = connection.scalar(mine)
            return str(known)


CLAIM_BYTES: Final = 16
LOST: Final = "whoever sent it did not come to the end: perhaps it arrived"


def _written(alert: Alert) -> dict[str, Any]:
    plain = {name: getattr(alert, name) for name in SETTINGS} | {"fields": dict(alert.fields), "digest": list(alert.digest)}
    named = {"id": alert.id, "person_id": alert.person_id, "enabled": alert.enabled, "created": alert.created, "after": alert.after}
    return {**named, "settings": plain | {"quiet": list(alert.quiet) if alert.quiet else None}}


def _alert(row: Row[Any]) -> Alert:
    told = dict(row.settings)
    quiet = told.pop("quiet", None)
    digest = tuple(told.pop("digest", ()))
    named = {"id": row.id, "person_id": row.person_id, "enabled": row.enabled, "created": row.created, "after": row.after}
    return Alert(**named, **told, digest=digest, quiet=(quiet[0], quiet[1]) if quiet else None)
