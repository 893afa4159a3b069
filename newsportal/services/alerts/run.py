"""Follow the store's change log for all alerts, then send what is due.

The process may die between any two steps, and several may run concurrently:

1. new messages are added to the outbox and the position is advanced in one transaction: one row per story and alert, kept for ever;
2. a message is claimed for :data:`LEASE` seconds before it is sent;
3. the result is recorded. If the process dies between 2 and 3, it is unknown whether the message arrived; it is shown as such and not sent
   again automatically: never twice.
"""

import logging
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final

from newsportal.errors import DependencyMissing, NewsportalError
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts
from newsportal.services.accounts.alerts import OF_STORIES, OPERATORS, SCHEDULED, Alert, Message
from newsportal.services.accounts.alerts import State as State
from newsportal.services.alerts.base import DeliveryUnknown, Item, ReceiverGone, Setting, headline, message_of, test_message
from newsportal.services.alerts.making import ITEMS, Replay, cached_replay, compute_replay, scheduled_messages, span_of
from newsportal.services.alerts.matching import due_at, in_quiet_hours, matches
from newsportal.services.alerts.services import SERVICES, mask_fields, send
from newsportal.services.publishing.base import Refused, RetryLater
from newsportal.sources.timing import SourceRef, sources_health
from newsportal.store.results import StoredArticle, Story
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

CHANGES: Final = 500  # changes processed in one transaction
LEASE: Final = 120.0  # seconds for which a message is claimed; sending times out after a sixth of that
TOGETHER: Final = 10  # stories in one message: nobody reads more; the others are in the next
LONGEST_WAIT: Final = timedelta(hours=2)
MAX_TRIES: Final = 12


@dataclass(frozen=True)
class Work:
    """Configuration of following and sending. ``url``: the portal's URL (None: messages link to the publishers). ``replay`` computes the
    rising boards. For operators: the ``monitored`` sources, the ``folder`` whose disk is checked, and the thresholds (``alerts``)."""

    accounts: Accounts
    store: Store
    index: Index | None
    zone: tzinfo
    setting: Setting = field(default_factory=Setting)
    url: str | None = None
    per_hour: int = 20
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    stopped: Callable[[], bool] = lambda: False
    monitored: tuple[SourceRef, ...] = ()
    folder: Path | None = None
    disk_free: float = 10.0
    crawl_hours: float = 12.0
    replay: Replay = compute_replay


@dataclass(slots=True)
class Tally:
    found: int = 0
    sent: int = 0
    failed: int = 0
    postponed: int = 0
    unconfirmed: int = 0
    reasons: list[str] = field(default_factory=list)


def step(work: Work) -> Tally:
    """Follow, then send, once. Raises ``StoreError`` and ``SearchError``."""
    tally = Tally()
    follow(work, tally)
    follow_hours(work, tally)
    deliver(work, tally)
    return tally


def follow(work: Work, tally: Tally) -> None:
    """Add messages about changes since the last call to the outbox."""
    position = work.accounts.alerts.position()
    if position is not None and position > (last := work.store.last_seq()):
        work.accounts.alerts.rewind(last)
    while not work.stopped():
        alerts = [alert for alert in work.accounts.alerts.all() if alert.enabled and alert.about in OF_STORIES]
        after = work.accounts.alerts.position()
        if not alerts or after is None:
            begin = min((alert.after_seq for alert in alerts), default=work.store.last_seq())
            if after is None or begin > after:
                work.accounts.alerts.follow((), after=after, up_to=begin)
            if not alerts:
                return
            after = begin
        changes = work.store.changes(after, CHANGES)
        kinds = {alert.about for alert in alerts}  # changes not yet indexed, or not yet assigned to an event, wait
        reached = [work.index.position()] if work.index is not None and "search" in kinds else []
        reached += [work.store.events.position()] if "event" in kinds else []
        changes = [change for change in changes if all(change.seq <= position for position in reached)]
        if not changes:
            return
        seqs = {change.id: change.seq for change in changes if change.kind == "article"}
        visible = [article for article in work.store.articles(list(seqs)) if article.hidden is None]
        articles = {article.id: (article, seqs[article.id]) for article in visible}
        messages = list(_messages(work, alerts, matches(alerts, articles, work.index, work.zone, work.store.events)))
        if work.accounts.alerts.follow(messages, after=after, up_to=changes[-1].seq):
            tally.found += len(messages)


