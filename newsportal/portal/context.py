"""The state that pages share: a :class:`Portal`, made by ``create_app`` and found through the request, and a :class:`Visit` per request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, cast
from urllib.parse import quote

from fastapi import Depends
from starlette.requests import Request

from newsportal.errors import Problem, SearchError, StoreError
from newsportal.portal import navigation
from newsportal.portal.access import RateLimit, address_of, identity_of, may
from newsportal.portal.language import Clock, choose, translations
from newsportal.portal.monitor.queues import Queues
from newsportal.portal.navigation import MenuEntry, Site, site_of
from newsportal.portal.preferences import CHOICES, Preferences, preferences
from newsportal.portal.reading.front_cache import FrontCache
from newsportal.portal.ttl_cache import BackgroundCache, Compilations, CostlyValue, T, TtlCache
from newsportal.recommend.formulas import ALPHA
from newsportal.search.base import Hit, Index
from newsportal.search.overview import Overview, overview
from newsportal.services.accounts import Accounts, Identity, Right
from newsportal.services.accounts.marks import StoryMarks
from newsportal.services.events.timeline import related
from newsportal.sources import Source, Sources, categories
from newsportal.sources.timing import ENGINE, SourceHealth, SourceRef, monitored_sources, refusal, sources_health
from newsportal.store.reader_views import Month
from newsportal.store.results import StoredArticle, Story, Tally, is_gallery
from newsportal.store.store import Store

if TYPE_CHECKING:
    from newsportal.portal.reading.picture_proxy import PictureProxy
    from newsportal.services.recommending.serving import Recommender

TALLY_SECONDS, TALLY_SPARE, TALLY_SLOW = 5.0, 20.0, 0.05
"""The totals may be this old, and 20 times as long as counting took, so that counting uses at most a twentieth of a processor. Counts that
take longer than ``TALLY_SLOW`` seconds run in a thread of their own."""

HEALTH_SECONDS, HEALTH_SPARE = 60.0, 10.0
"""Maximum age of the sources' health: it takes seconds for thousands of sources, a minute for a hundred thousand."""

READING_SECONDS = 60.0  # maximum age of the monitor's months: counting them reads every view and offer
OVERVIEW_SECONDS = 120.0  # maximum age of a topic's figures: each takes a search through thousands of reports
ASSISTANT_BURST, ASSISTANT_PER_SECOND = 20.0, 1 / 120  # questions of one person to the assistant: its budget is shared by all
RELATED = 6  # related stories shown, of the same event and others
RELATED_SECONDS = 900.0

RELATED_WITHIN = 0.05
"""Maximum wait for related stories, in seconds: among a million articles the search may take ten times that. The next reader gets them."""

MAX_DIGITS = 18  # digits of a number in a URL: as many as every database accepts
MAX_QUERY = 2000  # characters of a query that a page repeats in its forms; a search for 10 kB of words is answered, but not repeated


def utc_now() -> datetime:
    return datetime.now(UTC)


ReadingFigures = tuple[tuple[datetime, Mapping[str, Any]] | None, Sequence[Month]]  # time and figures of the last training; months


