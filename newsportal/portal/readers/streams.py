"""The feeds that reader apps list, with a folder for each kind: topics, sources and saved searches; and the streams of stories that apps
request: a feed, a folder, everything, or starred stories; filtered by read and starred, in either order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final, Literal

from newsportal.items import content_id
from newsportal.portal.account.marks import accounts_and_person, existing_stories
from newsportal.portal.context import MAX_DIGITS, Visit
from newsportal.portal.language import _, translations
from newsportal.portal.reading.feeds import base_address, feed_addresses
from newsportal.portal.reading.search import feed_of
from newsportal.portal.reading.search_query import parse_search, search_index
from newsportal.portal.render import address, topic_address
from newsportal.services.accounts.marks import EVERYTHING, Search
from newsportal.store.lists import cursor, cursor_of, parse_cursor
from newsportal.store.results import Story, StoryFilter
from newsportal.text import clean

Kind = Literal["topic", "source", "search"]

FOLDERS: Final[Mapping[Kind, str]] = {"topic": _("Topics"), "source": _("Sources"), "search": _("Saved searches")}
MAX_SOURCES: Final = 500  # those with most articles: apps download the list of feeds at every synchronisation
FEED_ID_DIGITS: Final = 7  # hexadecimal: apps for Fever store the id of a feed as a signed 32-bit number


@dataclass(frozen=True, slots=True)
class Subscription:
    """A feed of the list. ``key``: the topic's name, the source's key, or the id of the search."""

    kind: Kind
    key: str
    title: str
    home: str
    url: str

    @property
    def id(self) -> str:
        return f"feed/{self.kind}/{self.key}"

    @property
    def number(self) -> int:
        return int(content_id(self.id)[:FEED_ID_DIGITS], 16)


class Subscriptions:
    """The feeds of the signed-in person, who must have ``Right.KEEP``."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self.base = base_address(visit.request)
        words = translations(visit.portal.site.language)  # not in the app's language: folders must keep their names
        self.folders: dict[Kind, str] = {kind: words.gettext(title) for kind, title in FOLDERS.items()}

    @cached_property
    def searches(self) -> dict[str, Search]:
        """Saved searches by id."""
        accounts, person = accounts_and_person(self._visit)
        return {search.id: search for search in accounts.searches.of(person)}

    @cached_property
    def all(self) -> tuple[Subscription, ...]:
        portal = self._visit.portal
        feeds = [self._subscription("topic", name, name, topic_address(name), feed_addresses(name, name).rss) for name in portal.topics()]
        by_source = portal.tally().by_source
        for key in sorted(by_source, key=lambda key: (-by_source[key], key))[:MAX_SOURCES]:
            source = portal.by_key.get(key)
            title = source.name if source is not None else key.partition(":")[2] or key
            home = address("/latest", source=key)
            feeds.append(self._subscription("source", key, title, home, feed_addresses(title, None, {"source": key}).rss))
        for search in self.searches.values():
            parsed = parse_search(portal, search.query)
            feeds.append(self._subscription("search", search.id, search.name, parsed.address(), feed_of(parsed, self._visit).rss))
        return tuple(feeds)

    def _subscription(self, kind: Kind, key: str, title: str, home: str, url: str) -> Subscription:
        return Subscription(kind, key, clean(title) or key, self.base + home, self.base + url)

    @cached_property
    def by_id(self) -> dict[str, Subscription]:
        return {feed.id: feed for feed in self.all}

    def home_of(self, story: Story) -> Subscription | None:
        """Return the one feed in which apps show ``story``."""
        ids = (*(f"feed/topic/{name}" for name in story.head.topics), f"feed/source/{story.head.source}")
        return next((self.by_id[id] for id in ids if id in self.by_id), None)


STATE: Final = "/state/com.google/"
PAGE: Final = 250  # stories per page of the store
MAX_PAGES: Final = 40  # pages that one request reads: 10,000 stories

UNREAD_FOR: Final = timedelta(days=30)
"""Older stories do not count as unread: otherwise an app would download the whole archive at its first sign-in."""