def _messages(work: Work, alerts: Sequence[Alert], found: Mapping[str, Sequence[StoredArticle]]) -> Iterable[Message]:
    """Yield one message per alert and story not announced yet under any of its ids."""
    now, stories, has_announced = work.now(), dict[str, Story | None](), work.accounts.alerts.has_announced
    for alert in alerts:
        first = {article.story_id: article for article in reversed(found.get(alert.id, ()))}
        for article in first.values():
            if article.story_id not in stories:
                stories[article.story_id] = work.store.story(article.story_id)
            story = stories[article.story_id]  # None: hidden, or deleted meanwhile
            if story is not None and not has_announced(alert.id, [story.id], [version.id for version in story.versions]):
                due = due_at(now, alert, work.zone)
                yield Message(alert.id, story.id, article.id, headline(article.title), found=now, due=due, changed=now)


def follow_hours(work: Work, tally: Tally) -> None:
    """Add due messages of scheduled alerts to the outbox: briefings and rising boards."""
    outbox = work.accounts.alerts
    due = scheduled_messages((alert for alert in outbox.all() if alert.enabled), work.now(), work.zone)
    if new := [message for message in due if not outbox.has_announced(message.alert_id, [message.subject], [])]:
        tally.found += outbox.insert(new)


def deliver(work: Work, tally: Tally) -> None:
    outbox = work.accounts.alerts
    due, work = outbox.due(work.now()), replace(work, replay=cached_replay())
    alerts = [alert for alert in outbox.all() if alert.id in due and alert.enabled] if due else []
    for alert in alerts:
        if not allowed(work, alert) or in_quiet_hours(alert, work.now(), work.zone):
            continue
        while not work.stopped():
            bounded = replace(alert, per_hour=min(alert.per_hour, work.per_hour))
            claimed = outbox.claim(bounded, now=work.now(), seconds=LEASE, limit=1 if alert.about in SCHEDULED else TOGETHER)
            try:
                if not claimed or not _send_message(work, alert, claimed, tally):
                    break
            except NewsportalError:  # the store or the accounts are down, for all alerts
                raise
            except Exception as error:  # an error of one alert must not stop the others
                logger.exception("alert %s", alert.id)
                _failed(work, alert, claimed, f"{type(error).__name__}: {error}", tally)


def allowed(work: Work, alert: Alert) -> bool:
    """Return whether the owner currently has the rights for this subject and channel."""
    owner = work.accounts.people.get(alert.person_id)
    if owner is None or owner.disabled:
        return False
    needed, service = "watch" if alert.about in OPERATORS else "keep", SERVICES.get(alert.channel)
    return needed in owner.rights and (service is None or service.right in owner.rights)


def _send_message(work: Work, alert: Alert, messages: list[Message], tally: Tally) -> bool:
    """Send one message. Return False if the service accepts none for now."""
    outbox, now = work.accounts.alerts, work.now()
    items = {message.subject: found for message in messages if (found := items_of(work, alert, message))}
    missing = [message for message in messages if message.subject not in items]
    outbox.settle(missing, "withdrawn", now=now, reason="nothing happened" if alert.about in SCHEDULED else "it no longer exists")
    messages = [message for message in messages if message.subject in items]
    if not messages:
        return True
    outgoing = message_of(alert, [item for message in messages for item in items[message.subject]], messages[0].claim or "")
    try:
        send(alert.channel, alert.fields, outgoing, work.setting, now)
    except RetryLater as error:
        _put_off(work, alert, messages, error, tally)
        return False
    except DeliveryUnknown as error:
        tally.unconfirmed += 1
        outbox.settle(messages, "unknown", now=work.now(), reason=str(error))
    except (Refused, DependencyMissing) as error:
        logger.warning("alert %s: %s", alert.id, error)
        _failed(work, alert, messages, str(error), tally)
        if isinstance(error, ReceiverGone):
            _forget_receiver(work, alert)
            return False
    else:
        tally.sent += 1
        outbox.settle(messages, "sent", now=work.now())
    return True


def _failed(work: Work, alert: Alert, messages: Sequence[Message], error: str, tally: Tally) -> None:
    reason = mask_fields(error, alert.fields)
    tally.failed += 1
    tally.reasons.append(f"{alert.name}: {reason}")
    work.accounts.alerts.settle(messages, "failed", now=work.now(), reason=reason)


def _forget_receiver(work: Work, alert: Alert) -> None:
    """Disable the alert and delete its receiver, until it gets another one."""
    if (found := work.accounts.alerts.alert(alert.id)) is not None and found.fields == alert.fields:
        work.accounts.alerts.save(replace(found, enabled=False, fields={}))


