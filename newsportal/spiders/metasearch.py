"""Search engines: ``scrapy crawl metasearch -a topic=旅游`` (paper A)."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Request, Response
from scrapy.utils.response import get_meta_refresh

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.visit_counters import BLOCKED
from newsportal.dedup.canonical import site_of
from newsportal.errors import EngineBlocked
from newsportal.extractors.lists import engines
from newsportal.extractors.lists.engines import Engine, Result, ResultPage
from newsportal.extractors.lists.redirect import needs_fetch
from newsportal.extractors.lists.result_pages import guess_engine, read_results, target_of
from newsportal.items import Link, Page
from newsportal.messages import Message
from newsportal.sources import Topic
from newsportal.sources.timing import refusal
from newsportal.spiders.base import NewsSpider, logger
from newsportal.spiders.command_line import TopicArguments
from newsportal.spiders.fetcher import page_of
from newsportal.spiders.pages import DEFAULT_PRIORITY
from newsportal.store.results import SourceState
from newsportal.text import dom

REDIRECTS = [301, 302, 303, 307, 308]
"""An engine's link redirects to the real URL; it is read, not followed, so that known articles are not fetched again."""

MAX_REFRESH_PAGE = 4096  # Maximum size of a page with only a meta refresh, in bytes

MAX_REST = timedelta(days=7)  # Longest pause of an engine that refuses each time


@dataclass(frozen=True, slots=True)
class Search:
    """A search engine as a source, with the topics that use it."""

    engine: Engine
    topics: tuple[Topic, ...]
    rest: float | None = None  # seconds of pause after a captcha; by default determined by its kind
    enabled: bool = True
    priority: int = DEFAULT_PRIORITY
    robots_on_results: bool | None = None  # whether robots.txt is obeyed on result pages; the articles' sites are not affected

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def key(self) -> str:
        return f"engine:{self.engine.name}"


