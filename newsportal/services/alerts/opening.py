"""Set up the sending of alerts from ``sources.yaml``; the thread that sends while the portal is served; and the preview of what an alert
would have sent in the last days."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from email.utils import parseaddr
from time import monotonic
from typing import Final
from zoneinfo import ZoneInfo

from newsportal.errors import NewsportalError
from newsportal.net.egress import Policy
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts
from newsportal.services.accounts.alerts import OPERATORS, SCHEDULED, Alert
from newsportal.services.alerts.base import Item, Setting
from newsportal.services.alerts.making import ITEMS, past_spans
from newsportal.services.alerts.matching import GATHER, GRACE, due_at, found_by, is_new, of_topic, schedule_messages
from newsportal.services.alerts.run import TOGETHER, Tally, Work, allowed, conditions, deliver, follow_conditions, item, step
from newsportal.services.alerts.web_push import new_key
from newsportal.services.periodic import PeriodicThread
from newsportal.services.publishing.run import owner_name
from newsportal.sources import Sources
from newsportal.sources.timing import monitored_sources
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.results import StoredArticle, Story, StoryFilter
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds between polls; without changes, a poll is a few small queries of store and accounts
HELD: Final = 60.0  # seconds of the lock held by the sending process; another one takes over if it died
CONDITIONS_EVERY: Final = 300.0  # seconds between checks of the conditions for operators: judging a thousand sources takes a second


def setting_of(sources: Sources, accounts: Accounts) -> Setting:
    settings = sources.alerts
    policy = Policy(tuple(sources.politeness.allow_private))
    return Setting(policy, sources.user_agent, settings.mail_server, settings.mail_from, own_fields(accounts, sources))


def own_fields(accounts: Accounts, sources: Sources) -> Callable[[], Mapping[str, str]]:
    """Return the key that signs the portal's messages and the contact for push services. Raises ``DependencyMissing``."""
    url, sender = sources.portal.url or "", parseaddr(sources.alerts.mail_from or "")[1]
    contact = f"mailto:{sender}" if sender else url if url.startswith("https:") else ""
    return lambda: {"key": accounts.alerts.signing_key(new_key), "contact": contact}


