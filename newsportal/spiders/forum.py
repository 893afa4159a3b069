"""Forums: ``scrapy crawl forum [-a source=NAME]``. Finds boards and threads from the front page (docs/algorithms/forum_ways.md)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from newsportal.crawl.link_tracker import Filtered, utcnow
from newsportal.crawl.list_filters import ThreadEntry, filter_threads
from newsportal.crawl.requests import can_request
from newsportal.errors import NotApplicable
from newsportal.extractors.forum import kinds, post_extractor
from newsportal.extractors.forum.addresses import clean_url, key_of, parse_address
from newsportal.extractors.forum.kinds import ForumPage, Listed
from newsportal.extractors.forum.thread import ThreadPage, read_page
from newsportal.extractors.pages import read_thread
from newsportal.items import Link, Page, Post, Thread
from newsportal.messages import Message
from newsportal.sources import Forum
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.fetcher import Outcome, PageUnavailable, outcome_of, page_of
from newsportal.spiders.multipage import fetch_pages
from newsportal.store.results import SourceState
from newsportal.text import dom

MAX_BOARDS: Final = 200
"""Boards of one forum that are visited: the largest forums known have some hundred; a crawler trap has any number."""

MAX_LEVEL: Final = 3  # Depth of nested boards
NON_LISTS: Final = frozenset({"thread", "post", "login"})  # Kinds of pages whose links are not their content
TRUNCATED: Final = ("…", "...", "..")  # Endings of titles truncated by their list

MEMBERS_ONLY: Final = frozenset({"login", "http-401", "http-403"})  # Permanent reasons

MAX_SECONDS: Final = 1800.0
"""Seconds for further pages of a thread per visit; the next visit continues. Chosen: ten pages of a host with the longest delay."""


@dataclass(slots=True)
class ThreadVisit:
    """A thread being read in this visit, page by page. It is stored in one piece, so a crash costs only its pages."""

    link: Link
    listed: Listed
    source: Forum
    next: str | None
    board: str | None = None
    stored: frozenset[str] = frozenset()
    from_the_end: bool = False
    posts: dict[str | None, Post] = field(default_factory=dict)
    pages: list[str] = field(default_factory=list)
    first: ThreadPage | None = None
    complete: bool = True
    failure: str | None = None
    later: bool = False
    begun: bool = False
    counted: bool = False

    def next_urls(self) -> list[str]:
        url, self.next = self.next, None
        return [url] if url else []

    def add_page(self, found: tuple[str, ThreadPage], requested: str) -> None:
        url, page = found
        self.first = self.first or page
        if self.from_the_end and not self.pages and not any(post.id in self.stored for post in page.posts):
            self._restart()  # posts were deleted, and pages have moved up: new posts may precede this page
            return
        before = len(self.posts)
        for post in page.posts:
            self.posts.setdefault(post.id, post)
        self.pages.append(url)
        if page.next and len(self.posts) > before:
            self.next = page.next if len(self.pages) < self.source.depth and can_request(page.next) else None
            self.complete = self.next is not None

    def reject(self, requested: str, reason: str) -> None:
        self.fail(requested, Outcome(reason, reason))

    def fail(self, requested: str, outcome: Outcome) -> None:
        """Handle a missing page. A known thread's last page may have vanished: start from its first. Else keep what was read, and retry."""
        later = outcome.transient and outcome.reason not in MEMBERS_ONLY
        if self.from_the_end and not self.pages and not later:
            self._restart()
        else:
            self.complete, self.failure, self.later = False, outcome.reason, later

    def stop(self, reason: str) -> None:
        self.complete, self.failure, self.later = False, reason, True

    def _restart(self) -> None:
        self.from_the_end, self.next = False, self.link.url


