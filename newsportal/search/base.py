"""The Index protocol: a search index derived from a store's change log. It may be deleted and rebuilt at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Literal, Protocol, runtime_checkable

from newsportal.store.store import Store

MAX_QUERY_CHARS = 10_000  # longer queries are cut (threats D: 10 kB queries get an answer, never an error)

FIELDS: Mapping[str, str] = {"title": "title", "标题": "title", "site": "site", "站点": "site", "author": "author", "作者": "author",
                             "topic": "topic", "话题": "topic", "category": "category", "分类": "category",
                             "kind": "kind", "类型": "kind"}  # fmt: skip
"""``title:词`` restricts a word to a field; the Chinese names work too. ``kind`` is what it is: see :data:`KINDS`."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("thread", "threads", "forum", "帖子", "论坛"), "thread"),
    **dict.fromkeys(("photos", "photo", "gallery", "galleries", "套图", "组图", "图集"), "gallery"),
    **dict.fromkeys(("article", "articles", "news", "文章", "新闻"), "article"),
}
"""``kind:thread`` finds threads of forums alone, ``kind:photos`` photo stories, ``kind:article`` all else."""

TIMES: Mapping[str, str] = {**dict.fromkeys(("since", "after", "from", "自", "从", "自从"), "since"),
                            **dict.fromkeys(("until", "to", "至", "到"), "until"),
                            **dict.fromkeys(("before", "前", "早于"), "before")}  # fmt: skip
"""``since:2026-03-01`` finds what was published from the beginning of that day on, ``until:`` up to its end, ``before:`` until it begins.
A month (``2026-03``) or a year (``2026``) will do as well. Days are those of ``Query.zone``."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a reader asks. In ``text``: words, "phrases", -not, +must, field:word, since:day; anything else is taken as words, never an
    error.

    Filters are exact to the letter. ``since <= moment < until``. ``zone``: where days begin (None: in the zone of this machine).
    """

    text: str
    topic: str | None = None
    site: str | None = None
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sort: Literal["relevance", "time"] = "relevance"
    collapse: bool = True  # one hit a story
    offset: int = 0
    limit: int = 20
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One article found. ``title_html`` and ``snippet_html`` are escaped HTML in which only ``<mark>`` is a tag."""

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
    folded: int = 0  # other hits of the same story that were collapsed


@dataclass(frozen=True, slots=True)
class Results:
    """``total`` counts all hits (stories when collapsed). ``words`` are the query's words after segmentation.

    ``facets``: ``site``, ``category``, ``topic`` -> value -> stories (articles when not collapsed), the most frequent first;
    ``day`` (2026-03-01, in the query's zone), newest first.

    ``capped``: an index may stop counting at a number of its own; ``total`` and facets then speak of the newest matches ("more than").
    ``loose``: nothing holds all the words; these hold some of them.
    """

    hits: tuple[Hit, ...]
    total: int
    words: tuple[str, ...] = ()
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    capped: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """How an index stands: the change it has reached, its articles, its size on disk (None: in memory), and what it is, in words."""

    position: int
    articles: int
    bytes: int | None
    says: str


@runtime_checkable
class Index(Protocol):
    """Blocking; instances may be shared between threads. Errors: ``SearchError`` when the index itself is away or broken."""

    def search(self, query: Query) -> Results: ...

    def suggest(self, typed: str, limit: int = 10) -> tuple[str, ...]:
        """Queries that begin as ``typed`` does: topics, names and words of titles, the frequent ones first. Its last word is completed."""

    def follow(self, store: Store) -> int:
        """Take in what changed since the last call; answers how many rows of the change log were read."""

    def rebuild(self, store: Store, progress: Callable[[int], None] | None = None) -> int:
        """Build anew beside the present index, then swap: searches go on meanwhile. Answers the number of articles."""

    def needs_rebuild(self) -> bool:
        """Whether some words are found by their characters alone, since the index was cut by another segmenter or other own words; or
        more of it is of deleted articles than of others."""

    def position(self) -> int:
        """The change log position up to which everything is indexed."""

    def status(self) -> Status: ...

    def close(self) -> None: ...
