"""The Index protocol: a search index derived from a store's change log. It may be deleted and rebuilt at any time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Literal, Protocol, runtime_checkable

from newsportal.store.store import Store

MAX_QUERY_CHARS = 10_000  # longer queries are cut (threats D: queries of 10 kB get results, never an error)

FIELDS: Mapping[str, str] = {"title": "title", "标题": "title", "site": "site", "站点": "site", "author": "author", "作者": "author",
                             "topic": "topic", "话题": "topic", "category": "category", "分类": "category",
                             "kind": "kind", "类型": "kind"}  # fmt: skip
"""``title:词`` restricts a word to a field; the Chinese names work too. ``kind`` is one of :data:`KINDS`."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("thread", "threads", "forum", "帖子", "论坛"), "thread"),
    **dict.fromkeys(("photos", "photo", "gallery", "galleries", "套图", "组图", "图集"), "gallery"),
    **dict.fromkeys(("article", "articles", "news", "文章", "新闻"), "article"),
}
"""``kind:thread`` finds only forum threads, ``kind:photos`` photo stories, ``kind:article`` all others."""

TIMES: Mapping[str, str] = {**dict.fromkeys(("since", "after", "from", "自", "从", "自从"), "since"),
                            **dict.fromkeys(("until", "to", "至", "到"), "until"),
                            **dict.fromkeys(("before", "前", "早于"), "before")}  # fmt: skip
"""``since:2026-03-01`` finds articles published from the beginning of that day, ``until:`` up to its end, ``before:`` before it. A month
(``2026-03``) or a year (``2026``) is allowed, too. Days are in ``Query.zone``."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search query. Syntax of ``text``: words, "phrases", -not, +must, field:word, since:day; anything else is words, never an error.

    Filters match exactly. ``since <= moment < until``. ``zone``: time zone of days (None: that of this machine).
    """

    text: str
    topic: str | None = None
    site: str | None = None
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sort: Literal["relevance", "time"] = "relevance"
    collapse: bool = True  # one hit per story
    offset: int = 0
    limit: int = 20
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """An article found. ``title_html`` and ``snippet_html`` are escaped HTML in which ``<mark>`` is the only tag."""

    id: str
    story_id: str
    url: str
    score: float
    title: str
    title_html: str
    snippet_html: str
    site: str | None
    published: datetime | None
    moment: datetime
    folded: int = 0  # number of other hits of the same story, collapsed into this one


@dataclass(frozen=True, slots=True)
class Results:
    """Result of a search. ``total`` counts all hits (stories if collapsed). ``words``: the query's words after segmentation.

    ``facets``: ``site``, ``category``, ``topic`` -> value -> stories (articles if not collapsed), most frequent first; ``day`` (2026-03-01,
    in the query's zone), newest first.

    ``capped``: the index stopped counting at its limit; ``total`` and facets then cover the newest matches ("more than"). ``partial``: no
    article has all the words; the hits have some of them.
    """

    hits: tuple[Hit, ...]
    total: int
    words: tuple[str, ...] = ()
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    capped: bool = False
    relaxed: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """State of an index: last change of the store included, number of articles, size on disk (None: in memory), and a description."""

    position: int
    articles: int
    bytes: int | None
    says: str


@runtime_checkable
class Index(Protocol):
    """A search index. Calls block; shared between threads. Raises ``SearchError`` if the index is unreachable or broken."""

    def search(self, query: Query) -> Results: ...

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        """Return completions of the last word of ``typed``: topics, names and words of titles, most frequent first."""

    def follow(self, store: Store) -> int:
        """Index the changes since the last call, and return the number of change log rows read."""

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        """Build a new index beside the current one, then replace it: searches continue meanwhile. Return the number of articles."""

    def needs_rebuild(self) -> bool:
        """Return whether the index was built with another segmenter or other user words, so that some words are only found by their
        characters; or has more deleted articles than others."""

    def position(self) -> int:
        """Return the change log position up to which everything is indexed."""

    def status(self) -> Status: ...

    def close(self) -> None: ...
