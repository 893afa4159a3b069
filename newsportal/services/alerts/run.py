"""Follow the store's change log for all alerts, then send what is due.

Between any two steps the process may die, and several may do this at the same time:

1. what the changes bring is kept in the outbox, and the position moves, in one transaction: a story has one row an alert for ever;
2. a message is claimed for :data:`LEASE` seconds before it is sent;
3. the outbox is told what came of it. Who dies between 2 and 3 leaves a message of which nobody knows whether it arrived. It is shown as
   such, and not sent again by itself: never twice.
"""

from __future__ import annotations

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
from newsportal.services.alerts.base import Gone, Item, Setting, Unclear, headline, message_of, test_message
from newsportal.services.alerts.making import ITEMS, Replay, replayed, replayed_once, scheduled_messages, span_of
from newsportal.services.alerts.matching import due_at, in_quiet_hours, matches
from newsportal.services.alerts.services import SERVICES, hidden, send
from newsportal.services.publishing.base import PutOff, Refused
from newsportal.sources.timing import Watched, judged
from newsportal.store.results import StoredArticle, Story
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

CHANGES: Final = 500  # changes looked at in one transaction
LEASE: Final = 120.0  # seconds that a message is claimed for; sending gives up after a sixth of that
TOGETHER: Final = 10  # stories in one message: more nobody reads; the others come with the next
LONGEST_WAIT: Final = timedelta(hours=2)
MOST_TRIES: Final = 12


@dataclass(frozen=True)
class Work:
    """What is followed, and what is needed to send. ``url``: the portal's own address (None: messages lead to the publishers).
    ``replay`` makes the boards of what rises.

    For operators: the sources that are ``watched``, the ``folder`` whose disk is, and from when on they are told (``alerts`` in the file).
    """

    accounts: Accounts
    store: Store
    index: Index | None
    zone: tzinfo
    setting: Setting = field(default_factory=Setting)
    url: str | None = None
    per_hour: int = 20
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    stopped: Callable[[], bool] = lambda: False
    watched: tuple[Watched, ...] = ()
    folder: Path | None = None
    disk_free: float = 10.0
    crawl_hours: float = 12.0
    replay: Replay = replayed


@dataclass(slots=True)
class Tally:
    found: int = 0
    sent: int = 0
    failed: int = 0
    put_off: int = 0
    unclear: int = 0
    reasons: list[str] = field(default_factory=list)


def step(work: Work) -> Tally:
    """One look: follow, then send. Raises ``StoreError`` and ``SearchError``."""
    tally = Tally()
    follow(work, tally)
    follow_hours(work, tally)
    deliver(work, tally)
    return tally


def follow(work: Work, tally: Tally) -> None:
    """Keep what is to be told of what has changed since the last time."""
    position = work.accounts.alerts.position()
    if position is not None and position > (last := work.store.last_seq()):
        work.accounts.alerts.shorten(last)
    while not work.stopped():
        alerts = [alert for alert in work.accounts.alerts.all() if alert.enabled and alert.about in OF_STORIES]
        after = work.accounts.alerts.position()
        if not alerts or after is None:
            begin = min((alert.after for alert in alerts), default=work.store.last_seq())
            if after is None or begin > after:
                work.accounts.alerts.follow((), after=after, upto=begin)
            if not alerts:
                return
            after = begin
        changes = work.store.changes(after, CHANGES)
        kinds = {alert.about for alert in alerts}  # what the index does not know yet waits, as does what is in no event yet
        reached = [work.index.position()] if work.index is not None and "search" in kinds else []
        reached += [work.store.events.position()] if "event" in kinds else []
        changes = [change for change in changes if all(change.seq <= position for position in reached)]
        if not changes:
            return
        seqs = {change.id: change.seq for change in changes if change.kind == "article"}
        shown = [article for article in work.store.articles(list(seqs)) if article.hidden is None]
        articles = {article.id: (article, seqs[article.id]) for article in shown}
        messages = list(_messages(work, alerts, matches(alerts, articles, work.index, work.zone, work.store.events)))
        if work.accounts.alerts.follow(messages, after=after, upto=changes[-1].seq):
            tally.found += len(messages)


