"""Alerts (subject, channel and time chosen by a person) and the outbox of their messages.

A message is an alert and its subject: a story, or a condition of the portal. It has one row (kept for ``retention.messages`` days),
inserted in the same transaction that advances the position in the store's change log. A message is claimed before it is sent; if the
process dies before it records the result, the message stays ``sending`` and becomes ``unknown`` when the lease expires: perhaps it was
sent. It is sent again only on request.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Final, Literal

from sqlalchemy import Row, delete, distinct, func, insert, select, update

from newsportal.services.accounts.tables import ALERT_STATE, ALERTS, FEED_KEYS, MESSAGES, PORTAL
from newsportal.store.columns import build
from newsportal.store.dialects import Part, insert_new, upsert
from newsportal.store.outbox import storable_reason

About = Literal["topic", "search", "event", "briefing", "rising", "sources", "disk", "crawl"]
"""Stories of a topic, search or event; the briefing and the rising board at the alert's hours; failing sources, full disk, no crawl."""

State = Literal["waiting", "sending", "sent", "failed", "unknown", "withdrawn"]

OF_STORIES: Final[tuple[About, ...]] = ("topic", "search", "event")  # Sent for each story as it arrives
SCHEDULED: Final[tuple[About, ...]] = ("briefing", "rising")  # Computed only at the hours in `digest`: one message each
OPERATORS: Final[tuple[About, ...]] = ("sources", "disk", "crawl")  # Conditions of the portal: for people with the right to watch it
COLUMNS: Final = ("id", "person_id", "enabled", "created", "after_seq")
SETTINGS: Final = ("name", "about", "of", "channel", "fields", "digest", "quiet", "per_hour", "language")
HOUR: Final = timedelta(hours=1)
CHANGES, SENDER = "changes", "sender"


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. ``of``: the name of the topic (briefing, rising: or empty), the words of the search, or the id of the event. ``fields``:
    settings of the channel, including secrets. ``digest``: hours of the day at which all new stories are sent in one message; empty: send
    at once. ``quiet``: hours from and to which nothing is sent. ``per_hour``: maximum messages; others are added to the next.
    ``after_seq``: the store's change from which stories count."""

    id: str
    person_id: str
    name: str
    about: About
    of: str
    channel: str
    fields: Mapping[str, str] = field(repr=False)
    created: datetime
    after_seq: int = 0
    digest: tuple[int, ...] = ()
    quiet: tuple[int, int] | None = None
    per_hour: int = 6
    language: str = "zh"
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the outbox. ``subject``: a story's id, or a condition's name; ``article_id``: the article through which it was found."""

    alert_id: str
    subject: str
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
    """Part of the accounts database. Thread-safe, blocking; raises the errors of stores."""

    def add(self, alert: Alert) -> None:
        self._execute(insert(ALERTS).values(_written(alert)))

    def save(self, alert: Alert) -> None:
        self._execute(update(ALERTS).where(ALERTS.c.id == alert.id).values(_written(alert)))

    def rename_topic(self, before: str, after: str) -> None:
        for alert in self.all():
            if alert.of == before and alert.about in ("topic", *SCHEDULED):
                self.save(replace(alert, of=after))

    def drop(self, id: str) -> None:
        with self._write() as connection:
            connection.execute(delete(MESSAGES).where(MESSAGES.c.alert_id == id))
            connection.execute(delete(ALERTS).where(ALERTS.c.id == id))

    def alert(self, id: str) -> Alert | None:
        row = self._row(select(ALERTS).where(ALERTS.c.id == id))
        return _alert(row) if row is not None else None

    def all(self, person_id: str | None = None) -> list[Alert]:
        """Return the alerts of everybody or of one person, latest last."""
        query = select(ALERTS).order_by(ALERTS.c.created, ALERTS.c.id)
        if person_id is not None:
            query = query.where(ALERTS.c.person_id == person_id)
        return [_alert(row) for row in self._rows(query)]

    def position(self) -> int | None:
        """Return the position in the store's change log; ``None`` if it was never read."""
        found: int | None = self._scalar(select(ALERT_STATE.c.seq).where(ALERT_STATE.c.name == CHANGES))
        return found

    def follow(self, messages: Iterable[Message], *, after: int | None, up_to: int) -> bool:
        """Insert messages and advance the position in one transaction. Return False without effect if another process was faster."""
        with self._write() as connection:
            position = connection.scalar(select(ALERT_STATE.c.seq).where(ALERT_STATE.c.name == CHANGES))
            if position != after:
                return False
            for message in messages:
                insert_new(connection, MESSAGES, asdict(message))
            upsert(connection, ALERT_STATE, [{"name": CHANGES, "seq": up_to}], update=("seq",))
            return True

    def rewind(self, last: int) -> None:
        """Handle a log that ends at ``last``, before the position (an older backup was restored): following changes are announced."""
        with self._write() as connection:
            connection.execute(update(ALERT_STATE).where(ALERT_STATE.c.name == CHANGES, ALERT_STATE.c.seq > last).values(seq=last))
            connection.execute(update(ALERTS).where(ALERTS.c.after_seq > last).values(after_seq=last))

    def insert(self, messages: Iterable[Message]) -> int:
        """Insert messages about conditions of the portal, which are not in the store's change log. Return the number of new ones."""
        with self._write() as connection:
            return sum(insert_new(connection, MESSAGES, asdict(message)) for message in messages)

    def has_announced(self, alert_id: str, subjects: Collection[str], articles: Collection[str]) -> bool:
        """Return whether the alert has a message for one of these, whatever its state."""
        query = select(MESSAGES.c.subject).where(MESSAGES.c.alert_id == alert_id)
        return bool(self._select_in(query, MESSAGES.c.subject, subjects) or self._select_in(query, MESSAGES.c.article_id, articles))

    def due(self, now: datetime) -> set[str]:
        query = select(MESSAGES.c.alert_id).where(MESSAGES.c.state.in_(("waiting", "sending")), MESSAGES.c.due <= now).distinct()
        return set(self._scalars(query))

    def claim(self, alert: Alert, *, now: datetime, seconds: float, limit: int) -> list[Message]:
        """Claim up to ``limit`` due messages, earliest first, so that no other process sends them; none if ``per_hour`` is reached."""
        of_alert, claim = MESSAGES.c.alert_id == alert.id, token_hex(CLAIM_BYTES)
        with self._write() as connection:
            expired = (of_alert, MESSAGES.c.state == "sending", MESSAGES.c.due <= now)
            connection.execute(update(MESSAGES).where(*expired).values(state="unknown", reason=LOST, changed=now))
            hour_count = select(func.count(distinct(MESSAGES.c.claim))).where(of_alert, MESSAGES.c.changed > now - HOUR)
            if (connection.scalar(hour_count.where(MESSAGES.c.state.in_(("sending", "sent", "unknown")))) or 0) >= alert.per_hour:
                return []
            query = select(MESSAGES).where(of_alert, MESSAGES.c.state == "waiting", MESSAGES.c.due <= now)
            rows = connection.execute(query.order_by(MESSAGES.c.found, MESSAGES.c.subject).limit(limit)).mappings().all()
            until = now + timedelta(seconds=seconds)
            changes = {"state": "sending", "claim": claim, "due": until, "changed": now}
            messages = [build(Message, {**row, **changes, "tries": row["tries"] + 1}) for row in rows]
            condition = of_alert & MESSAGES.c.subject.in_([message.subject for message in messages])
            connection.execute(update(MESSAGES).where(condition).values(**changes, tries=MESSAGES.c.tries + 1))
            return messages

    def settle(
        self, messages: Sequence[Message], state: State, *, now: datetime, reason: str | None = None, due: datetime | None = None
    ) -> bool:
        """Record the result of a claim. Return False without effect if the lease expired and the state is unknown."""
        if not messages:
            return True
        condition = (MESSAGES.c.alert_id == messages[0].alert_id, MESSAGES.c.claim == messages[0].claim, MESSAGES.c.state == "sending")
        changes = {"state": state, "reason": storable_reason(reason), "due": due or now, "changed": now}
        with self._write() as connection:
            subjects = [message.subject for message in messages]
            return connection.execute(update(MESSAGES).where(*condition, MESSAGES.c.subject.in_(subjects)).values(changes)).rowcount > 0

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete finished messages older than ``before``; return their number. A story that changes later is announced again."""
        finished = MESSAGES.c.state.not_in(("waiting", "sending"))
        return self._delete_old(MESSAGES, MESSAGES.c.changed < before, finished, dry_run=dry_run)

    def resend(self, alert_id: str, *, now: datetime) -> int:
        """Queue failed and unknown messages again, on request. Return their number."""
        condition = (MESSAGES.c.alert_id == alert_id, MESSAGES.c.state.in_(("failed", "unknown")))
        return self._execute(update(MESSAGES).where(*condition).values(state="waiting", due=now, tries=0, changed=now))

    def messages(self, alert_id: str, limit: int = 50) -> list[Message]:
        """Return the messages, latest change first."""
        query = select(MESSAGES).where(MESSAGES.c.alert_id == alert_id).order_by(MESSAGES.c.changed.desc(), MESSAGES.c.subject)
        return [build(Message, row) for row in self._mappings(query.limit(limit))]

    def counts(self, alert_ids: Collection[str] | None = None) -> dict[str, dict[State, int]]:
        """Return alert → state → number of messages, for ``alert_ids`` or for all, which reads the complete table."""
        query = select(MESSAGES.c.alert_id, MESSAGES.c.state, func.count().label("number")).group_by(MESSAGES.c.alert_id, MESSAGES.c.state)
        found: dict[str, dict[State, int]] = {}
        for row in self._mappings(query) if alert_ids is None else self._select_in(query, MESSAGES.c.alert_id, alert_ids):
            found.setdefault(row["alert_id"], {})[row["state"]] = row["number"]
        return found

    def count_failed(self, person_id: str, since: datetime) -> int:
        """Return how many alerts of a person have failed or unknown messages since then."""
        alerts = select(ALERTS.c.id).where(ALERTS.c.person_id == person_id)
        condition = (MESSAGES.c.state.in_(("failed", "unknown")), MESSAGES.c.changed >= since)
        return self._scalar(select(func.count(distinct(MESSAGES.c.alert_id))).where(MESSAGES.c.alert_id.in_(alerts), *condition)) or 0

    def acquire(self, owner: str, *, now: datetime, seconds: float) -> bool:
        """Return whether ``owner`` is the only sending process for the next ``seconds``. A longer lock is of a clock since corrected."""
        changes = {"owner": owner, "leased_until": (until := now + timedelta(seconds=seconds))}
        with self._write() as connection:
            if insert_new(connection, ALERT_STATE, {"name": SENDER, "seq": 0, **changes}):
                return True
            row = connection.execute(select(ALERT_STATE).where(ALERT_STATE.c.name == SENDER)).one()
            if row.owner != owner and row.leased_until is not None and now < row.leased_until <= until:
                return False
            connection.execute(update(ALERT_STATE).where(ALERT_STATE.c.name == SENDER).values(changes))
            return True

    def release(self, owner: str, *, now: datetime) -> None:
        self._execute(update(ALERT_STATE).where(ALERT_STATE.c.name == SENDER, ALERT_STATE.c.owner == owner).values(leased_until=now))

    def signing_key(self, make: Callable[[], str]) -> str:
        """Return the portal's key for signing messages, created by ``make`` on first use."""
        with self._write() as connection:
            query = select(FEED_KEYS.c.secret).where(FEED_KEYS.c.person_id == PORTAL)
            if (secret := connection.scalar(query)) is None:
                insert_new(connection, FEED_KEYS, {"person_id": PORTAL, "secret": make()})
                secret = connection.scalar(query)
            return str(secret)


CLAIM_BYTES: Final = 16
LOST: Final = "the sending process ended before the result was known: the message may have arrived"


def _written(alert: Alert) -> dict[str, Any]:
    plain = {name: getattr(alert, name) for name in SETTINGS} | {"fields": dict(alert.fields), "digest": list(alert.digest)}
    return {**{name: getattr(alert, name) for name in COLUMNS}, "settings": plain | {"quiet": list(alert.quiet) if alert.quiet else None}}


def _alert(row: Row[Any]) -> Alert:
    options = dict(row.settings)
    quiet = options.pop("quiet", None)
    digest = tuple(options.pop("digest", ()))
    return Alert(**{name: getattr(row, name) for name in COLUMNS}, **options, digest=digest, quiet=(quiet[0], quiet[1]) if quiet else None)