@dataclass(frozen=True)
class Portal:
    """The store, the index (None: no search), ``sources.yaml``, and the clock.

    ``picture_proxy`` None: browsers fetch pictures from their publishers. ``pace`` limits recordings of readers; ``unrecorded`` counts
    those that a busy store did not accept (``seen``, ``record_offer``), for ``/health``.
    ``first_config``: ``config`` when store and index were opened. ``file_errors``: the errors in the file since it was changed.
    ``restart_keys``: the keys whose change takes effect after a restart. ``has_crawler``: a crawl runs beside the portal.
    """

    store: Store
    index: Index | None
    config: Sources
    accounts: Accounts = field(repr=False, compare=False)
    now: Callable[[], datetime] = utc_now
    picture_proxy: PictureProxy | None = field(default=None, repr=False, compare=False)
    pace: RateLimit = field(default_factory=RateLimit, repr=False, compare=False)
    unrecorded: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    queues: Callable[[], Queues] | None = field(default=None, repr=False, compare=False)
    first_config: Sources | None = field(default=None, repr=False, compare=False)
    file_errors: tuple[Problem, ...] = ()
    restart_keys: tuple[str, ...] = ()
    has_crawler: bool = False
    _reading: TtlCache[ReadingFigures] = field(default_factory=lambda: TtlCache(READING_SECONDS, 1), repr=False, compare=False)
    _overviews: TtlCache[Overview] = field(default_factory=lambda: TtlCache(OVERVIEW_SECONDS, 200), repr=False, compare=False)
    assistant_pace: RateLimit = field(default_factory=lambda: RateLimit(ASSISTANT_BURST, ASSISTANT_PER_SECOND), repr=False, compare=False)
    compilations: Compilations = field(default_factory=Compilations, repr=False, compare=False)
    _related: BackgroundCache[list[str]] = field(
        default_factory=lambda: BackgroundCache(TtlCache(RELATED_SECONDS, 2_000), RELATED_WITHIN), repr=False, compare=False
    )

    @cached_property
    def site(self) -> Site:
        return site_of(self.config)

    @cached_property
    def sources(self) -> tuple[SourceRef, ...]:
        return monitored_sources(self.config)

    @cached_property
    def counts(self) -> CostlyValue[Tally]:
        return CostlyValue(self.store.tally, "counts", TALLY_SECONDS, TALLY_SPARE, TALLY_SLOW)

    def stop(self) -> None:
        """Wait for the background threads, because the store is closed next."""
        self.counts.stop()
        self._related.stop()

    def tally(self) -> Tally:
        """Return the store's totals, some seconds old: counting reads every row of a label, and every page shows some."""
        return self.counts.get()

    def reading(self) -> ReadingFigures:
        """Return the last training and the figures of the months, earliest first, at most ``READING_SECONDS`` old."""

        def read() -> ReadingFigures:
            fit = next(iter(self.store.readers.fits()), None)
            alpha = float(fit[1].get("alpha", ALPHA)) if fit else ALPHA
            return fit, self.store.readers.months(alpha=alpha)

        return self._reading.get("reading", read)

    @cached_property
    def health_cache(self) -> CostlyValue[list[SourceHealth]]:
        return CostlyValue(self._judge, "health", HEALTH_SECONDS, HEALTH_SPARE)

    def _judge(self) -> list[SourceHealth]:
        """Judge the sources of ``sources.yaml``, or all that were ever visited if it has none."""
        sources = self.sources or tuple(SourceRef(state.source, state.source.partition(":")[2]) for state in self.store.source_states())
        return sources_health(self.store, sources, self.now().astimezone(self.site.zone))

    def health(self) -> list[SourceHealth]:
        """Return the health of the sources, about a minute old."""
        return self.health_cache.get()

    def overview(self, topic: str) -> Overview | None:
        """Return the figures of ``topic``, some minutes old; None without an index or while it is unavailable."""
        index, now = self.index, self.now()
        if index is None:
            return None
        try:
            return self._overviews.get(topic, lambda: overview(index, topic, now=now, zone=self.site.zone))
        except SearchError:
            return None

    def related(self, article: StoredArticle) -> tuple[Story, ...]:
        """Return stories of the same event, then similar ones; none while the index is unavailable or until they are found."""
        store, index = self.store, self.index
        try:
            ids = self._related.get((article.id, article.revision), lambda: related(store, index, article, RELATED)) or ()
        except (SearchError, StoreError):
            return ()
        return tuple(self.store.by_id(ids).values()) if ids else ()  # read again: stories that editors hide disappear at once

    @cached_property
    def fronts(self) -> FrontCache:
        return FrontCache(self.store)

    @cached_property
    def recommender(self) -> Recommender:
        """The recommender, made on first use: it reads the trained model and new articles."""
        from newsportal.services.recommending.serving import Recommender

        return Recommender(self.store, self.site.recommendation)

    @cached_property
    def by_key(self) -> Mapping[str, Source]:
        return {source.key: source for source in self.config.all()}

    def topics(self) -> tuple[str, ...]:
        """Return the topics of ``sources.yaml`` in its order, then those that are only in the store."""
        return tuple(dict.fromkeys((*self.site.topics, *self.tally().by_topic)))

    def renamed_topic(self, name: str) -> str | None:
        """Return ``name`` if it is a topic, else the present name of one that was called so, by the log of changes."""
        if name in self.topics():
            return name
        for entry in reversed(self.accounts.audit_log.entries(action="topic.change")):
            name = entry.subject if entry.details.get("before") == name else name
        return name if name in self.topics() else None