MAX_DELAY: Final = timedelta(days=3)
"""Stories that arrived since a time are searched among those published up to this long before it: crawls find most within hours."""

READ, STARRED, ALL = "read", "starred", "reading-list"


@dataclass(frozen=True, slots=True)
class Stream:
    """``state``: reading-list, starred or read; else a feed (``of``) or a folder."""

    state: str | None = None
    of: Subscription | None = None
    folder: Kind | None = None


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """Filters of a stream. ``unread`` True: unread stories only; False: read ones only. ``since``: arrived since; ``until``: published
    before. ``cursor``: continue after the previous page."""

    limit: int
    cursor: str | None = None
    unread: bool | None = None
    starred: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    oldest_first: bool = False


Page = tuple[Sequence[tuple[Story, str]], bool]  # stories, each with the cursor after it, and whether there are more


def parse_stream(id: str, subscriptions: Subscriptions) -> Stream | None:
    """Return the stream of an id such as ``feed/topic/旅游`` or ``user/-/state/com.google/starred``; None if it is unknown."""
    if id in subscriptions.by_id:
        return Stream(of=subscriptions.by_id[id])
    _user, _slash, rest = id.removeprefix("user/").partition("/")  # `user/` is followed by `-` or an id
    if not id.startswith("user/"):
        return None
    state = f"/{rest}".removeprefix(STATE)
    if state in (READ, STARRED, ALL):
        return Stream(state)
    return next((Stream(folder=kind) for kind, name in subscriptions.folders.items() if rest == f"label/{name}"), None)


def parse_moment(text: str | None) -> datetime | None:
    """Parse a time in seconds, milliseconds, microseconds or nanoseconds since 1970, chosen by the number of digits; None if invalid."""
    if not text or not (text.isascii() and text.isdecimal()) or len(text) > MAX_DIGITS + 1:
        return None
    digits, number = len(text), int(text)
    scale = 1 if digits <= 11 else 10**3 if digits <= 14 else 10**6 if digits <= 17 else 10**9
    return datetime.fromtimestamp(number / scale, UTC)


