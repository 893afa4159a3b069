"""The Store protocol: the record of everything, and its promises. Every store passes ``tests/storage/test_contract.py``.

Promises, whatever the backend:

- every write is one transaction (or an idempotent upsert) and may be repeated: the same article written twice is stored once;
- two writers that bring the same story at the same moment make one story (looking and writing are one transaction);
- each change of an article, story or fold appends a row to the change log in the same transaction; ``seq`` only grows,
  and a reader that asks ``changes(after=seq)`` misses nothing;
- errors are those of ``newsportal.errors``: ``StoreUnavailable`` (away, locked, full: try again), ``StoreTooNew`` (stop);
- datetimes go in and come out aware (UTC).

Who adds a method adds it to the contract test first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from newsportal.items import Article, Image, Link, TopicMark
from newsportal.items import FoldKey as FoldKey  # part of the protocol
from newsportal.report import Run
from newsportal.storage.corpora import Corpora
from newsportal.storage.spread import Spread, spread
from newsportal.storage.threads import Threads

Outcome = Literal["stored", "folded", "same", "revised"]
"""What ``add`` did: a new story, a new version of a story, nothing (known, unchanged), or a newer text of a known article."""

Order = Literal["newest", "hottest"]


def host(url: str) -> str:
    """The host of ``url`` in lower case, ``""`` where it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Added:
    """The answer of ``add``."""

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

    @property
    def publisher(self) -> str:
        """Who counts as one site: its name, else the host of the URL."""
        return self.site or host(self.url)

    @property
    def moment(self) -> datetime:
        return min(self.published, self.first_seen) if self.published else self.first_seen


