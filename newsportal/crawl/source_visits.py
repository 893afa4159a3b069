"""Before and after the visit of a source: its schedule, its health, permanent redirects, and the WebSub hub of its feed."""

import asyncio
import logging
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final
from zoneinfo import ZoneInfo

from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.crawl.requests import can_request
from newsportal.dedup.canonical import identity
from newsportal.logs import warned
from newsportal.schedule import freshness, policies
from newsportal.schedule.health import find_change, health, merge_visits
from newsportal.schedule.websub import link_targets
from newsportal.sources import timing
from newsportal.sources.timing import BRINGING, LATEST
from newsportal.store.crawl_state import Subscription
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

MAX_DOUBTED: Final = 100  # visits examined for a source that always answers "not modified"
PRICE_SECONDS: Final = 600.0  # seconds for which the price of a visit is reused: the rates of sources behind it change over hours


class Timing:
    """The schedule of sources. One per spider; blocking calls run in threads."""

    def __init__(self, tracker: LinkTracker) -> None:
        self._tracker = tracker
        self._request_price: float | None = None
        self._priced: float | None = None

    def rules(self, source: Any) -> policies.Rules:
        return timing.rules(self._tracker.sources, source, self._request_price)

    def due_at(self, source: Any, state: SourceState, now: datetime) -> datetime:
        return timing.due_at(state, self.rules(source), now)

    async def is_stuck(self, source: str) -> bool:
        """Return whether the source has answered "not modified" for implausibly long. Raises ``StoreError``."""
        return freshness.is_stuck(await asyncio.to_thread(self._tracker.store.visits.of, source, limit=MAX_DOUBTED))

    async def pages(self, source: str, *, usual: int) -> int:
        """Return how many result pages of a search engine are worth fetching at this hour."""
        with warned(logger, "the number of useful result pages of %s is unknown", source, source=source):
            visits = await asyncio.to_thread(self._tracker.store.visits.of, source, limit=timing.LOOKED_BACK)
            return policies.result_pages(visits, utcnow(), ZoneInfo(self._tracker.sources.portal.timezone), usual=usual)
        return usual

    async def plan(self, sources: Iterable[Any], now: datetime) -> None:
        """Save the next visit of each source after a visit. Without a plan the configured interval applies."""
        for source in sources:
            with warned(logger, "the next visit of %s could not be planned", source.key, source=source.key):
                await asyncio.to_thread(self._plan, source, now)

    def _plan(self, source: Any, now: datetime) -> None:
        store = self._tracker.store
        if self._priced is None or monotonic() - self._priced > PRICE_SECONDS:
            sources = self._tracker.sources
            visited = {source.key for source in sources.all() if source.enabled}
            visited |= {f"engine:{name}" for topic in sources.topics for name in topic.engines}
            self._request_price, self._priced = timing.request_price(sources, store.source_states(), visited), monotonic()
        state, visits = store.source_state(source.key), store.visits.of(source.key, limit=timing.LOOKED_BACK)
        subscribed = store.subscriptions.of(source.key)
        rules = timing.with_pushes(self.rules(source)) if subscribed and timing.is_reliable(subscribed, now) else self.rules(source)
        planned = timing.plan(state, visits, rules, now)
        if timing.is_fixed(rules):
            at = timing.due_at(replace(state, next_visit=None), rules, now)
        else:
            at = max(planned.at, now + timedelta(minutes=rules.shortest))  # a visit that took hours is not followed by the next at once
        state = replace(state, next_visit=at, rate=planned.rate)
        store.save_source_state(state)
        if subscribed and visits and (latest := store.subscriptions.of(source.key)) and latest.pushed and latest.pushed > visits[0].at:
            store.save_source_state(replace(state, next_visit=now))  # pushed meanwhile: visit at once; later pushes bring the plan forward


PERMANENT = frozenset({301, 308})  # permanent redirects (RFC 9110, 15.4.2 and 15.4.9)


async def note_health(tracker: LinkTracker, sources: Iterable[str], now: datetime) -> None:
    """After a visit: log sources whose health changed, and pause those in quarantine."""
    for source in sources:
        with warned(logger, "the health of %s could not be checked", source, source=source):
            await asyncio.to_thread(_note_health, tracker, source, now)


def _note_health(tracker: LinkTracker, source: str, now: datetime) -> None:
    if tracker.offline and tracker.unreached(source):
        return  # network outage: not counted against the source
    history = tracker.store.visits
    visits = merge_visits(history.of(source, limit=LATEST), history.of(source, limit=BRINGING, bringing=True))
    if (changed := find_change(visits)) is not None:
        logger.warning("%s %s", source, changed.message, extra={"source": source})
        tracker.note(source, changed.message)
    until = health(visits, now).not_before()
    if until is not None and until > now:
        tracker.pause(source, until)


def note_moved(tracker: LinkTracker, source: str, response: Response) -> None:
    """Record the permanent redirect of a list page."""
    urls = response.meta.get("redirect_urls") or [response.url]
    reasons = [reason for reason in response.meta.get("redirect_reasons", ()) if isinstance(reason, int)]
    if moved := moved_to(urls[0], response.url, reasons):
        tracker.visit_counts.record(source, "moved", moved)


def moved_to(requested: str, answered: str, statuses: Iterable[int]) -> str | None:
    """Return the URL to which a list page was permanently redirected; ``None`` if only its spelling changed (https, www.)."""
    codes = tuple(statuses)
    return answered if codes and PERMANENT.issuperset(codes) and identity(requested) != identity(answered) else None


TOKEN_BYTES, SECRET_BYTES = 24, 32  # random bytes of unguessable callback URLs, and of HMAC keys (at most 200 characters)


async def note_hub(tracker: LinkTracker, source: str, response: Response, hub: str | None, topic: str | None) -> None:
    """Save the hub of a feed. Link headers precede the document (WebSub, 4); without ``self`` the requested URL is the topic."""
    links = link_targets(b", ".join(response.headers.getlist("Link")).decode("latin-1"), response.url)
    hub, topic = links.get("hub") or hub, links.get("self") or topic or response.url
    sources = tracker.sources
    if not hub or not _is_hub_url(hub) or not _is_hub_url(topic) or not sources.schedule.websub or not sources.portal.url:
        return
    tracker.visit_counts.record(source, "hub", hub)
    with warned(logger, "the hub of %s could not be stored", source, source=source):
        await asyncio.to_thread(_save_subscription, tracker, source, hub, topic)


def _is_hub_url(url: str) -> bool:
    """Return whether the URL can be fetched and printed; feeds in JSON may hold lone surrogates."""
    return can_request(url) and url.isprintable()


def _save_subscription(tracker: LinkTracker, source: str, hub: str, topic: str) -> None:
    stored = tracker.store.subscriptions.of(source)
    if stored is not None and (stored.hub, stored.topic) == (hub, topic):
        return
    if stored is None:
        stored = Subscription(source, hub, topic, secrets.token_urlsafe(TOKEN_BYTES), secrets.token_hex(SECRET_BYTES))
    tracker.store.subscriptions.save(replace(stored, hub=hub, topic=topic, asked=None, tries=0, until=None, denied=None, leaving=False))
