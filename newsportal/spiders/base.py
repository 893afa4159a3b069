"""What the spiders share: the way of a run, visits, and what other processes left; beside it `list_pages` and `article_pages`."""

from __future__ import annotations

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
from newsportal.crawl.requests import askable, is_entry, link_of
from newsportal.crawl.scheduler import BROKEN as FRONTIER_FAILS
from newsportal.crawl.scheduler import scheduler_of
from newsportal.crawl.source_visits import Timing, note_health
from newsportal.errors import FrontierRefused, FrontierUnavailable, StoreError
from newsportal.items import Link
from newsportal.messages import Message, reason_message
from newsportal.sources.timing import paused_until
from newsportal.spiders.command_line import SinglePage, ValidatedArguments
from newsportal.spiders.fetcher import lacks_browser, note_rendering
from newsportal.spiders.pages import ArticlePages, ListPages, Source
from newsportal.spiders.visiting import Visiting, rounds
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

Memory = TypeVar("Memory")

START_FAILS = "start-failed"  # The reason of a crawl's end when its visits cannot begin; the log says why
FEW = 1000  # Sources whose states are asked for one by one; those of more are read at once


class NewsSpider(ValidatedArguments, SinglePage, ListPages, ArticlePages, scrapy.Spider):
    """Subclasses say which sources they visit (:meth:`sources`) and how (:meth:`visit`), and parse list pages. Arguments: ``Args``."""

    kind: ClassVar[str] = ""
    places: ClassVar[str] = ""
    """Under which key sources.yaml has the sources of this spider."""

    settled: ClassVar[bool] = True
    """Whether what is stored is done with; threads and photo stories grow."""

    def __init__(self, **kwargs: Any) -> None:
        """Raises ``NewsportalError`` for an argument that is none."""
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
        """When the sources are visited."""
        return Timing(self.tracker)

    @cached_property
    def visiting(self) -> Visiting:
        """The visits that this spider has begun."""
        return Visiting(self.tracker, self._queue, self.ended, self.past)

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        return {source.key: source for source in self.sources()}

    def _queue(self) -> Queue | None:
        """The queue of requests; ``None`` in a replay, and where another scheduler was chosen. Raises ``FrontierUnavailable``."""
        scheduler = scheduler_of(self.crawler)
        if scheduler is None or scheduler.feeder is None:
            return None
        if scheduler.queue is None:
            raise FrontierUnavailable("the queue of requests is not open yet")
        return scheduler.queue

    # what subclasses say

    def sources(self) -> Iterable[Any]:
        return (source for source in getattr(self.tracker.sources, self.places) if source.enabled)

    def visit(self, source: Any, state: SourceState) -> AsyncIterator[Request]:
        raise NotImplementedError

    def note_left_out(self, key: str) -> None:
        """Say in the report what a visit of this source left out; called when it ends."""

    def is_selected(self, source: Source) -> bool:
        """Whether the spider's arguments name this source, or none."""
        return self.only in (None, source.name, source.key) and (self.among is None or source.key in self.among)

    # the way of a run

    async def start(self) -> AsyncIterator[Any]:
        """Begins the visits; a standing worker (``NEWSPORTAL_STANDING``) goes on doing so until it is stopped."""
        chosen = [source for source in self.sources() if self.is_selected(source)]
        if not chosen and self.only is not None:
            names = ", ".join(sorted(source.name for source in self.sources())) or "none"
            logger.error("sources.yaml has no enabled %s named %r; it has: %s", self.kind, self.only, names)
            raise CloseSpider("unknown-source")
        begun = rounds(self, chosen) if self.settings.getbool("NEWSPORTAL_STANDING") else self._once(chosen)
        try:
            async for wanted in begun:
                yield wanted
        except StoreError as error:
            logger.error("the crawl ends, its store fails: %s", error)
            raise CloseSpider(STORE_FAILS) from error
        except FrontierRefused as error:
            raise CloseSpider(FRONTIER_FAILS) from error  # the scheduler tells it
        except Exception as error:  # Scrapy would log it, and end as if all were well
            logger.exception("the crawl ends, visits cannot begin")
            raise CloseSpider(START_FAILS) from error

    async def _once(self, chosen: Sequence[Any]) -> AsyncIterator[Any]:
        """What one visit of each begins with. Raises ``StoreError``."""
        states: Mapping[str, SourceState] = {}
        if self.due_only and len(chosen) > FEW:
            states = {state.source: state for state in await asyncio.to_thread(self.tracker.store.source_states)}
        for source in chosen:
            await self.visiting.wait_for_place()
            async for wanted in self.begin(source, states.get(source.key)):
                yield wanted

    async def begin(self, source: Source, state: SourceState | None = None) -> AsyncIterator[Any]:
        """What a visit of a source begins with; nothing if it is not its time, or another worker's. Raises ``StoreError``."""
        state = state or await self.tracker.state(source.key)
        if self.skips(source, state):
            return
        if lacks_browser(self.tracker, source):
            await self._close([source.key], finished=True)
            return
        if not await self.visiting.claim(source.key):
            if not self.settings.getbool("NEWSPORTAL_STANDING"):
                self.tracker.note(source.key, Message("note.other-worker"))
            return
        if self.skips(source, state := await self.tracker.state(source.key)):  # another worker's visit has ended since we looked
            await self.visiting.give_up(source.key)
            return
        try:
            await self.visiting.begin(source.key)
            if await self.tracker.begin(state):
                self.thorough.add(source.key)
                state = replace(state, validators={})
            elif state.validators and await self.timing.stuck(source.key):
                state = replace(state, validators={})
            waiting = await self.resumed(source)
        except StoreError:
            await self.visiting.give_up(source.key)
            raise
        for wanted in waiting:
            yield wanted
        async for request in self.visit(source, state):
            yield request

    async def ended(self, key: str) -> None:
        """The last task of a visit is done: all that is remembered of it is saved, and nothing of it stays in memory."""
        # A source that was not reached is judged at the end of the crawl: the network may have been away.
        if not self.tracker.unreached(key) or self.settings.getbool("NEWSPORTAL_STANDING"):
            await self._close([key], finished=True)
            self.past(key)

    def of_visits(self, kind: Callable[[], Memory]) -> defaultdict[str, Memory]:
        """A place for what is remembered of each visit, by the source's key; it goes with the visit."""
        memory: defaultdict[str, Memory] = defaultdict(kind)
        self._memories.append(memory)
        return memory

    @property
    def remembered(self) -> set[str]:
        """The sources of whose visits something is remembered."""
        return self.thorough.union(*self._memories)

    def past(self, key: str) -> None:
        """No worker has anything of a visit any more: nothing of it stays in memory."""
        self.thorough.discard(key)
        for memory in self._memories:
            memory.pop(key, None)
        self.tracker.over(key)

    async def resumed(self, source: Any) -> list[Any]:
        """The articles of feed entries that an earlier run left undone. What else waits the queue hands out. Raises ``StoreError``."""
        released, bodies = await self.tracker.resume(source.key)
        if released and (queue := self._queue()) is not None:
            await asyncio.to_thread(queue.refresh, released)
        links = [link for body in bodies if (link := link_of(body, self)) is not None]
        return [self.wanted(link) for link, unknown in zip(links, await self.tracker.count_taken(links), strict=True) if unknown]

    async def filter_new(self, links: Sequence[Link], ask: Callable[[Link], Request] | None = None) -> tuple[list[Any], Filtered]:
        """Of the entries of a list page, how to come by those that are new; they wait in the table of links now. Raises ``StoreError``."""
        found = await self.tracker.filter_new(links, self, ask or self.article)
        wanted = [self.wanted(link) if is_entry(link) else request for link, request in zip(found.fresh, found.requests, strict=True)]
        return wanted, found

    def skips(self, source: Any, state: SourceState) -> bool:
        """Whether to leave the source alone in this run: it rests, or is not due."""
        rest = paused_until(state, self.began)
        if rest is not None and rest > self.began and not self.only:
            self.tracker.note(source.key, Message("note.rests", until=rest, reason=reason_message(state.last_error or "")))
            return True
        now = utcnow()
        return self.due_only and self.timing.due_at(source, state, now) > now

    # what other processes left or pushed

    def refer(self, value: object) -> tuple[str, str] | None:
        """How requests that wait name a source (``newsportal.crawl.requests``)."""
        key = getattr(value, "key", None)
        return ("source", key) if isinstance(key, str) and self.by_key(key) is value else None

    def referred(self, kind: str, name: str) -> object:
        """Raises ``LookupError`` for a source that has gone from the file since."""
        found = self.by_key(name) if kind == "source" else None
        if found is None:
            raise LookupError(f"sources.yaml has no enabled {kind} {name!r} any more")
        return found

    async def accept(self, requests: Sequence[Request]) -> list[Request | None]:
        """What to ask for these requests, which the queue hands out; ``None`` for those that nobody wants any more."""
        links = [link for request in requests if isinstance(link := request.cb_kwargs.get("link"), Link)]
        wanted = iter(await self.tracker.count_taken(links, settled=self.settled) if links else ())
        return [request if not isinstance(request.cb_kwargs.get("link"), Link) or next(wanted) else None for request in requests]

    async def pushed(self, value: bytes) -> list[Any]:
        """An address of an article that somebody pushed into ``NAME:start_urls``, plain or as JSON with what is known of it. It is an entry
        of the source ``pushed:NAME`` of the report. Raises ``ValueError`` for what is none."""
        said = parse_pushed(value)
        if not askable(said["url"]):
            raise ValueError("no address that can be asked")
        source = f"pushed:{self.name}"
        known: dict[str, Any] = {name: str(said[name]) for name in ("title", "summary", "site", "topic", "category") if said.get(name)}
        try:
            found = await self.tracker.filter_new([Link(said["url"], source, **known)], self, self.article, again=True)
        except StoreError as error:
            raise FrontierUnavailable(f"{said['url']} stays among the start URLs: {error}") from error
        return list(found.requests)

    def by_key(self, key: str) -> Any:
        """The source that a link names; ``None`` if it has gone from the file since."""
        return self._by_key.get(key)

    # the end

    async def finish(self, reason: str) -> None:
        """Save what is remembered of the sources; called by the run report when the spider closes."""
        await self.visiting.stop()
        for key in self.visiting.open - self.visited:
            await self.visiting.end(key)  # it never came to its list page
        await self._close(sorted(self.visited), finished=reason == "finished")
        await self.visiting.forget()

    async def _close(self, keys: Collection[str], *, finished: bool) -> None:
        """The visits of these sources are over. ``finished``: not cut short."""
        note_rendering(self.tracker, self.crawler.stats.get_stats() if self.crawler.stats else {}, keys)
        for key in keys:
            self.note_left_out(key)
        await self.visiting.write(keys)
        await note_health(self.tracker, keys, utcnow())
        try:
            await self.tracker.close(keys, utcnow(), finished=finished)
        except StoreError as error:
            logger.error("the state of the sources is not saved, list pages will be read in full next time: %s", error)
        await self.timing.plan([source for key in keys if (source := self.by_key(key)) is not None], utcnow())
        await self.tracker.note_waiting(keys)
        for key in keys:
            await self.visiting.end(key)
        self.visited.difference_update(keys)
