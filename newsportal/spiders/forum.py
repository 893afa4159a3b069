"""Forums: ``scrapy crawl forum [-a source=NAME]``. From the front page to boards and threads, by itself (docs/algorithms/forum_ways.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from newsportal import dom
from newsportal.errors import NotApplicable, StoreError
from newsportal.extractors.forum import kinds, poster
from newsportal.extractors.forum.addresses import cleaned, key_of, read
from newsportal.extractors.forum.kinds import Listed, Signpost
from newsportal.extractors.forum.thread import ThreadPage, read_page
from newsportal.frontier.ledger import STORE_FAILS, utcnow
from newsportal.frontier.links import askable
from newsportal.frontier.threads import Sifted, Wanted, sift
from newsportal.items import Link, Page, Post, Thread
from newsportal.messages import Message
from newsportal.sources import Forum
from newsportal.spiders.base import NewsSpider, in_thread
from newsportal.spiders.outcome import Outcome, outcome_of
from newsportal.store.results import SourceState

MAX_BOARDS: Final = 200
"""Boards of one forum that are visited: the largest forums known have some hundred; a trap has as many as one follows."""

MAX_LEVEL: Final = 3
"""Boards within boards."""

CUT: Final = ("…", "...", "..")
"""How a title ends that its list has cut."""


MEMBERS_ONLY: Final = frozenset({"login", "http-401", "http-403"})
"""Reasons that do not pass by themselves."""


@dataclass(slots=True)
class Reading:
    """A thread on its way: what was read of it in this visit, page by page. It is stored as a whole, so a crash costs its pages alone."""

    wanted: Wanted
    source: Forum
    board: str | None = None
    known: frozenset[str] = frozenset()
    posts: list[Post] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    pages: list[str] = field(default_factory=list)
    first: ThreadPage | None = None
    from_the_end: bool = False
    counted: bool = False

    @property
    def link(self) -> Link:
        return self.wanted.link

    def again(self) -> None:
        """Forget what was read: the visit begins at the first page."""
        self.posts, self.met, self.pages, self.from_the_end = [], set(), [], False


class ForumSpider(NewsSpider):
    """Boards newest first, until everything is known; a thread seen before is read on from its last page."""

    name = "forum"
    kind = "forum"
    settled = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._posts = poster("best")
        self._listed = self.of_visits(set[str])  # pagers run in circles, and boards are named on every page
        self._boards = self.of_visits(int)
        self._old = self.of_visits(int)

    def sources(self) -> Iterable[Forum]:
        return (source for source in self.ledger.sources.forums if source.enabled)

    # lists

    async def visit(self, source: Forum, state: SourceState) -> AsyncIterator[Request]:
        for url in source.boards or (source.url,):
            if self._is_new(source, url):
                yield self.list_page(url, source, self.parse_forum, root=True)

    async def parse_forum(
        self, response: Response, source: Forum, root: bool = False, page: int = 1, level: int = 0, board: str | None = None
    ) -> AsyncIterator[Any]:
        found = await in_thread(self.look, response)
        self._listed[source.key].add(_name_of(response.url))  # a redirect may have led there
        if found.kind == "login" and not root:
            self.ledger.list_left(source.key, "login")
            self.ledger.note(source.key, Message("note.members-only", url=board or response.url))
            return
        if found.kind == "login":
            raise NotApplicable("login", "only members may read it")
        entries, old = self.entries(found, source)
        sifted = await sift(self.ledger, entries)
        for wanted in sifted.wanted:
            yield await self.thread(wanted, source, board)
        if not (root and found.threads and read(response.url).kind == "board"):  # else the file names a board: it alone is meant
            for request in self._to_boards(found, source, level):
                yield request
        if self._goes_on(found, source, sifted, page, old) and found.next:
            yield self.list_page(found.next, source, self.parse_forum, page=page + 1, level=level, board=board)
        if root and not entries and not found.boards and not old:
            raise NotApplicable("no-threads", "neither boards nor threads are found there")

    def _to_boards(self, found: Signpost, source: Forum, level: int) -> Iterable[Request]:
        """Requests for boards not visited yet; none where the file names the boards."""
        if source.boards or level >= MAX_LEVEL:
            return
        for board in found.boards:
            if self._boards[source.key] >= MAX_BOARDS:
                self.ledger.note(source.key, Message("note.many-boards", most=MAX_BOARDS))
                return
            if askable(board.url) and self._is_new(source, board.url):
                self._boards[source.key] += 1
                yield self.list_page(board.url, source, self.parse_forum, level=level + 1, board=board.title)

    def _goes_on(self, found: Signpost, source: Forum, sifted: Sifted, page: int, old: int) -> bool:
        """Whether the list's next page is worth a request. Lists run from new to old, so one old thread ends them."""
        if not found.next or page >= source.pages or not askable(found.next) or (old and not sifted.wanted):
            return False
        if not found.threads or (sifted.stale and source.key not in self.thorough):
            return False
        return self._is_new(source, found.next)

    def _is_new(self, source: Forum, url: str) -> bool:
        """Whether a list was not asked for in this visit; it is from now on."""
        name, listed = _name_of(url), self._listed[source.key]
        if name in listed:
            return False
        listed.add(name)
        return True

    def list_page_failed(self, failure: Failure) -> None:
        """A board that cannot be had for good (members only, gone) is counted; it does not make the whole forum a failure."""
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome = outcome_of(failure)
        if request.cb_kwargs.get("root") or (outcome.passing and outcome.reason not in MEMBERS_ONLY):
            super().list_page_failed(failure)
            return
        key = request.meta["source"]
        self.visited.add(key)
        self.ledger.list_left(key, outcome.reason)
        self.ledger.note(key, Message("note.board-failed", reason=outcome.reason, board=request.cb_kwargs.get("board") or request.url))

    def look(self, response: Response) -> Signpost:
        return kinds.look(_document(response), utcnow())

    def entries(self, found: Signpost, source: Forum) -> tuple[list[tuple[Link, Listed]], int]:
        """The threads of a list as links, without those that nobody has answered for too long, and how many those are."""
        oldest = self.began - timedelta(days=source.max_age) if source.max_age else None
        young = [one for one in found.threads if oldest is None or one.last is None or one.last >= oldest]
        left = sum(not one.sticky for one in found.threads if one not in young)
        self._old[source.key] += left
        return [(self.link(one, source), one) for one in young], left

    def link(self, listed: Listed, source: Forum) -> Link:
        return Link(listed.url, source.key, listed.title, site=source.site or source.name, category=source.category, identity=listed.key)

    # threads

    async def resumed(self, source: Any) -> list[Any]:
        links = await asyncio.to_thread(self.ledger.store.deferred, source.key)
        if links:
            self.ledger.note(source.key, Message("note.retries-threads"))
        entries = [(link, Listed(link.url, link.identity, link.title or "")) for link in links if link.identity]
        sifted = await sift(self.ledger, entries, again=True)
        return [await self.thread(wanted, source, None) for wanted in sifted.wanted]

    async def thread(self, wanted: Wanted, source: Forum, board: str | None) -> Request:
        """The first request of a visit: the first page, or the page at which the last visit ended. Any process may take it up."""
        kept = wanted.kept
        return Request(
            wanted.link.url if kept is None else kept.last_page,
            callback=self.parse_first,
            errback=self.first_failed,
            dont_filter=True,
            meta={"source": source.key, **self.manners(source)},
            cb_kwargs={"source": source, "link": wanted.link, "listed": wanted.listed, "board": board},
        )

    async def reading(self, source: Forum, link: Link, listed: Listed, board: str | None) -> Reading:
        """A thread at the beginning of its visit, whichever process that is. Raises ``StoreError``."""
        kept = (await asyncio.to_thread(self.ledger.store.threads.known, [listed.key])).get(listed.key)
        reading = Reading(Wanted(link, listed, kept), source, board or (kept.board if kept else None))
        if kept is not None:
            posts = await asyncio.to_thread(self.ledger.store.threads.posts, kept.id)
            reading.known = frozenset(post.name for post in posts)
            reading.from_the_end = cleaned(kept.last_page) != cleaned(link.url)
        return reading

    def page(self, url: str, reading: Reading) -> Request:
        """A further page: what was read of the thread is with this process, so the request stays here."""
        return Request(
            url,
            callback=self.parse_thread,
            errback=self.thread_failed,
            dont_filter=True,
            meta={"source": reading.source.key, **self.manners(reading.source)},
            cb_kwargs={"reading": reading},
        )

    async def parse_first(self, response: Response, source: Forum, link: Link, listed: Listed, board: str | None) -> AsyncIterator[Any]:
        try:
            reading = await self.reading(source, link, listed, board)
        except StoreError as error:
            self.logger.error("%s waits for the next run: %s", link.url, error)
            await self.ledger.fail(link, STORE_FAILS, later=True)
            return
        async for found in self.parse_thread(response, reading):
            yield found

    async def first_failed(self, failure: Failure) -> AsyncIterator[Any]:
        request: Request = failure.request  # type: ignore[attr-defined]
        try:
            reading = await self.reading(**request.cb_kwargs)
        except StoreError as error:
            self.logger.error("%s waits for the next run: %s", request.url, error)
            await self.ledger.fail(request.cb_kwargs["link"], STORE_FAILS, later=True)
            return
        async for found in self._failed(reading, outcome_of(failure)):
            yield found

    async def parse_thread(self, response: Response, reading: Reading) -> AsyncIterator[Any]:
        if not reading.counted:
            reading.counted = True  # a thread is one entry, however many pages it has
            self.ledger.count(reading.source.key, "fetched")
        try:
            page = await in_thread(self.read, response, not reading.pages and reading.wanted.listed.replies in (0, None))
        except NotApplicable as why:
            async for item in self._broken(reading, why.reason):
                yield item
            return
        except Exception as error:  # a page that breaks its reader must not be lost without a trace
            self.logger.exception("reading failed on %s", response.url)
            async for item in self._broken(reading, f"error: {type(error).__name__}"):
                yield item
            return
        reading.first = reading.first or page
        if reading.from_the_end and not reading.pages and not any(post.id in reading.known for post in page.posts):
            reading.again()  # posts were deleted, and the pages have moved up: what is new may stand before this one
            yield self.page(reading.link.url, reading)
            return
        fresh = [post for post in page.posts if post.id not in reading.met]
        reading.posts += fresh
        reading.met.update(post.id or "" for post in fresh)
        reading.pages.append(response.request.url if response.request else response.url)
        if page.next and fresh and len(reading.pages) < reading.source.depth and askable(page.next):
            yield self.page(page.next, reading)
            return
        deep = bool(page.next and fresh)
        if deep:
            self.ledger.note(reading.source.key, Message("note.deep-threads", pages=reading.source.depth))
        yield self.done(reading, whole=not deep)

    async def thread_failed(self, failure: Failure) -> AsyncIterator[Any]:
        request: Request = failure.request  # type: ignore[attr-defined]
        async for item in self._failed(request.cb_kwargs["reading"], outcome_of(failure)):
            yield item

    async def _failed(self, reading: Reading, outcome: Outcome) -> AsyncIterator[Any]:
        later = outcome.passing and outcome.reason not in MEMBERS_ONLY
        async for item in self._broken(reading, outcome.reason, later=later):
            yield item

    async def _broken(self, reading: Reading, reason: str, *, later: bool = False) -> AsyncIterator[Any]:
        """A page cannot be had or read. The last page of a known thread may be gone: then its first one is asked for; what was read of
        others is kept, and the rest is read another time."""
        if reading.from_the_end and not reading.pages and not later:
            reading.again()
            yield self.page(reading.link.url, reading)
        elif reading.posts:
            yield self.done(reading, whole=False, failure=reason, later=later)
        else:
            await self.ledger.fail(reading.link, reason, later=later)

    def read(self, response: Response, alone: bool) -> ThreadPage:
        asked = next(iter(response.meta.get("redirect_urls", ())), None)
        if asked is not None and _name_of(response.url) in self._listed.get(response.meta["source"], ()):
            raise NotApplicable("gone", f"its address leads to {response.url}, which is a list")
        return read_page(_document(response), self._posts, utcnow(), alone=alone, asked=asked)

    def done(self, reading: Reading, *, whole: bool, failure: str | None = None, later: bool = False) -> Thread:
        link, listed = reading.link, reading.wanted.listed
        told = link.title if link.title and not link.title.endswith(CUT) else None
        title = told or (reading.first.title if reading.first else None) or link.title or link.url
        return Thread(
            url=link.url,
            title=title,
            link=link,
            fetched=utcnow(),
            posts=tuple(reading.posts),
            board=reading.board,
            identity=link.identity,
            last_page=reading.pages[-1] if reading.pages else link.url,
            whole=whole,
            replies=listed.replies,
            listed=listed.last,
            failure=failure,
            later=later,
            language=reading.first.language if reading.first else None,
            category=link.category,
        )

    async def ended(self, key: str) -> None:
        self._told(key)
        await super().ended(key)

    async def finish(self, reason: str) -> None:
        for key in list(self._old):
            self._told(key)
        await super().finish(reason)

    def _told(self, key: str) -> None:
        if number := self._old.pop(key, 0):
            self.ledger.note(key, Message("left.old", number=number))


def _name_of(url: str) -> str:
    """By what a page of a list is known, however it is written."""
    at = read(url)
    return f"{at.key}@{at.place}" if at.key else key_of(url)


def _document(response: Response) -> dom.Document:
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
    return dom.document(Page(url=response.url, body=response.body, fetched=utcnow(), content_type=content_type))