def work_of(
    accounts: Accounts, store: Store, index: Index | None, sources: Sources, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Work:
    file, alerts = sqlite_file(sources.store), sources.alerts
    url = (sources.portal.url or "").rstrip("/") or None
    return Work(
        accounts, store, index, ZoneInfo(sources.portal.timezone), setting_of(sources, accounts), url,
        alerts.per_hour, now, monitored=monitored_sources(sources), folder=file.parent if file is not None else None,
        disk_free=alerts.disk_free, crawl_hours=alerts.crawl_hours,
    )  # fmt: skip


class AlertSenderThread(PeriodicThread):
    """Follow the store and send, in one of several processes at a time. May be killed at any time. ``work`` is called in each step, since
    ``sources.yaml`` may have changed (``None``: nothing can be sent now)."""

    def __init__(self, work: Callable[[Callable[[], bool]], Work | None]) -> None:
        super().__init__("alerts", EVERY)
        self._work = work
        self._owner = owner_name()
        self._conditions = 0.0
        self._held: Accounts | None = None
        self._last: int | None = None
        self._gathering: float | None = None

    def step(self) -> None:
        work = self._work(self.stopping.is_set)
        if work is None or not work.accounts.alerts.acquire(self._owner, now=datetime.now(UTC), seconds=HELD):
            return
        self._held = work.accounts
        if self._conditions <= monotonic():
            self._conditions = monotonic() + CONDITIONS_EVERY
            follow_conditions(work)
        if self._is_settled(work.store.last_seq()):
            step(work)
        else:
            deliver(work, Tally())

    def _is_settled(self, last: int) -> bool:
        """Return whether nothing was stored since the last poll, or stories were gathered for `GATHER` seconds."""
        new, self._last = self._last not in (None, last), last
        if new and self._gathering is None:
            self._gathering = monotonic()
        if new and self._gathering is not None and monotonic() - self._gathering < GATHER.total_seconds():
            return False
        self._gathering = None
        return True

    def stop(self) -> None:
        """Stop after the current message and release the lock for other processes."""
        super().stop()
        if self._held is None:
            return
        try:
            self._held.alerts.release(self._owner, now=datetime.now(UTC))
        except NewsportalError as error:
            logger.warning("alerts: %s", error)


DAYS: Final = 30
MAX_STORIES: Final = 2000  # stories examined: nobody reads a longer preview to its end
PAGE: Final = 100
HOURS: Final = {"briefing": 3, "rising": 30}
"""Last messages in a preview: a briefing reads hundreds of stories, and the rising board compares with four weeks."""

Found = tuple[Story, datetime | None]  # a story, and when the alert first matched it


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """A message that would have been sent. ``at`` may be in the future, for one that would be waiting now."""

    at: datetime
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """Preview of an alert. ``planned``: latest first. ``capped``: not all stories were examined."""

    planned: tuple[PlannedMessage, ...]
    stories: int
    capped: bool

    def by_day(self, zone: tzinfo) -> list[tuple[date, int, int]]:
        """Return day, number of messages and of their items, latest first, for days with messages."""
        messages, items = Counter[date](), Counter[date]()
        for message in self.planned:
            day = message.at.astimezone(zone).date()
            messages[day] += 1
            items[day] += len(message.items)
        return [(day, messages[day], items[day]) for day in sorted(messages, reverse=True)]


def preview(work: Work, alert: Alert, days: int = DAYS, *, hours: int | None = None) -> Preview:
    """Preview an alert. ``hours``: maximum messages of a scheduled one (default: :data:`HOURS`). Raises ``StoreError``, ``SearchError``."""
    now = work.now()
    if alert.about in OPERATORS:
        if not allowed(work, alert):
            return Preview((), 0, capped=False)
        items = tuple(Item(condition.key, condition.texts[alert.language], "", "") for condition in conditions(work, (alert.about,)))
        return Preview((PlannedMessage(now, items),) if items else (), len(items), capped=False)
    if alert.about in SCHEDULED:
        periods, most = past_spans(alert, now, work.zone, days), hours or HOURS[alert.about]
        pairs = zip(periods[-most:], ITEMS[alert.about](work.store, alert, periods[-most:], work.url, work.replay), strict=True)
        sent = [PlannedMessage(due_at(until, alert, work.zone), tuple(contents)) for (_, until), contents in pairs if contents]
        return Preview(tuple(reversed(sent)), sum(len(message.items) for message in sent), len(periods) > most)
    since = now - timedelta(days=days)
    past_alert = replace(alert, created=since, after_seq=0, per_hour=min(alert.per_hour, work.per_hour))
    stories = _search_stories(work, past_alert, now) if alert.about == "search" else OF[alert.about](work, past_alert)
    found = sorted(
        ((moment, story.id, story) for story, moment in stories if moment is not None and moment <= now), key=lambda entry: entry[:2]
    )
    messages = schedule_messages([moment for moment, _, _ in found], past_alert, work.zone, TOGETHER)
    planned = [PlannedMessage(at, tuple(item(found[place][2], work.url) for place in places)) for at, places in messages]
    return Preview(tuple(reversed(planned)), len(found), len(stories) >= MAX_STORIES)


def _topic_stories(work: Work, alert: Alert) -> list[Found]:
    found = work.store.newest(StoryFilter(topic=alert.of, since=alert.created - GRACE, limit=PAGE), MAX_STORIES)
    full_stories = ((story, work.store.story(story.id) if story.count > 1 else None) for story in found)
    return [
        (story, _first_match(alert, of_topic(alert, full.versions if full is not None else (story.head,)))) for story, full in full_stories
    ]


def _event_stories(work: Work, alert: Alert) -> list[Found]:
    event = work.store.events.merged_into(alert.of) or alert.of
    members = work.store.events.members([event]).get(event, [])
    stories = work.store.by_id([member.story_id for member in members][-MAX_STORIES:]).values()
    full_stories = [full_story for story in stories if (full_story := work.store.story(story.id)) is not None]
    return [(story, _first_match(alert, story.versions)) for story in full_stories]


OF: Final[Mapping[str, Callable[[Work, Alert], list[Found]]]] = {"topic": _topic_stories, "event": _event_stories}


def _search_stories(work: Work, alert: Alert, now: datetime) -> list[Found]:
    if work.index is None:
        return []
    ids = found_by(work.index, alert.of, work.zone, alert.created - GRACE, now + timedelta(seconds=1))
    by_story: dict[str, list[StoredArticle]] = defaultdict(list)
    for article in work.store.articles(list(ids)):
        if article.hidden is None:
            by_story[article.story_id].append(article)
    stories = work.store.by_id(list(by_story)[:MAX_STORIES]).values()
    return [(story, _first_match(alert, by_story[story.id])) for story in stories]


def _first_match(alert: Alert, articles: Iterable[StoredArticle]) -> datetime | None:
    """Return when the first matching article of a story arrived; ``None`` if all are older than the alert."""
    return min((article.first_seen for article in articles if is_new(article, alert, 1)), default=None)