def _messages(work: Work, alerts: Sequence[Alert], found: Mapping[str, Sequence[StoredArticle]]) -> Iterable[Message]:
    """One a story and alert, of stories that it did not tell of yet under any of their names."""
    now, stories, has_announced = work.now(), dict[str, Story | None](), work.accounts.alerts.has_announced
    for alert in alerts:
        first = {article.story_id: article for article in reversed(found.get(alert.id, ()))}
        for article in first.values():
            if article.story_id not in stories:
                stories[article.story_id] = work.store.story(article.story_id)
            story = stories[article.story_id]  # None: it is hidden, or gone meanwhile
            if story is not None and not has_announced(alert.id, [story.id], [version.id for version in story.versions]):
                due = due_at(now, alert, work.zone)
                yield Message(alert.id, story.id, article.id, headline(article.title), found=now, due=due, changed=now)


def follow_hours(work: Work, tally: Tally) -> None:
    """Keep the messages whose hour has come: briefings, and what rises."""
    book = work.accounts.alerts
    due = scheduled_messages((alert for alert in book.all() if alert.enabled), work.now(), work.zone)
    if new := [message for message in due if not book.has_announced(message.alert_id, [message.thing], [])]:
        tally.found += book.keep(new)


def deliver(work: Work, tally: Tally) -> None:
    book = work.accounts.alerts
    due, work = book.due(work.now()), replace(work, replay=replayed_once())
    alerts = [alert for alert in book.all() if alert.id in due and alert.enabled] if due else []
    for alert in alerts:
        if not allowed(work, alert) or in_quiet_hours(alert, work.now(), work.zone):
            continue
        while not work.stopped():
            bounded = replace(alert, per_hour=min(alert.per_hour, work.per_hour))
            held = book.claim(bounded, now=work.now(), seconds=LEASE, most=1 if alert.about in SCHEDULED else TOGETHER)
            try:
                if not held or not _one(work, alert, held, tally):
                    break
            except NewsportalError:  # store or accounts are away, for all alerts
                raise
            except Exception as error:  # a fault of one alert stops no other
                logger.exception("alert %s", alert.id)
                _failed(work, alert, held, f"{type(error).__name__}: {error}", tally)


def allowed(work: Work, alert: Alert) -> bool:
    """Whether its owner, as he is now, may be told of this, and there."""
    owner = work.accounts.people.get(alert.person_id)
    if owner is None or owner.disabled:
        return False
    needed, service = "watch" if alert.about in OPERATORS else "keep", SERVICES.get(alert.channel)
    return needed in owner.rights and (service is None or service.needs in owner.rights)


def _one(work: Work, alert: Alert, held: list[Message], tally: Tally) -> bool:
    """Send one message. False: the service does not take any for now."""
    book, now = work.accounts.alerts, work.now()
    items = {message.thing: found for message in held if (found := items_of(work, alert, message))}
    gone = [message for message in held if message.thing not in items]
    book.settle(gone, "withdrawn", now=now, reason="nothing happened" if alert.about in SCHEDULED else "it is not there any more")
    held = [message for message in held if message.thing in items]
    if not held:
        return True
    told = message_of(alert, [item for one in held for item in items[one.thing]], held[0].claim or "")
    try:
        send(alert.channel, alert.fields, told, work.setting, now)
    except PutOff as error:
        _put_off(work, alert, held, error, tally)
        return False
    except Unclear as error:
        tally.unclear += 1
        book.settle(held, "unknown", now=work.now(), reason=str(error))
    except (Refused, DependencyMissing) as error:
        logger.warning("alert %s: %s", alert.id, error)
        _failed(work, alert, held, str(error), tally)
        if isinstance(error, Gone):
            _forget_receiver(work, alert)
            return False
    else:
        tally.sent += 1
        book.settle(held, "sent", now=work.now())
    return True


def _failed(work: Work, alert: Alert, held: Sequence[Message], error: str, tally: Tally) -> None:
    reason = hidden(error, alert.fields)
    tally.failed += 1
    tally.reasons.append(f"{alert.name}: {reason}")
    work.accounts.alerts.settle(held, "failed", now=work.now(), reason=reason)


def _forget_receiver(work: Work, alert: Alert) -> None:
    """Nothing is sent there any more; the alert waits, switched off, for another receiver."""
    if (found := work.accounts.alerts.alert(alert.id)) is not None and found.fields == alert.fields:
        work.accounts.alerts.save(replace(found, enabled=False, fields={}))


