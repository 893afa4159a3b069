"""The base class of spiders: the course of a run, its visits, and the work of other processes; list pages and articles: ``pages``."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Request

from newsportal.crawl.link_tracker import STORE_FAILS, Filtered, LinkTracker, tracker_of, utcnow
from newsportal.crawl.queues.base import Queue
from newsportal.crawl.redis_connection import parse_pushed
from newsportal.crawl.requests import can_request, is_entry, link_of
from newsportal.crawl.scheduler import BROKEN as FRONTIER_FAILS
from newsportal.crawl.scheduler import scheduler_of
from newsportal.crawl.source_visits import Timing, note_health
from newsportal.errors import FrontierRefused, FrontierUnavailable, StoreError
from newsportal.items import Link
from newsportal.messages import Message, reason_message
from newsportal.sources.timing import paused_until
from newsportal.spiders.command_line import SinglePage, ValidatedArguments
from newsportal.spiders.fetcher import is_browser_missing, note_rendering
from newsportal.spiders.pages import ArticlePages, ListPages, Source
from newsportal.spiders.visiting import ActiveVisits, begin_due_visits
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

Memory = TypeVar("Memory")

START_FAILED = "start-failed"  # Reason of a crawl's end when its visits cannot begin; the log has the error
MAX_SINGLE_READS = 1000  # Number of sources up to which states are read one by one; for more, all are read at once


class NewsSpider(ValidatedArguments, SinglePage, ListPages, ArticlePages, scrapy.Spider):
    """Subclasses define the sources (:meth:`sources`), begin their visits (:meth:`visit`), and parse list pages. Arguments: ``Args``."""

    kind: ClassVar[str] = ""
    places: ClassVar[str] = ""
    """Key of sources.yaml with the sources of this spider."""

    settled: ClassVar[bool] = True
    """Whether stored items are final; threads and photo stories grow."""

    def __init__(self, **kwargs: Any) -> None:
        """Raises ``NewsportalError`` for an invalid argument."""
        self.args = self.check_arguments(kwargs)
        super().__init__(**{name: value for name, value in kwargs.items() if name not in self.Args.model_fields})
        self.only, self.among, self.due_only = self.args.source, self.args.sources, self.args.due
        self.visited: set[str] = set()
        self.thorough: set[str] = set()
        self.began = utcnow()
        self._memories: list[defaultdict[str, Any]] = []

    @property
    def tracker(self) -> LinkTracker:
        return tracker_of(self.crawler)

    @cached_property
    def timing(self) -> Timing:
        return Timing(self.tracker)

    @cached_property
    def active_visits(self) -> ActiveVisits:
        """The visits that this spider has begun."""
        return ActiveVisits(self.tracker, self._queue, self.end_visit, self.forget_visit)

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        return {source.key: source for source in self.sources()}

    def _queue(self) -> Queue | None:
        """Return the queue of requests; ``None`` in a replay or with another scheduler. Raises ``FrontierUnavailable``."""
        scheduler = scheduler_of(self.crawler)
        if scheduler is None or scheduler.feeder is None:
            return None
        if scheduler.feeder.queue is None:
            raise FrontierUnavailable("the queue of requests is not yet open")
        return scheduler.feeder.queue

    # overridden by subclasses

    def sources(self) -> Iterable[Any]:
        return (source for source in getattr(self.tracker.sources, self.places) if source.enabled)

    def visit(self, source: Any, state: SourceState) -> AsyncIterator[Request]:
        raise NotImplementedError

    def report_skipped(self, key: str) -> None:
        """Report what a visit of this source left out; called when it ends."""

    def is_selected(self, source: Source) -> bool:
        """Return whether the spider's arguments select this source (by default all)."""
        return self.only in (None, source.name, source.key) and (self.among is None or source.key in self.among)

    # the course of a run

    async def start(self) -> AsyncIterator[Any]:
        """Begin the visits; a permanent worker (``NEWSPORTAL_STANDING``) does so until it is stopped."""
        sources = [source for source in self.sources() if self.is_selected(source)]
        if not sources and self.only is not None:
            names = ", ".join(sorted(source.name for source in self.sources())) or "none"
            logger.error("sources.yaml has no enabled %s named %r; it has: %s", self.kind, self.only, names)
            raise CloseSpider("unknown-source")
        outputs = begin_due_visits(self, sources) if self.settings.getbool("NEWSPORTAL_STANDING") else self._visit_once(sources)
        try:
            async for output in outputs:
                yield output
        except StoreError as error:
            logger.error("the crawl ends: its store fails: %s", error)
            raise CloseSpider(STORE_FAILS) from error
        except FrontierRefused as error:
            raise CloseSpider(FRONTIER_FAILS) from error  # logged by the scheduler
        except Exception as error:  # Scrapy would only log it, and end with "finished"
            logger.exception("the crawl ends: visits cannot begin")
            raise CloseSpider(START_FAILED) from error

    async def _visit_once(self, sources: Sequence[Any]) -> AsyncIterator[Any]:
        """Begin one visit of each source. Raises ``StoreError``."""
        states: Mapping[str, SourceState] = {}
        if self.due_only and len(sources) > MAX_SINGLE_READS:
            states = {state.source: state for state in await asyncio.to_thread(self.tracker.store.source_states)}
        for source in sources:
            await self.active_visits.wait_for_capacity()
            async for output in self.begin(source, states.get(source.key)):
                yield output

    async def begin(self, source: Source, state: SourceState | None = None) -> AsyncIterator[Any]:
        """Begin the visit of a source, unless it is not due or another worker has it. Raises ``StoreError``."""
        state = state or await self.tracker.state(source.key)
        if self.should_skip(source, state):
            return
        if is_browser_missing(self.tracker, source):
            await self._close([source.key], finished=True)
            return
        if not await self.active_visits.claim(source.key):
            if not self.settings.getbool("NEWSPORTAL_STANDING"):
                self.tracker.note(source.key, Message("note.other-worker"))
            return
        if self.should_skip(source, state := await self.tracker.state(source.key)):  # another worker's visit ended since the last check
            await self.active_visits.release(source.key)
            return
        try:
            await self.active_visits.begin(source.key)
            if await self.tracker.begin(state):
                self.thorough.add(source.key)
                state = replace(state, validators={})
            elif state.validators and await self.timing.is_stuck(source.key):
                state = replace(state, validators={})
            waiting = await self.resume_entries(source)
        except StoreError:
            await self.active_visits.release(source.key)
            raise
        for output in waiting:
            yield output
        async for request in self.visit(source, state):
            yield request

    async def end_visit(self, key: str) -> None:
        """Save and forget the state of a visit whose last task is done."""
        # An unreachable source is judged at the end of the crawl: the network may have been down.
        if not self.tracker.unreached(key) or self.settings.getbool("NEWSPORTAL_STANDING"):
            await self._close([key], finished=True)
            self.forget_visit(key)

    def values_by_visit(self, kind: Callable[[], Memory]) -> defaultdict[str, Memory]:
        """Return a dict of values per visit, by the source's key, that are deleted when the visit ends."""
        memory: defaultdict[str, Memory] = defaultdict(kind)
        self._memories.append(memory)
        return memory

    @property
    def remembered_sources(self) -> set[str]:
        """The sources with remembered visits."""
        return self.thorough.union(*self._memories)

    def forget_visit(self, key: str) -> None:
        """Forget a visit that no worker continues."""
        self.thorough.discard(key)
        for memory in self._memories:
            memory.pop(key, None)
        self.tracker.forget_visit(key)

    async def resume_entries(self, source: Any) -> list[Any]:
        """Return the articles of feed entries that an earlier run left. Other requests are in the queue. Raises ``StoreError``."""
        released, bodies = await self.tracker.resume(source.key)
        if released and (queue := self._queue()) is not None:
            await asyncio.to_thread(queue.refresh, released)
        links = [link for body in bodies if (link := link_of(body, self)) is not None]
        return [self.output_for(link) for link, unknown in zip(links, await self.tracker.count_taken(links), strict=True) if unknown]

    async def filter_new(self, links: Sequence[Link], ask: Callable[[Link], Request] | None = None) -> tuple[list[Any], Filtered]:
        """Queue the new entries of a list page; return their requests, or articles of feed entries. Raises ``StoreError``."""
        found = await self.tracker.filter_new(links, self, ask or self.article)
        outputs = [self.output_for(link) if is_entry(link) else request for link, request in zip(found.fresh, found.requests, strict=True)]
        return outputs, found

    def should_skip(self, source: Any, state: SourceState) -> bool:
        """Return whether to skip the source in this run because it is paused or not due."""
        until = paused_until(state, self.began)
        if until is not None and until > self.began and not self.only:
            self.tracker.note(source.key, Message("note.paused", until=until, reason=reason_message(state.last_error or "")))
            return True
        now = utcnow()
        return self.due_only and self.timing.due_at(source, state, now) > now

    # requests of other processes

    def reference_to(self, value: object) -> tuple[str, str] | None:
        """Return the name by which a queued request refers to a source (``newsportal.crawl.requests``)."""
        key = getattr(value, "key", None)
        return ("source", key) if isinstance(key, str) and self.by_key(key) is value else None

    def resolve_reference(self, kind: str, name: str) -> object:
        """Return the source that a queued request refers to. Raises ``LookupError`` if it was removed from the file."""
        found = self.by_key(name) if kind == "source" else None
        if found is None:
            raise LookupError(f"sources.yaml has no enabled {kind} {name!r} any more")
        return found

    async def accept(self, requests: Sequence[Request]) -> list[Request | None]:
        """Return the requests to send for these leased ones; ``None`` for those no longer wanted."""
        links = [link for request in requests if isinstance(link := request.cb_kwargs.get("link"), Link)]
        needed = iter(await self.tracker.count_taken(links, settled=self.settled) if links else ())
        return [request if not isinstance(request.cb_kwargs.get("link"), Link) or next(needed) else None for request in requests]

    async def pushed(self, value: bytes) -> list[Any]:
        """Return the requests for the URL of an article pushed into ``NAME:start_urls``, plain or as JSON with fields of its link. It is an
        entry of the source ``pushed:NAME`` in the report. Raises ``ValueError`` for invalid values."""
        fields = parse_pushed(value)
        if not can_request(fields["url"]):
            raise ValueError("no valid URL")
        source = f"pushed:{self.name}"
        attrs: dict[str, Any] = {name: str(fields[name]) for name in ("title", "summary", "site", "topic", "category") if fields.get(name)}
        try:
            found = await self.tracker.filter_new([Link(fields["url"], source, **attrs)], self, self.article, again=True)
        except StoreError as error:
            raise FrontierUnavailable(f"{fields['url']} stays among the start URLs: {error}") from error
        return list(found.requests)

    def by_key(self, key: str) -> Any:
        """Return the source of a link; ``None`` if it was removed from the file."""
        return self._by_key.get(key)

    # the end

    async def finish(self, reason: str) -> None:
        """Save the states of the sources; called by the run report when the spider closes."""
        await self.active_visits.stop()
        for key in self.active_visits.in_progress - self.visited:
            await self.active_visits.end(key)  # it never reached its list page
        await self._close(sorted(self.visited), finished=reason == "finished")
        await self.active_visits.forget()

    async def _close(self, keys: Collection[str], *, finished: bool) -> None:
        """End the visits of these sources. ``finished``: not interrupted."""
        note_rendering(self.tracker, self.crawler.stats.get_stats() if self.crawler.stats else {}, keys)
        for key in keys:
            self.report_skipped(key)
        await self.active_visits.write(keys)
        await note_health(self.tracker, keys, utcnow())
        try:
            await self.tracker.close(keys, utcnow(), finished=finished)
        except StoreError as error:
            logger.error("the state of the sources could not be saved; the next visit reads all list pages: %s", error)
        await self.timing.plan([source for key in keys if (source := self.by_key(key)) is not None], utcnow())
        await self.tracker.note_waiting(keys)
        for key in keys:
            await self.active_visits.end(key)
        self.visited.difference_update(keys)
