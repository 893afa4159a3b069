"""What the store answers, and what it is asked for: articles and stories as they are stored, filters, changes, the state of sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import urlsplit

from newsportal.items import Image, TopicMark
from newsportal.schedule.policies import HubPage

FIRST: Final = timedelta(hours=6)
"""The first hours, in which news is taken over if it ever is (the story page names them). Chosen, not measured."""


@dataclass(frozen=True, slots=True)
class Spread:
    """``steps``: the moments at which another site had the story, ascending; the n-th brought the n-th site.

    ``hours`` lie between the first and the last of them; ``at_first`` sites had the story within the :data:`FIRST` hours.
    """

    steps: tuple[datetime, ...]

    @property
    def sites(self) -> int:
        return len(self.steps)

    @property
    def hours(self) -> float:
        return (self.steps[-1] - self.steps[0]) / timedelta(hours=1) if self.steps else 0.0

    @property
    def at_first(self) -> int:
        return sum(step - self.steps[0] <= FIRST for step in self.steps)

    @property
    def per_hour(self) -> float | None:
        """Sites an hour after the first one; ``None`` while there is no other, or all came at one moment."""
        return (self.sites - 1) / self.hours if self.hours else None


Outcome = Literal["stored", "folded", "same", "revised"]
"""What ``add`` did: a new story, a new version of a story, nothing (known, unchanged), or a newer text of a known article."""

Order = Literal["newest", "hottest"]


def host(url: str) -> str:
    """The host of ``url`` in lower case, ``""`` where it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


FORUM = "forum:"  # how the names of the sources of threads begin: an article of such a source is a thread


def is_thread(source: str) -> bool:
    """Whether an article of this source is a forum's thread."""
    return source.startswith(FORUM)


GALLERY = "gallery:"  # how the names of the sources of photo stories begin: an article of such a source is a photo story


def is_gallery(source: str) -> bool:
    """Whether an article of this source is a photo story."""
    return source.startswith(GALLERY)


@dataclass(frozen=True, slots=True)
class Added:
    outcome: Outcome
    id: str
    story_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredArticle:
    """An article as it is kept. ``moment`` is the time it is sorted by: published, but never later than first seen (else a page that
    is dated in 2099 would lead every list for years)."""

    id: str
    story_id: str
    identity: str
    url: str
    title: str
    first_seen: datetime
    fetched: datetime
    source: str
    text: str = field(default="", repr=False)
    html: str | None = field(default=None, repr=False)
    summary: str | None = None
    published: datetime | None = None
    author: str | None = None
    origin: str | None = None
    site: str | None = None
    language: str | None = None
    category: str | None = None
    category_by: str | None = None  # source, lexicon, model VERSION, editor
    category_score: float | None = None
    category_reason: str | None = None
    topics: tuple[str, ...] = ()
    topic_marks: tuple[TopicMark, ...] = ()
    keywords: tuple[str, ...] = ()  # the weightiest first
    images: tuple[Image, ...] = ()
    algorithm: str | None = None
    revision: int = 1
    fold_of: str | None = None
    fold_reason: str | None = None
    fold_score: float | None = None
    corrected: datetime | None = None  # when an editor corrected it last; who, and which fields (title, text, published, author)
    corrected_by: str | None = None
    corrected_fields: tuple[str, ...] = ()
    hidden: datetime | None = None  # since when an editor hides it from readers, who, and why
    hidden_by: str | None = None
    hidden_reason: str | None = None

    @property
    def publisher(self) -> str:
        """Who counts as one site: its name, else the host of the URL."""
        return self.site or host(self.url)

    @property
    def moment(self) -> datetime:
        return min(self.published, self.first_seen) if self.published else self.first_seen


@dataclass(frozen=True, slots=True)
class Story:
    """One story: its original (``head``; ``store/folding.py`` has the rule) and every version, the original first, then by time.

    ``sites`` counts distinct sites; ``heat`` is what "hottest" is ordered by. In lists ``versions`` is empty and the
    head's ``text`` is cut to 300 characters; ``Store.story`` fills both.
    """

    id: str
    head: StoredArticle
    count: int
    sites: int
    first_seen: datetime
    last_seen: datetime
    versions: tuple[StoredArticle, ...] = ()
    heat: float = 0.0

    @property
    def spread(self) -> Spread:
        """How many sites had the story, and when; empty in lists."""
        first: dict[str, datetime] = {}
        for version in self.versions:
            first[version.publisher] = min(version.moment, first.get(version.publisher, version.moment))
        return Spread(tuple(sorted(first.values())))


@dataclass(frozen=True, slots=True)
class StoryFilter:
    """Which stories; every field narrows. A story matches if one of its versions does. ``before`` is a cursor from ``StoryPage.next``.

    ``after``: the other way, the last so many that stand before this cursor (``story_lists.cursor_of`` a story, say), in the order of the
    list, the ``StoryPage`` without a cursor. Not with ``before``.
    """

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    site: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: Order = "newest"
    before: str | None = None
    limit: int = 30
    after: str | None = None


@dataclass(frozen=True, slots=True)
class StoryPage:
    """A page of stories, and the cursor of the next one (``None`` on the last)."""

    stories: tuple[Story, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Marking:
    """A change of an article's topics: marks that come, where the topic is not there yet, and topics that go, of what keywords or editors
    brought."""

    article_id: str
    add: tuple[TopicMark, ...] = ()
    drop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the change log. ``kind`` "article": written or revised; "fold": moved to another story; "gone": deleted."""

    seq: int
    kind: Literal["article", "fold", "gone"]
    id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SourceState:
    """What is remembered of a source between runs: HTTP validators per list page, rest after a block, its last outcome.

    ``unfinished``: when a visit began that did not come to its end (killed, stopped, a list page failed). ``hung``: pages that hang in the
    browser (hash of the link's name → in how many runs, and when last, in ISO 8601). ``hubs``: the hub pages that a region follows.
    """

    source: str
    validators: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)  # url -> (ETag, Last-Modified)
    rest_until: datetime | None = None
    next_visit: datetime | None = None
    rate: float | None = None  # entries a day, as its share of a budget of visits counts
    last_run: datetime | None = None
    last_success: datetime | None = None
    last_error: str | None = None
    failures_in_row: int = 0
    layout_changed: datetime | None = None
    unfinished: datetime | None = None
    hung: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    hubs: Mapping[str, HubPage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals for the front page and the monitor."""

    articles: int
    stories: int
    by_topic: Mapping[str, int] = field(metadata={"description": "Stories of each topic."})
    by_category: Mapping[str, int]
    by_source: Mapping[str, int] = field(metadata={"description": "Articles of each source."})
    newest: datetime | None