@dataclass(frozen=True, slots=True)
class Story:
    """One story: its original (``head``; ``storage/original.py`` tells the rule) and every version, the original first, then by time.

    ``sites`` counts distinct sites; ``heat`` is what "hottest" is ordered by (``storage/folding.py``). In lists ``versions`` is empty and
    the head's ``text`` is cut to 300 characters; ``Store.story`` fills both.
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
        return spread((version.moment, version.publisher) for version in self.versions)


@dataclass(frozen=True, slots=True)
class StoryFilter:
    """Which stories; every field narrows. A story matches if one of its versions does. ``before`` is a cursor from ``StoryPage.next``."""

    topic: str | None = None
    category: str | None = None
    source: str | None = None
    site: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: Order = "newest"
    before: str | None = None
    limit: int = 30


@dataclass(frozen=True, slots=True)
class StoryPage:
    """A page of stories, and the cursor of the next one (``None`` on the last)."""

    stories: tuple[Story, ...]
    next: str | None = None


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

    ``unfinished``: when a visit began that did not come to its end (killed, stopped, a list page failed).
    """

    source: str
    validators: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)  # url -> (ETag, Last-Modified)
    rest_until: datetime | None = None
    next_visit: datetime | None = None
    last_run: datetime | None = None
    last_success: datetime | None = None
    last_error: str | None = None
    failures_in_row: int = 0
    layout_changed: datetime | None = None
    unfinished: datetime | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals for the front page and the monitor."""

    articles: int
    stories: int
    by_topic: Mapping[str, int]  # stories per topic
    by_category: Mapping[str, int]
    by_source: Mapping[str, int]  # articles per source
    newest: datetime | None


@runtime_checkable
class Store(Protocol):
    """See the module's promises. Blocking calls: the crawl runs them in threads. Instances may be shared between threads."""

    @property
    def corpora(self) -> Corpora:
        """Labelled texts and the models trained on them: a protocol of its own."""
        ...

    @property
    def threads(self) -> Threads:
        """Threads of forums and their posts: a protocol of its own."""
        ...

    def add(self, article: Article, keys: Sequence[FoldKey] = (), *, now: datetime) -> Added:
        """Store ``article`` (its ``identity``, ``title`` and ``text`` are set) and fold it into the story that it repeats, if any: by
        its text (``dedup.judge``'s rule, against the stored texts of its window), else by its ``keys``.

        Known identity, same text: ``same``. Known identity, other title or text: ``revised`` (the earlier text is kept as a revision).
        Topics met later are added to those known (outcome ``same`` still).
        """
        ...

    def known(self, identities: Collection[str]) -> set[str]:
        """Which of these identities are stored, as article or alias."""
        ...

    def identities(self, *, after: int = 0) -> Iterator[str]:
        """All stored identities and aliases, to fill a Bloom filter at the start; with ``after``, those entered since that change.

        Some older ones may be among them. Who asks ``last_seq`` first and then for the names misses none the next time.
        """
        ...

    def declare(self, name: str, of: str) -> None:
        """The article known as ``of`` declares that ``name`` is its address (``rel=canonical``). Not known by it: nobody proved it.

        Remembered of the first few articles that declare one name. Raises ``StoreError`` if there is no such article.
        """
        ...

    def declared_by(self, name: str) -> list[StoredArticle]:
        """The article that is known as ``name``, and those that declare it, with their texts."""
        ...

    def add_alias(self, identity: str, of: str) -> None:
        """``identity`` leads to the stored article whose identity is ``of`` (a redirect, a canonical link): known from now on."""
        ...

    def article(self, id: str) -> StoredArticle | None: ...

    def revisions(self, id: str) -> tuple[StoredArticle, ...]:
        """The earlier texts of an article, oldest first (without the present one)."""
        ...

    def articles(self, ids: Sequence[str]) -> list[StoredArticle]:
        """Those that exist, in the order asked."""
        ...

    def all_articles(self, *, after: str | None = None) -> Iterator[StoredArticle]:
        """Every article by id, streamed; ``after`` resumes behind an id."""
        ...

    def story(self, id: str) -> Story | None: ...

    def stories(self, which: StoryFilter) -> StoryPage: ...

    def fold(self, article_id: str, story_id: str, *, reason: str, now: datetime) -> None:
        """Move an article into another story by hand. Raises ``StoreError`` if either is unknown."""
        ...

    def unfold(self, article_id: str, *, now: datetime) -> str:
        """Take an article out into a story of its own (and never fold the two again by key); answers the new story's id."""
        ...

    def set_category(self, article_id: str, category: str | None, *, by: str, now: datetime) -> None:
        """Give an article another category (``None``: none). ``by`` ``editor``: for ever, whatever comes later; any other ``by`` leaves
        an editor's word alone. Raises ``StoreError`` for an unknown article."""
        ...

    def changes(self, after: int = 0, limit: int = 1000) -> list[Change]: ...

    def last_seq(self) -> int: ...

    def save_run(self, run: Run) -> None:
        """Insert or replace by id."""
        ...

    def run(self, id: str) -> Run | None: ...

    def runs(self, limit: int = 50) -> list[Run]:
        """Newest first."""
        ...

    def source_state(self, source: str) -> SourceState: ...

    def source_states(self) -> list[SourceState]: ...

    def save_source_state(self, state: SourceState) -> None: ...

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        """What :meth:`save_site_lines` was given for a site; empty for one never met."""
        ...

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, most: int) -> None:
        """Remember the lines of each site's pages (URL -> packed hashes, in the order given) in place of what was known of the site.

        The sites saved last are kept, ``most`` of them.
        """
        ...

    def defer(self, links: Sequence[Link], *, now: datetime) -> None:
        """Remember links that could not be fetched for now (server away, time-out), to be asked again next time.

        Idempotent by ``Link.identity`` where there is one (entries of a feed may share one URL), else by URL.
        """
        ...

    def deferred(self, source: str) -> list[Link]:
        """Links of a source that wait, oldest first."""
        ...

    def settle(self, names: Collection[str]) -> None:
        """The links of these identities or URLs (see ``defer``) are done (stored, folded or failed for good): wait no longer."""
        ...

    def tally(self) -> Tally: ...

    def close(self) -> None: ...
