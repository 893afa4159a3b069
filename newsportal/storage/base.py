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
from datetime import datetime
from typing import Protocol, runtime_checkable

from newsportal.items import Article, Link
from newsportal.items import FoldKey as FoldKey  # part of the protocol, as are those that follow
from newsportal.report import Run
from newsportal.storage.answers import Added as Added
from newsportal.storage.answers import Change as Change
from newsportal.storage.answers import Marking as Marking
from newsportal.storage.answers import Order as Order
from newsportal.storage.answers import Outcome as Outcome
from newsportal.storage.answers import SourceState as SourceState
from newsportal.storage.answers import StoredArticle as StoredArticle
from newsportal.storage.answers import Story as Story
from newsportal.storage.answers import StoryFilter as StoryFilter
from newsportal.storage.answers import StoryPage as StoryPage
from newsportal.storage.answers import Tally as Tally
from newsportal.storage.article_lists import ArticleFilter as ArticleFilter
from newsportal.storage.article_lists import ArticlePage as ArticlePage
from newsportal.storage.corpora import Corpora
from newsportal.storage.corrections import Correction as Correction
from newsportal.storage.galleries import Galleries
from newsportal.storage.outbox import Outbox
from newsportal.storage.pictures import Pictures
from newsportal.storage.readers import Readers
from newsportal.storage.records import Records
from newsportal.storage.subscriptions import Subscriptions
from newsportal.storage.threads import Threads
from newsportal.storage.visits import Visits


@runtime_checkable
class Store(Protocol):
    """See the module's promises. Blocking calls: the crawl runs them in threads. Instances may be shared between threads."""

    @property
    def corpora(self) -> Corpora:
        """Labelled texts and the models trained on them: a protocol of its own."""
        ...

    @property
    def galleries(self) -> Galleries:
        """Photo stories, their pages and pictures: a protocol of its own."""
        ...

    @property
    def threads(self) -> Threads:
        """Threads of forums and their posts: a protocol of its own."""
        ...

    @property
    def pictures(self) -> Pictures:
        """Which stories showed which picture, and what its first bytes told: a protocol of its own."""
        ...

    @property
    def readers(self) -> Readers:
        """What readers looked at, and what was learnt from it: a protocol of its own."""
        ...

    @property
    def visits(self) -> Visits:
        """The visits that were paid to sources: a protocol of its own."""
        ...

    @property
    def subscriptions(self) -> Subscriptions:
        """Feeds that tell us what is new: a protocol of its own."""
        ...

    @property
    def outbox(self) -> Outbox:
        """What is to be published elsewhere, and what became of it: a protocol of its own."""
        ...

    @property
    def records(self) -> Records:
        """Everything as plain rows, to be copied and backed up: a protocol of its own."""
        ...

    def add(self, article: Article, keys: Sequence[FoldKey] = (), *, now: datetime) -> Added:
        """Store ``article`` (its ``identity``, ``title`` and ``text`` are set) and fold it into the story that it repeats, if any: by
        its text (``dedup.judge``'s rule, against the stored texts of its window), else by its ``keys``.

        Known identity, same text: ``same``. Known identity, other title or text: ``revised`` (the earlier text is kept as a revision).
        Topics met later are added to those known (outcome ``same`` still).
        """
        ...

    def add_all(self, articles: Sequence[tuple[Article, Sequence[FoldKey]]], *, now: datetime) -> list[Added]:
        """:meth:`add` each of ``articles`` with its keys, in order, in one transaction; they fold into one another, too.

        If one cannot be stored nothing is: who wants the others adds them one by one then.
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

    def story(self, id: str, *, hidden: bool = False) -> Story | None:
        """A story, without the versions that editors hide; ``None`` if that leaves nothing. ``hidden``: all of it."""
        ...

    def stories(self, which: StoryFilter) -> StoryPage: ...

    def listed(self, ids: Collection[str]) -> Mapping[str, Story]:
        """Id → story as lists show it, of those that exist; the id of a story that was folded away leads to where its founder is now."""
        ...

    def fold(self, article_id: str, story_id: str, *, reason: str, now: datetime) -> None:
        """Move an article into another story by hand. Raises ``StoreError`` if either is unknown."""
        ...

    def unfold(self, article_id: str, *, now: datetime) -> str:
        """Take an article out into a story of its own (and never fold the two again by key); answers the new story's id."""
        ...

    def set_category(self, article_id: str, category: str | None, *, by: str, now: datetime, over: bool = False) -> None:
        """Give an article another category (``None``: none). ``by`` ``editor``: for ever, whatever comes later; any other ``by`` leaves
        an editor's word alone, but ``over`` it (an editor takes his word back). Raises ``StoreError`` for an unknown article."""
        ...

    def correct(self, article_id: str, said: Correction, *, by: str, now: datetime, seen: int | None = None) -> int:
        """Put an editor's words in place of the page's; answers the number of the article's state (``revision``).

        What stood there is kept as a revision. The fields that were corrected stay as the editor wrote them whatever the page says later
        (that is kept as a revision, too, and shows in the other fields). ``seen``: the state the editor saw. Raises ``Superseded`` if it
        is another by now, ``StoreError`` for an unknown article and for what cannot be corrected.
        """
        ...

    def withdraw(self, article_id: str, *, now: datetime, seen: int | None = None) -> int:
        """Take back all that editors corrected: the article says what its page said last. Answers and raises as :meth:`correct`."""
        ...

    def hide(self, article_ids: Collection[str], *, by: str, reason: str, now: datetime) -> list[str]:
        """Take articles out of readers' sight (lists, stories, search, recommendations, what is published elsewhere); they stay known.
        Answers those that were not hidden before. What is folded later into a story that is hidden as a whole is hidden as well."""
        ...

    def show(self, article_ids: Collection[str], *, now: datetime) -> list[str]:
        """Undo :meth:`hide`; answers those that were hidden."""
        ...

    def pick(self, which: ArticleFilter) -> ArticlePage:
        """Articles, the newest first, as editors look through them. A cursor that is none gives the first page."""
        ...

    def mark_topics(self, markings: Sequence[Marking], *, now: datetime) -> int:
        """Change the topics of articles in one transaction; answers of how many. Of a topic that goes, only what keywords or editors
        brought: what a source, a search or a model brought stays. Articles that are not there any more are passed over."""
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

    def waits_since(self, name: str) -> datetime | None:
        """When the link of this identity or URL was deferred first; ``None`` if it does not wait."""
        ...

    def settle(self, names: Collection[str]) -> None:
        """The links of these identities or URLs (see ``defer``) are done (stored, folded or failed for good): wait no longer."""
        ...

    def tally(self) -> Tally: ...

    def stories_since(self, topic: str, since: datetime) -> int:
        """How many stories of a topic are no older than that. Read from an index: as quick as there are many of them."""
        ...

    def close(self) -> None: ...
