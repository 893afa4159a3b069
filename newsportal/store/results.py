"""Results and arguments of the store: stored articles and stories, filters, changes, the state of sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import urlsplit

from newsportal.items import Image, TopicMark
from newsportal.schedule.policies import HubPage

FIRST: Final = timedelta(hours=6)
"""The first hours of a story, in which most reposts appear (shown on the story page). Chosen, not measured."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a story over sites. ``steps``: times at which each further site published it, ascending; the n-th belongs to the n-th site.

    ``hours``: from the first to the last of them; ``at_first``: number of sites within the first :data:`FIRST` hours.
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
        """Sites per hour after the first one; ``None`` for a single site, or if all published at the same time."""
        return (self.sites - 1) / self.hours if self.hours else None


Outcome = Literal["stored", "folded", "same", "revised"]
"""Result of ``add``: a new story, a new version of a story, nothing (known, unchanged), or a newer text of a known article."""

Order = Literal["newest", "hottest"]


def host(url: str) -> str:
    """Return the host of ``url`` in lower case, or ``""`` if there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


FORUM = "forum:"  # prefix of the names of forum sources, whose articles are threads


def is_thread(source: str) -> bool:
    return source.startswith(FORUM)


GALLERY = "gallery:"  # prefix of the names of gallery sources, whose articles are photo stories


def is_gallery(source: str) -> bool:
    return source.startswith(GALLERY)


@dataclass(frozen=True, slots=True)
class AddResult:
    outcome: Outcome
    id: str
    story_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredArticle:
    """An article in the store. ``moment`` is its sort key: the time of publication, but not later than first seen (else a page dated in
    2099 would lead every list for years)."""

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
    keywords: tuple[str, ...] = ()  # the most important first
    images: tuple[Image, ...] = ()
    algorithm: str | None = None
    revision: int = 1
    fold_of: str | None = None
    fold_reason: str | None = None
    fold_score: float | None = None
    corrected: datetime | None = None  # last correction by an editor; its author and fields (title, text, published, author)
    corrected_by: str | None = None
    corrected_fields: tuple[str, ...] = ()
    hidden: datetime | None = None  # when an editor hid it from readers, who, and why
    hidden_by: str | None = None
    hidden_reason: str | None = None

    @property
    def publisher(self) -> str:
        """Name of the site for counting sites: ``site``, or the host of the URL."""
        return self.site or host(self.url)

    @property
    def moment(self) -> datetime:
        return min(self.published, self.first_seen) if self.published else self.first_seen


@dataclass(frozen=True, slots=True)
class Story:
    """A story: its original (``head``; by the rule in ``store/folding.py``) and all versions, the original first, then by time.

    ``sites`` counts distinct sites; ``heat`` is the sort key of "hottest". In lists ``versions`` is empty and the head's ``text`` is cut to
    300 characters; ``Store.story`` fills both.
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
        """Times at which sites published the story; empty in lists."""
        first: dict[str, datetime] = {}
        for version in self.versions:
            first[version.publisher] = min(version.moment, first.get(version.publisher, version.moment))
        return Spread(tuple(sorted(first.values())))


@dataclass(frozen=True, slots=True)
class StoryFilter:
    """Selection of stories; every field narrows it. A story matches if one of its versions does. ``before`` is a cursor from
    ``StoryPage.next``.

    ``after``: page backwards, to the last ``limit`` stories before this cursor (for example ``lists.cursor_of`` a story), in list order;
    the ``StoryPage`` has no cursor. Excludes ``before``.
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
class TopicChange:
    """A change of an article's topics: marks to add unless the topic is present, and topics to remove if set by keywords or editors."""

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
    """State of a source kept between runs: HTTP validators by list page, backoff after a block, the last result.

    ``unfinished``: start of a visit that did not finish (killed, stopped, a list page failed). ``hubs``: hub pages that a
    region follows.
    """

    source: str
    validators: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)  # url -> (ETag, Last-Modified)
    rest_until: datetime | None = None
    next_visit: datetime | None = None
    rate: float | None = None  # entries per day, as weighted in the budget of visits
    last_run: datetime | None = None
    last_success: datetime | None = None
    last_error: str | None = None
    failures_in_row: int = 0
    layout_changed: datetime | None = None
    unfinished: datetime | None = None
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