def _put_off(work: Work, alert: Alert, messages: list[Message], error: RetryLater, tally: Tally) -> None:
    tries, now = max(message.tries for message in messages), work.now()
    if tries >= MAX_TRIES:
        tally.failed += 1
        work.accounts.alerts.settle(messages, "failed", now=now, reason=f"{error}; given up after {tries} tries")
        return
    tally.postponed += 1
    due = due_at(now + error.wait(tries, LONGEST_WAIT), replace(alert, digest=()), work.zone)  # does not wait for the next hour of a digest
    work.accounts.alerts.settle(messages, "waiting", now=now, reason=str(error), due=due)


def items_of(work: Work, alert: Alert, message: Message) -> list[Item]:
    """Return the current content of a message: a condition, the items of a scheduled alert, or a story; empty if it no longer exists."""
    if alert.about in OPERATORS:
        return [Item(message.subject, message.title, "", f"{work.url}/monitor" if work.url else "")]
    if alert.about in SCHEDULED:
        return next(ITEMS[alert.about](work.store, alert, [span_of(message)], work.url, work.replay))
    article = next(iter(work.store.articles([message.article_id])), None)
    story = next(iter(work.store.by_id([article.story_id]).values()), None) if article is not None else None
    return [item(story, work.url)] if story is not None else []


def item(story: Story, url: str | None) -> Item:
    address = f"{url}/story/{story.id}" if url else story.head.url
    return Item(story.id, headline(story.head.title), headline(story.head.publisher), address, story.sites, original=story.head.url)


def send_test(work: Work, alert: Alert) -> None:
    """Send a test message. Raises as :func:`send`, and ``Refused`` if the owner's role has changed: Apprise bypasses the egress guard."""
    if not allowed(work, alert):
        raise Refused("the owner of the alert no longer has the right for this subject or channel")
    try:
        send(alert.channel, alert.fields, test_message(alert, f"test-{work.now().timestamp():.0f}"), work.setting, work.now())
    except ReceiverGone:
        _forget_receiver(work, alert)
        raise


FAILS: Final = frozenset({"failing", "quarantined"})

WORDS: Final = {
    "source": {"zh": "来源「{name}」连续采集失败", "en": "The source {name} fails repeatedly"},
    "disk": {"zh": "磁盘空间仅剩 {free}%", "en": "Only {free}% of the disk is free"},
    "crawl": {"zh": "已超过 {hours} 小时没有采集完成", "en": "No crawl has finished for {hours} hours"},
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the portal. ``key``: constant while it lasts, different when it recurs. ``texts``: its text by language."""

    about: str
    key: str
    texts: Mapping[str, str]


def _translations(key: str, **values: object) -> dict[str, str]:
    return {language: text.format(**values) for language, text in WORDS[key].items()}


def conditions(work: Work, about: Collection[str]) -> list[Condition]:
    """Return the conditions of these kinds that currently hold. Raises ``StoreError``."""
    found: list[Condition] = []
    if "sources" in about:
        for entry in sources_health(work.store, work.monitored, work.now().astimezone(work.zone)):
            if entry.health.state in FAILS:
                since = f"{entry.health.since:%Y%m%dT%H%M}" if entry.health.since else "ever"
                key = f"source:{entry.source.key}"[:220] + f":{since}"
                found.append(Condition("sources", key, _translations("source", name=entry.source.name)))
    if "disk" in about and work.folder is not None and work.folder.exists():
        usage = shutil.disk_usage(work.folder)
        free = 100 * usage.free / usage.total
        if free < work.disk_free:
            key = f"disk:{work.now().astimezone(work.zone):%Y-%m-%d}"
            found.append(Condition("disk", key, _translations("disk", free=f"{free:.1f}")))
    if "crawl" in about and any(source.enabled for source in work.monitored):
        last = next((run for run in work.store.runs(20) if run.ended is not None), None)
        if last is not None and last.ended is not None and work.now() - last.ended > timedelta(hours=work.crawl_hours):
            found.append(Condition("crawl", f"crawl:{last.id}"[:255], _translations("crawl", hours=f"{work.crawl_hours:g}")))
    return found


def follow_conditions(work: Work) -> int:
    """Add messages about current conditions for operators to the outbox; return the number of new ones."""
    alerts = [alert for alert in work.accounts.alerts.all() if alert.enabled and alert.about in OPERATORS]
    if not alerts:
        return 0
    now, found = work.now(), conditions(work, {alert.about for alert in alerts})
    messages = [
        Message(alert.id, condition.key, "", condition.texts[alert.language], found=now, due=due_at(now, alert, work.zone), changed=now)
        for alert in alerts
        for condition in found
        if condition.about == alert.about
    ]
    return work.accounts.alerts.insert(messages)