class ForumSpider(NewsSpider):
    """Reads boards, newest threads first, until all are known; known threads continue from their last page."""

    name = "forum"
    kind = "forum"
    Source = Forum
    places = "forums"
    settled = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._listed = self.values_by_visit(set[str])  # pagers contain cycles, and boards are linked from every page
        self._boards = self.values_by_visit(int)
        self._old = self.values_by_visit(int)

    # lists

    def entry_pages(self, source: Forum) -> Sequence[str]:
        return source.boards or (source.url,)

    def read_links(self, response: Response, source: Forum) -> list[Link | str]:
        found = _classify(page_of(response))
        if found.kind in NON_LISTS:
            raise NotApplicable(found.kind)
        return [*(board.url for board in found.boards), *(self.link(thread, source) for thread in found.threads)]

    def read_page(self, page: Page, link: Link) -> Thread:
        return read_thread(page, link)

    async def visit(self, source: Forum, state: SourceState) -> AsyncIterator[Request]:
        for url in self.entry_pages(source):
            if self._is_new(source, url):
                yield self.list_page(url, source, self.parse_forum, root=True)

    async def parse_forum(
        self, response: Response, source: Forum, root: bool = False, page: int = 1, level: int = 0, board: str | None = None
    ) -> AsyncIterator[Any]:
        found = await self.tracker.readers.read(_classify, page_of(response))
        self._listed[source.key].add(_name_of(response.url))  # a redirect may have led there
        if found.kind == "login" and not root:
            self.tracker.count_skipped_list(source.key, "login")
            self.tracker.note(source.key, Message("note.members-only", url=board or response.url))
            return
        if found.kind == "login":
            raise NotApplicable("login", "only members may read it")
        entries, old = self.entries(found, source)
        filtered = await filter_threads(self.tracker, entries, self, lambda entry: self.thread(entry, source, board))
        for request in filtered.requests:
            yield request
        if not (root and found.threads and parse_address(response.url).kind == "board"):  # else the file names one board
            for request in self._to_boards(found, source, level):
                yield request
        if self._has_next_page(found, source, filtered, page, old) and found.next:
            yield self.list_page(found.next, source, self.parse_forum, page=page + 1, level=level, board=board)
        if root and not entries and not found.boards and not old:
            raise NotApplicable("no-threads", "no boards and no threads found")

    def _to_boards(self, found: ForumPage, source: Forum, level: int) -> Iterable[Request]:
        """Yield requests for boards not visited yet; none if the file lists the boards."""
        if source.boards or level >= MAX_LEVEL:
            return
        for board in found.boards:
            if self._boards[source.key] >= MAX_BOARDS:
                self.tracker.note(source.key, Message("note.too-many-boards", most=MAX_BOARDS))
                return
            if can_request(board.url) and self._is_new(source, board.url):
                self._boards[source.key] += 1
                yield self.list_page(board.url, source, self.parse_forum, level=level + 1, board=board.title)

    def _has_next_page(self, found: ForumPage, source: Forum, filtered: Filtered, page: int, old: int) -> bool:
        """Return whether to fetch the list's next page. Lists are sorted from new to old, so one old thread ends them."""
        if not found.next or page >= source.pages or not can_request(found.next) or (old and not filtered.requests):
            return False
        if not found.threads or (filtered.stale and source.key not in self.thorough):
            return False
        return self._is_new(source, found.next)

    def _is_new(self, source: Forum, url: str) -> bool:
        """Return whether a list was not requested in this visit yet, and mark it as requested."""
        name, requested = _name_of(url), self._listed[source.key]
        if name in requested:
            return False
        requested.add(name)
        return True

    def list_page_failed(self, failure: Failure) -> None:
        """Count a permanently unavailable board (members only, deleted), without failing the whole forum."""
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome = outcome_of(failure)
        if request.cb_kwargs.get("root") or (outcome.transient and outcome.reason not in MEMBERS_ONLY):
            super().list_page_failed(failure)
            return
        key = request.meta["source"]
        self.visited.add(key)
        self.tracker.count_skipped_list(key, outcome.reason)
        self.tracker.note(key, Message("note.board-failed", reason=outcome.reason, board=request.cb_kwargs.get("board") or request.url))

    def entries(self, found: ForumPage, source: Forum) -> tuple[list[tuple[Link, Listed]], int]:
        """Return the threads of a list as links, without those whose last reply is too old, and the number of the latter."""
        oldest = self.began - timedelta(days=source.max_age) if source.max_age else None
        young = [thread for thread in found.threads if oldest is None or thread.last is None or thread.last >= oldest]
        omitted = sum(not thread.sticky for thread in found.threads if thread not in young)
        self._old[source.key] += omitted
        return [(self.link(thread, source), thread) for thread in young], omitted

    def link(self, thread: Listed, source: Forum) -> Link:
        return Link(thread.url, source.key, thread.title, site=source.publisher, category=source.category, identity=thread.key)

    # threads

    def thread(self, entry: ThreadEntry, source: Forum, board: str | None) -> Request:
        """Return the first request of a visit: the thread's first page, or the last page of the previous visit."""
        url = entry.link.url if entry.stored is None else entry.stored.last_page
        return self.first_request(url, entry.link, source, listed=entry.listed, board=board)

    async def thread_visit(self, source: Forum, link: Link, listed: Listed, board: str | None) -> ThreadVisit:
        """Return a thread at the beginning of its visit, in any process. Raises ``StoreError``."""
        reading = ThreadVisit(link, listed, source, link.url, board)
        stored = (await asyncio.to_thread(self.tracker.store.threads.find_stored, [listed.key])).get(listed.key)
        if stored is not None:
            reading.board = board or stored.board
            posts = await asyncio.to_thread(self.tracker.store.threads.posts, stored.id)
            reading.stored = frozenset(post.name for post in posts)
            reading.from_the_end = clean_url(stored.last_page) != clean_url(link.url)
        return reading

    async def read_item(self, first: Response | PageUnavailable, link: Link, **kwargs: Any) -> Thread:
        reading = await self.thread_visit(link=link, **kwargs)
        await fetch_pages(reading, lambda url: self._page(reading, url, first), MAX_SECONDS)
        if reading.failure and not reading.posts:
            raise PageUnavailable(Outcome(reading.failure, link.url, transient=reading.later))
        if not reading.complete and not reading.failure:
            self.tracker.note(reading.source.key, Message("note.long-threads", pages=reading.source.depth))
        return self.done(reading)

    async def _page(self, reading: ThreadVisit, url: str, first: Response | PageUnavailable) -> tuple[str, ThreadPage]:
        """Return the page and its final URL. Raises ``PageUnavailable``, ``NotApplicable``, ``Interrupted``."""
        response = first if not reading.begun else await self.fetch(url, reading.source.key)
        reading.begun = True
        if isinstance(response, PageUnavailable):
            raise response
        if not reading.counted:
            reading.counted = True  # a thread is one entry, however many pages it has
            self.tracker.count(reading.source.key, "fetched")
        page = await self.read(response, not reading.pages and reading.listed.replies in (0, None))
        return response.request.url if response.request else response.url, page

    async def read(self, response: Response, alone: bool) -> ThreadPage:
        requested = next(iter(response.meta.get("redirect_urls", ())), None)
        if requested is not None and _name_of(response.url) in self._listed.get(response.meta["source"], ()):
            raise NotApplicable("gone", f"its URL redirects to {response.url}, a list page")
        found: ThreadPage = await self.tracker.readers.read(_read, page_of(response), alone, requested)
        return found

    def done(self, reading: ThreadVisit) -> Thread:
        link, entry = reading.link, reading.listed
        list_title = link.title if link.title and not link.title.endswith(TRUNCATED) else None
        title = list_title or (reading.first.title if reading.first else None) or link.title or link.url
        return Thread(
            url=link.url,
            title=title,
            link=link,
            fetched=utcnow(),
            posts=tuple(reading.posts.values()),
            board=reading.board,
            identity=link.identity,
            last_page=reading.pages[-1] if reading.pages else link.url,
            whole=reading.complete,
            replies=entry.replies,
            listed=entry.last,
            failure=reading.failure,
            later=reading.later,
            language=reading.first.language if reading.first else None,
            category=link.category,
        )

    def report_skipped(self, key: str) -> None:
        if number := self._old.pop(key, 0):
            self.tracker.note(key, Message("skipped.old", number=number))


def _classify(page: Page) -> ForumPage:
    return kinds.classify(dom.document(page), page.fetched)


def _read(page: Page, alone: bool, requested: str | None) -> ThreadPage:
    return read_page(dom.document(page), post_extractor("best"), page.fetched, single=alone, requested=requested)


def _name_of(url: str) -> str:
    """Return a key for a page of a list, independent of the spelling of its URL."""
    location = parse_address(url)
    return f"{location.key}@{location.place}" if location.key else key_of(url)