class Streams:
    """The streams of the signed-in person. Blocking; raises the errors of the store and of search."""

    def __init__(self, visit: Visit) -> None:
        self._visit, self.subscriptions = visit, Subscriptions(visit)
        self._portal = visit.portal
        self.accounts, self.person = accounts_and_person(visit)

    def read(self, stream: Stream, query: StreamQuery) -> tuple[list[Story], str | None]:
        """Return a page of the stream and the cursor of the next one (None: there is none)."""
        stories: list[Story] = []
        for story, position in self.walk(stream, query):
            stories.append(story)
            if len(stories) == query.limit:
                return stories, position
        return stories, None

    def walk(self, stream: Stream, query: StreamQuery) -> Iterator[tuple[Story, str]]:
        """Yield matching stories, each with the cursor after it, from at most :data:`MAX_PAGES` pages."""
        page, position = self._pages(stream, query), query.cursor
        oldest = self._oldest(query)
        for _look in range(MAX_PAGES):
            stories, more = page(position)
            marked = self._visit.marks_on([story.id for story, _ in stories])
            for story, position in stories:
                if oldest is not None and not query.oldest_first and story.head.moment < oldest and stream.state != STARRED:
                    return
                read, starred = marked.read(story), marked.starred(story.id)
                if query.unread is read or query.starred not in (None, starred) or not self._matches(story, stream, read, query):
                    continue
                yield story, position
            if not more:
                return

    def unread(self, limit: int) -> list[Story]:
        """Return unread stories, newest first."""
        return self.read(Stream(ALL), StreamQuery(limit, unread=True))[0]

    def _oldest(self, query: StreamQuery) -> datetime | None:
        limits = [query.since - MAX_DELAY] if query.since else []
        limits += [self._portal.now() - UNREAD_FOR] if query.unread else []
        return max(limits, default=None)

    def _matches(self, story: Story, stream: Stream, read: bool, query: StreamQuery) -> bool:
        if (query.since and story.first_seen < query.since) or (query.until and story.head.moment >= query.until):
            return False
        if stream.folder in ("topic", "source"):
            home = self.subscriptions.home_of(story)
            return home is not None and home.kind == stream.folder
        return read or stream.state != READ

    def _pages(self, stream: Stream, query: StreamQuery) -> Callable[[str | None], Page]:
        if stream.state == STARRED:
            return self._starred_page
        if stream.folder == "search":
            return lambda _behind: self._searches_page()
        if stream.of is not None and stream.of.kind == "search":
            search = stream.of.key
            return lambda position: self._hits(search, int(position) if position and position.isdecimal() and len(position) < 7 else 0)
        selection = StoryFilter(limit=PAGE)
        if stream.of is not None:
            selection = replace(selection, topic=stream.of.key) if stream.of.kind == "topic" else replace(selection, source=stream.of.key)
        if query.oldest_first:
            first = cursor(self._oldest(query) or datetime(2000, 1, 1, tzinfo=UTC), "")
            return lambda position: self._store_page(replace(selection, after=position or first))
        start = cursor(query.until, "") if query.until else None
        return lambda position: self._store_page(replace(selection, before=position or start))

    def _store_page(self, selection: StoryFilter) -> Page:
        page = self._portal.store.stories(selection)
        if selection.after is not None:
            return [(story, cursor_of(story)) for story in reversed(page.stories)], len(page.stories) == selection.limit
        return [(story, cursor_of(story)) for story in page.stories], page.next is not None

    def _starred_page(self, position: str | None) -> Page:
        rows = self.accounts.marks.starred(self.person, before=parse_cursor(position), limit=PAGE)
        stories = self._portal.store.by_id([id for _, id in rows])
        starred = {stories[id].id: (stories[id], cursor(since, id)) for since, id in rows if id in stories}
        return list(starred.values()), len(rows) == PAGE

    def _hits(self, search: str, offset: int) -> Page:
        parsed = replace(parse_search(self._portal, self.subscriptions.searches[search].query), sort="time", page=1, folds=None)
        if self._portal.index is None or parsed.empty:
            return [], False
        query = replace(parsed.query(self._visit.clock.now, self._visit.clock.zone, limit=PAGE), offset=offset)
        hits = search_index(self._portal, self._portal.index, query).hits
        stories = self._portal.store.by_id([hit.story_id for hit in hits])
        results = [(stories[hit.story_id], str(offset + place)) for place, hit in enumerate(hits, 1) if hit.story_id in stories]
        return results, len(hits) == PAGE

    def _searches_page(self) -> Page:
        """Return the newest stories of each search of the folder."""
        by_id = {story.id: story for search in self.subscriptions.searches for story, _ in self._hits(search, 0)[0]}
        newest = sorted(by_id.values(), key=lambda story: (story.head.moment, story.id), reverse=True)
        return [(story, "") for story in newest], False

    def mark(self, stories: Sequence[str], *, read: bool | None = None, starred: bool | None = None) -> None:
        """Mark stories as read or starred. Unknown ids are ignored. Raises ``TooManyStarred``."""
        ids, now = [story.id for story in existing_stories(self._visit, list(stories))], self._portal.now()
        if read is not None:
            self.accounts.marks.set_read(self.person, ids, read, now=now)
        for id in ids if starred is not None else ():
            self.accounts.marks.star(self.person, id, bool(starred), now=now)

    def mark_all(self, stream: Stream, until: datetime | None) -> None:
        """Mark everything in the stream that arrived by ``until`` (None: now) as read."""
        now = self._portal.now()
        at = min(until or now, now)
        topic = stream.of.key if stream.of is not None and stream.of.kind == "topic" else EVERYTHING if stream.state == ALL else None
        if topic is None:
            ids = [story.id for story, _ in self.walk(stream, StreamQuery(PAGE * MAX_PAGES, unread=True)) if story.first_seen <= at]
            self.accounts.marks.set_read(self.person, ids, True, now=now)
        elif self.accounts.marks.of(self.person, ()).read_until.get(topic, at - MAX_DELAY) < at:  # a late request does not undo a newer one
            self.accounts.marks.mark_all_read(self.person, topic, now=at)