class Visit:
    """One request of a reader: the portal, preferences, language and clock. ``params``: the query parameters."""

    def __init__(self, request: Request) -> None:
        self.request: Request = request
        self.portal: Portal = request.app.state.portal
        self.params = request.query_params
        self.preferences: Preferences = preferences(request.cookies)
        self._pictures: dict[str, int] = {}
        self._marked = StoryMarks()

    @cached_property
    def language(self) -> str:
        """``?lang=``, else the cookie, else ``Accept-Language``, else the portal's default."""
        requested = self.params.get("lang")
        language = requested if requested in CHOICES["lang"] else self.preferences.lang
        return choose(language, self.request.headers.get("accept-language", ""), self.portal.site.language)

    @cached_property
    def clock(self) -> Clock:
        return Clock(self.portal.now(), self.portal.site.zone, self.language, translations(self.language))

    def say(self, message: str, **params: object) -> str:
        """Translate ``message`` into the reader's language and insert ``params``."""
        return self.clock.say(message, **params)

    @property
    def signed_in(self) -> Identity | None:
        return identity_of(self.request)

    def may(self, right: str) -> bool:
        """Return whether the visitor has ``right`` (a name of :class:`newsportal.services.accounts.Right`, in templates)."""
        return may(self.request, Right(right))

    def entries(self, name: str, store: bool = True) -> list[MenuEntry]:
        """Return the entries of a list in ``portal.navigation`` that this visitor can open. ``store`` False: do not query the store."""
        return [entry for entry in getattr(navigation, name) if entry.is_available(self, store)]

    def desk(self) -> list[tuple[str, list[MenuEntry]]]:
        """Return the pages of the desk that the visitor may open, in groups."""
        return [(name, links) for name, entries in navigation.DESK if (links := [entry for entry in entries if entry.is_available(self)])]

    def categories(self) -> list[str]:
        return categories.names(self.portal.config, self.portal.tally().by_category)

    def refusals(self, topics: Collection[str]) -> dict[str, list[str]]:
        """Return by topic why engines do not respond: the reason, since when, and when they are tried again."""
        configured = {name: topic for name in topics if (topic := self.portal.config.topic(name))}
        states = {state.source: state for state in self.portal.store.source_states()} if configured else {}
        now = self.clock.now
        reasons = {name: [refusal(key, states.get(f"{ENGINE}{key}"), now) for key in topic.engines] for name, topic in configured.items()}
        return {name: [self.clock.says(reason) for reason in reasons.get(name, ()) if reason] for name in topics}

    @property
    def has_photos(self) -> bool:
        """Whether the portal has photo stories: the bar on top links to them only then."""
        return any(is_gallery(source) for source in self.portal.tally().by_source)

    def pictures(self, article_id: str) -> int:
        if article_id not in self._pictures:
            self._pictures |= {article_id: 0, **self.portal.store.galleries.sizes([article_id])}
        return self._pictures[article_id]

    def preload(self, values: Mapping[str, Any]) -> None:
        """Load the picture counts and the reader's marks for all stories in ``values``, with one query each."""
        items = list(stories(values))
        if ids := list(photo_stories(items)):
            self._pictures |= {**dict.fromkeys(ids, 0), **self.portal.store.galleries.sizes(ids)}
        if self.keeps_marks:
            marked = dict.fromkeys(story.story_id if isinstance(story, Hit) else story.id for story in items)
            self._marked = self.marks_on(list(marked))

    @cached_property
    def keeps_marks(self) -> bool:
        return self.signed_in is not None and self.may("keep")

    def marks_on(self, ids: Collection[str]) -> StoryMarks:
        """Return the reader's marks on these stories; none without an account that keeps marks."""
        if not self.keeps_marks or self.signed_in is None:
            return StoryMarks()
        return self.portal.accounts.marks.of(self.signed_in.person.id, ids)

    def read(self, story: Story | str) -> bool:
        """Return whether the reader has read a story of this page. Of a hit only the id is known: its own mark counts."""
        if isinstance(story, Story):
            return self._marked.read(story)
        mark = self._marked.marks.get(story)
        return mark is not None and bool(mark.read)

    def starred(self, story_id: str) -> bool:
        return self._marked.starred(story_id)

    def cached_compilation(self, make: Callable[[], T], until: datetime, *key: Hashable) -> T:
        """Return the result of ``make`` up to ``until``, minutes old unless articles were hidden since. See :meth:`Compilations.get`."""
        return self.portal.compilations.get(address_of(self.request), make, until, *key, *self.portal.store.last_hidden())

    @property
    def current_url(self) -> str:
        """Path and query of this page, to return to after a choice of theme or language. ``/settings`` returns to itself."""
        path = quote(self.request.scope["path"])
        if path == "/settings":
            return path
        query = self.request.url.query
        return f"{path}?{query}" if query and len(query) < MAX_QUERY else path

    def integer(self, name: str, otherwise: int = 1) -> int:
        """Return a parameter as an integer of 0 or more; ``otherwise`` if it is missing or invalid."""
        text = self.params.get(name) or ""
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else otherwise

    def text(self, name: str, limit: int = 200) -> str | None:
        """Return a parameter stripped and cut to ``limit`` characters; None if missing or blank. A renamed topic has its present name."""
        value = (self.params.get(name) or "")[:limit].strip() or None
        return self.portal.renamed_topic(value) or value if value and name == "topic" else value


async def visit_of(request: Request) -> Visit:
    return Visit(request)


async def portal_of(request: Request) -> Portal:
    return cast(Portal, request.app.state.portal)


VisitDep = Annotated[Visit, Depends(visit_of)]
PortalDep = Annotated[Portal, Depends(portal_of)]
PLAIN: Final = (str, int, float, datetime, NoneType)  # types of most template values, tested first, because a search page has thousands


def stories(values: Any) -> Iterator[Story | Hit]:
    """Yield the stories and hits in a template's values, also inside lists, mappings and dataclasses."""
    if isinstance(values, PLAIN):
        return
    if isinstance(values, Story | Hit):
        yield values
    elif isinstance(values, Mapping | list | tuple):
        for value in values.values() if isinstance(values, Mapping) else values:
            yield from stories(value)
    elif is_dataclass(values):
        for item in fields(values):
            yield from stories(getattr(values, item.name))


def photo_stories(values: Any) -> Iterator[str]:
    """Yield the ids of photo stories that are the head of their story."""
    return (story.head.id for story in stories(values) if isinstance(story, Story) and is_gallery(story.head.source))
