"""The state of every link of a crawl, in the store and in the run report. One tracker per crawler (:func:`tracker_of`).

Every entry of a list page has exactly one outcome, so the report adds up (``newsportal.items.report``).
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from time import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from newsportal.classify.topics import SEARCH
from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.reader_pool import CrawlReaders
from newsportal.crawl.record import record_of
from newsportal.crawl.requests import BAD_URL, ROW, can_request, id_of, is_entry, is_readable, name_of, task_of
from newsportal.crawl.visit_counters import OUTAGE, PREFIX, SourceStates
from newsportal.crawl.visit_counters import utcnow as utcnow  # the clock of all parts of a crawl
from newsportal.dedup.canonical import identity, is_single_page, separate_collisions, spelling_ids
from newsportal.errors import StoreError
from newsportal.items import TopicMark
from newsportal.logs import warned
from newsportal.messages import Message
from newsportal.store.link_tables import DONE, FAILED, GIVEN_UP, STORED

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from newsportal.items import Link
    from newsportal.sources import Sources
    from newsportal.store.link_rows import Row

    Ask = Callable[[Link], Request]
    """Makes the request for a link."""

logger = logging.getLogger(__name__)

STORE_FAILS = "store-unavailable"  # the reason, in reports and for a crawl's end, when the store fails

AWAITS_SIBLING = "waits-for-sibling"  # paper B, 1.3: a page waits until another page of its directory reveals the template

TAKEN_OVER = Message("note.retries-articles")

ONE_ADDRESS = Message("note.shared-link")

GIVE_UP = timedelta(days=7)  # a link with transient failures for this long is given up: news older than a week is not read
GIVE_UP_OFFLINE = 4 * GIVE_UP  # the same if the cause may be our own network: a machine may be offline for weeks
OUR_OWN = (STORE_FAILS, "archive", "no-browser", "shutdown")  # links are never given up for these reasons: a disk may be full for weeks

# Wait of a link after a transient failure, doubled with each failure. The next visit of its source retries it at once.
FIRST_RETRY, LAST_RETRY = timedelta(minutes=15), timedelta(hours=6)

# Failures of the browser that the page may cause: after the third in a row (chosen: a machine may be overloaded twice) it waits a week
HANGS = ("render-timeout", "render-memory", "render-crashed")
MAX_HANGS, HANG_PAUSE = 3, timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Filtered:
    """Requests to send, and the new links of articles. ``stale``: everything was known before this visit, so older pages bring nothing."""

    requests: tuple[Request, ...]
    stale: bool
    fresh: tuple[Link, ...] = ()


_TRACKERS: WeakKeyDictionary[Crawler, LinkTracker] = WeakKeyDictionary()


def tracker_of(crawler: Crawler) -> LinkTracker:
    """Return the link tracker of a crawl, created by the first call. Raises ``StoreError`` or ``SourcesError``."""
    tracker = _TRACKERS.get(crawler)
    if tracker is None:
        addon = crawler.get_addon(SourcesAddon)
        if addon is None:
            raise RuntimeError("newsportal.crawl.addon.SourcesAddon is missing in the setting ADDONS")
        tracker = _TRACKERS[crawler] = LinkTracker(crawler, addon.sources)
    return tracker


class LinkTracker(SourceStates):
    """The link tracker. Methods that query the store are coroutines; counting is immediate."""

    def __init__(self, crawler: Crawler, sources: Sources) -> None:
        record = record_of(sources, crawler.settings)
        super().__init__(crawler.stats, record.reach, record.store)
        self.sources = sources
        self._record = record  # shared by trackers as long as one of them holds it
        self.stored_urls = record.stored_urls
        self.sites = record.sites
        self.readers = CrawlReaders(record.readers, crawler)
        self.models = record.models
        self._began, self._replay = time(), bool(crawler.settings.get("NEWSPORTAL_REPLAY"))
        self._titled: Counter[str] = Counter()
        self._counted: dict[str, set[str]] = defaultdict(set)  # links counted as new in the report without an outcome in this process yet
        self.met: set[str] = set()  # sources whose links had an outcome in this process

    async def filter_new(self, links: Sequence[Link], spider: Spider, ask: Ask, *, again: bool = False) -> Filtered:
        """Queue the new entries of a list page: neither stored nor queued nor finished in this visit (unless ``again``). Counts every
        entry. Raises ``StoreError``; then nothing is counted or queued."""
        broken = [link for link in links if not is_readable(link)]
        links = await self._set_apart([link for link in links if is_readable(link)])
        by_name: dict[str, Link] = {}
        for link in links:
            by_name.setdefault(name_of(link), link)
        known = await asyncio.to_thread(self.stored_urls.find_stored, list(by_name))
        if marks := {name: TopicMark(link.topic, SEARCH) for name, link in by_name.items() if link.topic and name in known}:
            await asyncio.to_thread(self.store.add_topic_marks, marks, now=utcnow())  # another topic's search met these articles first
        titles = {name: link.title for name, link in by_name.items() if link.title and name not in known}
        repeated = await asyncio.to_thread(self.store.find_titles, titles, now=utcnow())  # for titles that identify reposts (paper A, 3.3)
        self._titled.update(by_name[name].source for name in repeated)
        known |= repeated
        new = [link for name, link in by_name.items() if name not in known]
        requests = await self.open(new, spider, ask, again=again)
        stale = len(known) == len(by_name) and not await self.added_in_visit(by_name.values())
        await self.count_listed([(name_of(link), link) for link in links], requests, known, broken)
        for name in requests:
            self.visit_counts.record_published(by_name[name].source, [by_name[name].published])
        fresh = tuple(link for name, link in by_name.items() if name in requests)
        return Filtered(tuple(requests[name_of(link)] for link in fresh), stale, fresh)

    async def count_listed(
        self, entries: Iterable[tuple[str, Link]], fresh: Collection[str], known: Collection[str], broken: Iterable[Link] = ()
    ) -> None:
        """Count the entries of a list by their names: each ``fresh`` one is new once. ``broken`` ones have an invalid URL and fail."""
        uncounted = set(fresh)
        for name, link in entries:
            for column in ("entries", "new" if name in uncounted else "known" if name in known else "repeated"):
                self.count(link.source, column, topic=link.topic)
            uncounted.discard(name)
        for link in broken:
            for column in ("entries", "new"):
                self.count(link.source, column, topic=link.topic)
            await self.fail(link, BAD_URL)

    async def open(
        self, links: Sequence[Link], spider: Spider, ask: Ask, *, again: bool = False, settled: bool = True
    ) -> dict[str, Request]:
        """Queue links neither queued nor finished in this visit; return their requests by name. ``settled``: exclude stored links."""
        if not links:
            return {}
        requests = {name_of(link): ask(link) for link in links}
        tasks = {name: task_of(request, spider) for name, request in requests.items()}
        entries = [tasks[name_of(link)].id for link in links if settled and is_entry(link)]  # a thread's name may contain a "#", too
        names = {task.id: name for name, task in tasks.items()} if settled else None
        since = time() if again else await self._visit_began(links[0].source)
        opened = await asyncio.to_thread(self.store.links.open, spider.name, list(tasks.values()), since=since, names=names, held=entries)
        queued = {name: request for name, request in requests.items() if tasks[name].id in opened}
        for link in links:
            if name_of(link) in queued:
                self._counted[link.source].add(tasks[name_of(link)].id)
                queued[name_of(link)].meta[ROW] = True
        return queued

    async def _visit_began(self, source: str) -> float:
        """Return when the visit of a source began, in any process, in seconds since 1970."""
        began = (await self.state(source)).unfinished
        return self._began if began is None else began.timestamp()

    async def added_in_visit(self, links: Iterable[Link]) -> bool:
        """Return whether one of these links was added in the current visit of its source."""
        entries = list(links)
        if not entries:
            return False
        rows = await asyncio.to_thread(self.store.links.states, [id_of(link) for link in entries])
        began = await self._visit_began(entries[0].source) if rows else 0.0
        return any(row.added >= began for row in rows.values())

    async def _set_apart(self, links: Sequence[Link]) -> list[Link]:
        """Return ``links`` with distinct names."""
        others = spelling_ids(links)
        known = await asyncio.to_thread(self.stored_urls.find_stored, others) if others else set()
        if is_single_page(links):
            self.note(links[0].source, ONE_ADDRESS)
        return separate_collisions(links, known)

    async def follow_redirect(self, link: Link, target: str, spider: Spider, ask: Ask) -> Request | None:
        """Follow the redirect of ``link`` to ``target``; return the request to send, if any. Raises ``StoreError``; then ``link`` waits."""
        if not can_request(target):
            await self.fail(link, BAD_URL)
            return None
        redirected, name = replace(link, url=target, identity=None), identity(target)
        if name == name_of(link):  # to https, or to www.: the same link
            return ask(redirected)
        stored = bool(await asyncio.to_thread(self.stored_urls.find_stored, [name]))
        request = None if stored else (await self.open([redirected], spider, ask)).get(name)
        if request is None:
            self.count(link.source, "new", number=-1, topic=link.topic)
            self.count(link.source, "known" if stored else "repeated", topic=link.topic)
        self._decided(link)
        await self._finish(link, DONE)
        return request

    async def resume(self, source: str) -> tuple[list[str], list[str]]:
        """Begin a visit: return the ids of links released after transient failures, and feed entries (JSON) of a visit that was killed. A
        replay has no queue: its lists name the links again. Raises ``StoreError``."""
        if self._replay:
            await asyncio.to_thread(self.store.links.forget, source)
        if released := await asyncio.to_thread(self.store.links.release, source, (utcnow() + LAST_RETRY).timestamp()):
            self.note(source, TAKEN_OVER)
        return released, await asyncio.to_thread(self.store.links.held, source)

    async def count_taken(self, links: Sequence[Link], *, settled: bool = True) -> list[bool]:
        """Return for each leased link whether to fetch it: not if stored (``settled``). Links of other processes are counted here."""
        known = set[str]()
        with warned(logger, "%d links are requested although they may be stored", len(links)):
            if settled:
                known = await asyncio.to_thread(self.stored_urls.find_stored, [name_of(link) for link in links])
        for link in links:
            self._count_taken(link, name_of(link) in known)
            if name_of(link) in known:
                await self._finish(link)
        return [name_of(link) not in known for link in links]

    def _count_taken(self, link: Link, stored: bool) -> None:
        counted = id_of(link) in self._counted[link.source]
        if counted:
            self.count(link.source, "new", number=-stored, topic=link.topic)
        else:  # counted by the visit that met it
            self.note(link.source, TAKEN_OVER)
            for column, number in (("entries", 1), ("new", int(not stored))):
                self.count(link.source, column, number=number, topic=link.topic)
                self.visit_counts.count(link.source, column, number=-number)
            self._counted[link.source].add(id_of(link))
        if stored:
            self.count(link.source, "known", topic=link.topic)
            self._decided(link)

    async def settle(self, link: Link, column: str, *, later: bool = False, written: bool = False) -> None:
        """Record that ``link`` yielded an article (``column``: ``stored`` …). ``later``: incomplete, retry. ``written``: row updated."""
        self._decided(link)
        self.count(link.source, "parsed", topic=link.topic)
        self.count(link.source, column, topic=link.topic)
        if later:
            await self._postpone(link, "incomplete", await self._row(link))
        elif not written:
            await self._finish(link)

    async def fail(self, link: Link, reason: str, *, later: bool = False) -> None:
        """Record that ``link`` failed. ``later``: retry, unless it has failed for too long."""
        self._decided(link)
        later = later or reason == AWAITS_SIBLING
        row = await self._row(link) if later else None
        limit = GIVE_UP_OFFLINE if reason in OUTAGE else GIVE_UP  # longer if the network may be down
        if row is not None and reason not in OUR_OWN and utcnow().timestamp() - row.added > limit.total_seconds():
            self.note(link.source, Message("note.given-up", days=GIVE_UP.days, reason=reason))
            self.count(link.source, "failed", GIVEN_UP)
            await self._finish(link, GIVEN_UP, reason)
            return
        self.count(link.source, "failed", reason)
        if later:
            await self._postpone(link, reason, row)
        else:
            await self._finish(link, FAILED, reason)

    async def note_waiting(self, sources: Collection[str]) -> None:
        """Note in the report which links of these sources wait for a retry, and how many were skipped for their titles."""
        for source in sources:
            if number := self._titled.pop(source, 0):
                self.note(source, Message("note.known-titles", number=number))
        try:
            rows = await asyncio.to_thread(self.store.links.waiting)
        except StoreError:
            return
        for row in rows:
            if row.source is not None and row.source in sources and row.next is not None:
                at = datetime.fromtimestamp(row.next, UTC)
                self.note(row.source, Message("note.links-waiting", number=row.number, reason=row.reason, at=at))

    def _decided(self, link: Link) -> None:
        self._counted[link.source].discard(id_of(link))
        self.met.add(link.source)

    async def _row(self, link: Link) -> Row | None:
        try:
            return (await asyncio.to_thread(self.store.links.states, [id_of(link)])).get(id_of(link))
        except StoreError:
            return None

    async def _postpone(self, link: Link, reason: str, row: Row | None) -> None:
        failures = row.failures if row else 0
        wait = min(FIRST_RETRY * 2 ** min(failures, 10), LAST_RETRY)
        if failures + 1 >= MAX_HANGS and row is not None and {reason, row.reason} <= set(HANGS):
            self.note(link.source, Message("note.pages-hung", runs=MAX_HANGS, days=HANG_PAUSE.days))
            wait = HANG_PAUSE
        at = None if reason == "shutdown" else (utcnow() + wait).timestamp()
        with warned(logger, "%s will be requested once more", link.url, url=link.url):
            await asyncio.to_thread(self.store.links.postpone, id_of(link), reason, at)

    async def _finish(self, link: Link, state: str = STORED, reason: str | None = None) -> None:
        """Record the outcome of a link. If the store fails, the next try finds its article stored."""
        with warned(logger, "%s will be requested once more", link.url, url=link.url):
            await asyncio.to_thread(self.store.links.finish, [id_of(link)], state, reason)

    @property
    def counted(self) -> frozenset[str]:
        """Sources with links counted in this process that have no outcome in it."""
        return frozenset(source for source, names in self._counted.items() if names)

    def forget_visit(self, source: str) -> None:
        self.forget(source)
        self._counted.pop(source, None)

    def forget(self, source: str) -> None:
        """Forget what this process saved of a visit."""
        for memory in (self._errors, self._validators, self._pauses):
            memory.pop(source, None)
        self._layouts.discard(source)
        self.met.discard(source)

    def reset_report(self) -> None:
        """Begin a new report: reset all counters, except for links without an outcome."""
        unsettled = {row.source: min(row.left, len(self._counted.get(row.source, ()))) for row in self.report() if row.left > 0}
        for key in [key for key in self._stats.get_stats() if key.startswith(PREFIX)]:
            self._stats.get_stats().pop(key)
        self._notes.clear()
        for source, number in filter(itemgetter(1), unsettled.items()):
            for column in ("entries", "new"):
                self._stats.set_value(f"{PREFIX}{source}/{column}", number)