class MetasearchSpider(NewsSpider):
    """Queries each topic's engines for as many pages as the breadth of the hour; stops early when a page has nothing new."""

    name = "metasearch"
    kind = "engine"

    args: TopicArguments
    Args = TopicArguments

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.topic = self.args.topic
        self._blocked = self.values_by_visit(bool)

    def sources(self) -> Iterable[Search]:
        return self._searches

    @cached_property
    def _searches(self) -> tuple[Search, ...]:
        sources, found = self.tracker.sources, []
        enabled = [topic for topic in sources.topics if topic.enabled and self.topic in (None, topic.name)]
        configured = {engine.name: engine for engine in sources.engines}
        for name in dict.fromkeys(name for topic in enabled for name in topic.engines):
            topics, entry = tuple(topic for topic in enabled if name in topic.engines), configured.get(name)
            if entry is None:
                found.append(Search(engines.load_engine(name), topics))
            elif entry.enabled:
                found.append(Search(entry.built(), topics, entry.rest * 60, priority=entry.priority, robots_on_results=entry.obey_robots))
        return tuple(found)

    async def start(self) -> AsyncIterator[Any]:
        names = [topic.name for topic in self.tracker.sources.topics if topic.enabled]
        if self.topic is not None and self.topic not in names:
            logger.error("sources.yaml has no enabled topic %r; it has: %s", self.topic, ", ".join(names) or "none")
            raise CloseSpider("unknown-topic")
        async for request in super().start():
            yield request

    def reference_to(self, value: object) -> tuple[str, str] | None:
        return ("topic", value.name) if isinstance(value, Topic) else super().reference_to(value)

    def resolve_reference(self, kind: str, name: str) -> object:
        found = self.tracker.sources.topic(name) if kind == "topic" else super().resolve_reference(kind, name)
        if found is None:
            raise LookupError(f"sources.yaml has no topic {name!r} any more")
        return found

    async def accept(self, requests: Sequence[Request]) -> list[Request | None]:
        """Drop leased result pages of an engine that blocked another worker."""
        lists = {request.meta["source"] for request in requests if "link" not in request.cb_kwargs and "source" in request.meta}
        resting = {source for source in lists if await self.tracker.is_paused(source)}
        found = await super().accept(requests)
        return [
            None if request and "link" not in request.cb_kwargs and request.meta.get("source") in resting else request for request in found
        ]

    def should_skip(self, source: Search, state: SourceState) -> bool:
        skipped = super().should_skip(source, state)
        if skipped and state.rest_until:
            self._note_refusal(source, state)
        return skipped

    def _note_refusal(self, source: Search, state: SourceState) -> None:
        if reason := refusal(source.name, state, utcnow()):
            self.tracker.note(
                source.key, Message("note.topics-failed", topics=", ".join(topic.name for topic in source.topics), why=reason)
            )

    def entry_pages(self, source: Search) -> Sequence[str]:
        return tuple(source.engine.request(query, 0) for topic in source.topics for query in topic.queries)

    def sample(self, response: Response) -> Search:
        return Search(guess_engine(dom.document(page_of(response))), ())

    def read_links(self, response: Response, source: Search) -> list[Link | str]:
        return [_link(source, None, result) for result in _read(page_of(response), source.engine).results]

    async def visit(self, source: Search, state: SourceState) -> AsyncIterator[Request]:
        """Request the number of pages given by ``breadth`` at this hour; if a topic has none, as learned from the hour's repeats.

        The queries rotate every hour, so that an engine that refuses after a few pages does not always skip the same topics.
        One that refused the last time gets one query, for one page.
        """
        now = utcnow()
        hour = now.astimezone(ZoneInfo(self.tracker.sources.portal.timezone)).hour
        queries = []
        for topic in source.topics:
            pages = topic.breadth.pages(hour)
            if "breadth" not in topic.model_fields_set:
                pages = await self.timing.pages(source.key, usual=pages)
            queries += [(topic, query, pages) for query in topic.queries if pages > 0]
        offset = int(now.timestamp() // 3600) % max(1, len(queries))
        queries = queries[offset:] + queries[:offset]
        if state.failures_in_row and (state.last_error or "").startswith(BLOCKED):
            queries = [(topic, query, 1) for topic, query, _ in queries[:1]]
        for topic, query, pages in queries:
            yield self.result_page(source, topic, query, 0, pages)

    def result_page(self, source: Search, topic: Topic, query: str, page: int, pages: int) -> Request:
        url = source.engine.request(query, page)
        meta = {} if source.robots_on_results is None else {"obey_robots": source.robots_on_results}
        return self.list_page(url, source, self.parse_results, meta=meta, topic=topic, query=query, page=page, pages=pages)

    async def parse_results(
        self, response: Response, source: Search, topic: Topic, query: str, page: int, pages: int
    ) -> AsyncIterator[Any]:
        if self._blocked.get(source.key):
            return
        try:
            found = await self.tracker.readers.read(_read, page_of(response), source.engine)
        except EngineBlocked as block:
            self._blocked[source.key] = True
            reason = f"{BLOCKED}: {block.reason}"
            self.tracker.list_failed(source.key, reason, response.url)
            state = await self.tracker.state(source.key)
            until = utcnow() + min(timedelta(seconds=source.rest or block.rest) * 2 ** min(state.failures_in_row, 10), MAX_REST)
            await self.tracker.pause_now(source.key, until)
            failures = state.failures_in_row + 1
            failed = replace(state, rest_until=until, last_run=utcnow(), last_error=reason, failures_in_row=failures, next_visit=None)
            self._note_refusal(source, replace(failed, next_visit=self.timing.due_at(source, failed, utcnow())))
            return
        if found.changed and (found.results or page == 0):  # a later page without results is the end of the list
            self.tracker.layout_changed(source.key)
        links = [_link(source, topic, result) for result in found.results]
        leading = [link for link in links if needs_fetch(link.url) or site_of(link.url) == site_of(source.engine.url)]
        redirects, _ = await self.filter_new(leading, self.redirect)
        requests, filtered = await self.filter_new([link for link in links if link not in leading])
        for request in (*redirects, *requests):
            yield request
        if links and source.engine.has_pages and page + 1 < pages and (leading or self.should_continue(source, filtered)):
            yield self.result_page(source, topic, query, page + 1, pages)

    def redirect(self, link: Link) -> Request:
        return self.article(link, self.parse_redirect, {"dont_redirect": True, "handle_httpstatus_list": REDIRECTS})

    async def parse_redirect(self, response: Response, link: Link) -> AsyncIterator[Any]:
        """Parse the response of an engine's link: a redirect to the article, or the article itself."""
        target = _target(response)
        if target is None:
            async for article in self.parse_article(response, link):
                yield article
            return
        async for request in self.yield_item(link, self.tracker.follow_redirect(link, target, self, self.article)):
            yield request


HOST = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+(?:[/:>].*)?", re.ASCII)
"""Many engines show the host in place of the site's name, which the page itself may contain."""


def _read(page: Page, engine: Engine) -> ResultPage:
    return read_results(engine, dom.document(page), page.fetched)


def _link(source: Search, topic: Topic | None, result: Result) -> Link:
    return Link(
        url=target_of(result),
        source=source.key,
        title=result.title,
        summary=result.summary,
        site=None if HOST.fullmatch(result.site or "") else result.site,
        published=result.published,
        topic=topic.name if topic else None,
    )


def _target(response: Response) -> str | None:
    """Return the target of a redirect: ``Location``, or the meta refresh of an otherwise empty page."""
    location = response.headers.get("Location")
    if location and response.status in REDIRECTS:
        target = location.decode("latin-1").strip()
        try:
            return urljoin(response.url, target)
        except ValueError:
            return target
    if isinstance(response, HtmlResponse) and len(response.body) < MAX_REFRESH_PAGE:
        _, url = get_meta_refresh(response)
        return url
    return None
