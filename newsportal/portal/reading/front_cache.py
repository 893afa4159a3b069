"""The parts of the front page that all its readers share: queried once and cached until the store changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic

from newsportal.store.lists import RankedStory, rank_stories
from newsportal.store.results import Story, StoryFilter, StoryPage
from newsportal.store.store import Store

BOARD_STORIES = 5
CHOICE = 3 * BOARD_STORIES  # stories queried for a board, because those shown above it are left out
RANKED_STORIES = 10
MAX_BOARDS = 12  # further topics are reached through the bar on top; each board costs a query
LATEST = 20
HOTTEST = 6
HOT_FOR = timedelta(days=2)  # a story reported everywhere the day before yesterday is no longer the news
COUNTED = 100  # newest stories among which those since the last visit are counted; beyond it «more than» is shown
KEPT_SECONDS = 30.0  # maximum age if the store does not change: heat decays
SLOW_SECONDS = 0.1
SPARE = 10.0
"""What took longer than :data:`SLOW_SECONDS` is shown ten times as long despite changes of the store, because a crawl writes every second.
Changes of shown stories (hidden, deleted, revised, folded) are shown at once, and so is the very first story."""


@dataclass(frozen=True, slots=True)
class Board:
    """A topic on the front page (None: all). ``count`` is the number of all its stories; only one of the lists is filled."""

    topic: str | None
    count: int
    stories: tuple[Story, ...] = ()
    ranked: tuple[RankedStory, ...] = ()

    def new(self, since: datetime | None) -> int:
        """Return how many of the shown stories are new or were reported again after ``since``."""
        stories = [*self.stories, *(entry.story for entry in self.ranked)]
        return sum(story.last_seen > since for story in stories) if since else 0


@dataclass(frozen=True, slots=True)
class Front:
    """``latest``: the first page of the list; ``newest``: when the newest stories were last seen, for counting."""

    latest: StoryPage
    hot: tuple[Story, ...]
    boards: tuple[Board, ...]
    newest: tuple[datetime, ...]

    def new(self, since: datetime | None) -> int:
        return sum(moment > since for moment in self.newest) if since else 0

    def articles(self) -> set[str]:
        """Return the ids of the shown articles."""
        boards = [story for board in self.boards for story in (*board.stories, *(entry.story for entry in board.ranked))]
        return {story.head.id for story in (*self.latest.stories, *self.hot, *boards)}


def query_front(store: Store, topics: Sequence[str], counts: dict[str, int], now: datetime, *, by_rank: bool) -> Front:
    """Query the front page: some 15 lists of the store."""
    latest = store.stories(StoryFilter(limit=LATEST))
    newest = tuple(story.last_seen for story in store.stories(StoryFilter(limit=COUNTED)).stories) if latest.stories else ()
    hot = store.stories(StoryFilter(order="hottest", since=now - HOT_FOR, limit=RANKED_STORIES if by_rank else 2 * HOTTEST)).stories
    if not by_rank:
        boards = [Board(topic, counts.get(topic, 0), store.stories(StoryFilter(topic=topic, limit=CHOICE)).stories) for topic in topics]
        return Front(latest, hot, tuple(boards), newest)
    boards = [Board(None, 0, ranked=rank_stories(store.story, hot, now=now))]
    for topic in topics:
        hottest = store.stories(StoryFilter(topic=topic, order="hottest", limit=RANKED_STORIES)).stories
        boards.append(Board(topic, counts.get(topic, 0), ranked=rank_stories(store.story, hottest, now=now)))
    return Front(latest, hot, tuple(boards), newest)


@dataclass(frozen=True, slots=True)
class _CachedFront:
    front: Front
    seq: int
    options: tuple[object, ...]
    at: float
    took: float


class FrontCache:
    """The front pages of a store, one per order. Thread-safe: one thread queries while the others wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._fronts: dict[bool, _CachedFront] = {}
        self._locks = {True: Lock(), False: Lock()}

    def get(self, topics: Sequence[str], counts: dict[str, int], now: datetime, *, by_rank: bool) -> Front:
        """Return the front page, from the cache if it is valid. Raises ``StoreError``."""
        options = (tuple(topics[:MAX_BOARDS]), tuple(counts.get(topic, 0) for topic in topics[:MAX_BOARDS]))
        with self._locks[by_rank]:
            cached, seq = self._fronts.get(by_rank), self._store.last_seq()
            if cached is None or not self._is_valid(cached, seq, options):
                began = monotonic()
                front = query_front(self._store, options[0], counts, now, by_rank=by_rank)
                cached = self._fronts[by_rank] = _CachedFront(front, seq, options, monotonic(), monotonic() - began)
            return cached.front

    def _is_valid(self, cached: _CachedFront, seq: int, options: tuple[object, ...]) -> bool:
        age = monotonic() - cached.at
        if cached.seq == seq or cached.took <= SLOW_SECONDS or not cached.front.latest.stories:
            return cached.seq == seq and cached.options == options and age < max(KEPT_SECONDS, SPARE * cached.took)
        changes = self._store.changes(cached.seq, limit=1000) if age < SPARE * cached.took else None
        return changes is not None and len(changes) < 1000 and cached.front.articles().isdisjoint(change.id for change in changes)