def _put_off(work: Work, alert: Alert, held: list[Message], error: PutOff, tally: Tally) -> None:
    tries, now = max(one.tries for one in held), work.now()
    if tries >= MOST_TRIES:
        tally.failed += 1
        work.accounts.alerts.settle(held, "failed", now=now, reason=f"{error}; given up after {tries} tries")
        return
    tally.put_off += 1
    due = due_at(now + error.wait(tries, LONGEST_WAIT), replace(alert, digest=()), work.zone)  # no digest waits for the next one
    work.accounts.alerts.settle(held, "waiting", now=now, reason=str(error), due=due)


def items_of(work: Work, alert: Alert, message: Message) -> list[Item]:
    """What a message says of a thing as it is now: a condition, what came by an hour, a story; none where it is not there any more."""
    if alert.about in OPERATORS:
        return [Item(message.thing, message.title, "", f"{work.url}/monitor" if work.url else "")]
    if alert.about in SCHEDULED:
        return next(ITEMS[alert.about](work.store, alert, [span_of(message)], work.url, work.replay))
    article = next(iter(work.store.articles([message.article_id])), None)
    story = next(iter(work.store.listed([article.story_id]).values()), None) if article is not None else None
    return [item(story, work.url)] if story is not None else []


def item(story: Story, url: str | None) -> Item:
    address = f"{url}/story/{story.id}" if url else story.head.url
    return Item(story.id, headline(story.head.title), headline(story.head.publisher), address, story.sites, original=story.head.url)


def send_test(work: Work, alert: Alert) -> None:
    """Send one message that says that it works. Raises as :func:`send`, ``Refused`` for an owner who has
    another role since: what goes through Apprise goes past the egress guard."""
    if not allowed(work, alert):
        raise Refused("whoever made it may not be told of this any more, or not there")
    try:
        send(alert.channel, alert.fields, test_message(alert, f"test-{work.now().timestamp():.0f}"), work.setting, work.now())
    except Gone:
        _forget_receiver(work, alert)
        raise


FAILS: Final = frozenset({"failing", "quarantined"})

WORDS: Final = {
    "source": {"zh": "来源「{name}」连续采集失败", "en": "The source {name} fails again and again"},
    "disk": {"zh": "磁盘空间仅剩 {free}%", "en": "Only {free}% of the disk is free"},
    "crawl": {"zh": "已超过 {hours} 小时没有采集完成", "en": "No crawl has come to an end for {hours} hours"},
}


@dataclass(frozen=True, slots=True)
class Condition:
    """``key``: the same as long as it lasts; another when it comes back. ``says``: in each language."""

    about: str
    key: str
    says: Mapping[str, str]


def _translations(what: str, **values: object) -> dict[str, str]:
    return {language: text.format(**values) for language, text in WORDS[what].items()}


def conditions(work: Work, about: Collection[str]) -> list[Condition]:
    """Those of these kinds that hold now. Raises ``StoreError``."""
    found: list[Condition] = []
    if "sources" in about:
        for one in judged(work.store, work.watched, work.now().astimezone(work.zone)):
            if one.health.state in FAILS:
                since = f"{one.health.since:%Y%m%dT%H%M}" if one.health.since else "ever"
                key = f"source:{one.source.key}"[:220] + f":{since}"
                found.append(Condition("sources", key, _translations("source", name=one.source.name)))
    if "disk" in about and work.folder is not None and work.folder.exists():
        usage = shutil.disk_usage(work.folder)
        free = 100 * usage.free / usage.total
        if free < work.disk_free:
            key = f"disk:{work.now().astimezone(work.zone):%Y-%m-%d}"
            found.append(Condition("disk", key, _translations("disk", free=f"{free:.1f}")))
    if "crawl" in about and any(source.enabled for source in work.watched):
        last = next((run for run in work.store.runs(20) if run.ended is not None), None)
        if last is not None and last.ended is not None and work.now() - last.ended > timedelta(hours=work.crawl_hours):
            found.append(Condition("crawl", f"crawl:{last.id}"[:255], _translations("crawl", hours=f"{work.crawl_hours:g}")))
    return found


def follow_conditions(work: Work) -> int:
    """Keep what operators are to be told of now. Answers how many messages are new."""
    alerts = [alert for alert in work.accounts.alerts.all() if alert.enabled and alert.about in OPERATORS]
    if not alerts:
        return 0
    now, found = work.now(), conditions(work, {alert.about for alert in alerts})
    messages = [
        Message(alert.id, one.key, "", one.says[alert.language], found=now, due=due_at(now, alert, work.zone), changed=now)
        for alert in alerts
        for one in found
        if one.about == alert.about
    ]
    return work.accounts.alerts.keep(messages)
