"""The topics of a portal in an editor's hands: how they are written into ``sources.yaml``, how stored articles follow, and what their words
would find among the stories of the last days, before they are saved.

Each change is a function for :func:`newsportal.sources.edit`, which checks the outcome. What does not change keeps its form: comments,
quotes, and whether a list of keywords stands for «any». Stored articles follow a topic's words: those that the words find come in, those
that only former words brought go; what a source, a search or a model brought stays.

A preview goes by the crawl's own rule, on stored articles: the search index names those that may match (it knows where each word stands),
the rule decides on each: its words in the title, the summary and the beginning of the text. Without an index the newest stories are read
instead. Both are bounded: a topic is tried as its editor types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from newsportal.classify.base import Progress
from newsportal.classify.topics import KEYWORDS, LEAD, TopicRule, match
from newsportal.items import TopicMark
from newsportal.search.base import Index, Query
from newsportal.sources import Keywords, append
from newsportal.sources.changing import drop_entry, found_entry, references
from newsportal.sources.editing import Change
from newsportal.store.dialects import chunks
from newsportal.store.results import Marking, StoredArticle, StoryFilter
from newsportal.store.store import Store


@dataclass(frozen=True, slots=True)
class Draft:
    """A topic as its form has it. ``pages``: result pages of each engine; ``None``: as the file has it, or what hours teach.
    ``learnt``: the hours shall teach it from now on."""

    name: str
    must: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    pages: str | None = None
    learnt: bool = False
    enabled: bool = True
    auto_classify: bool = False

    @property
    def keywords(self) -> Any:
        """As the file has them, the shortest way: nothing, a list, or a mapping."""
        if not self.must and not self.never:
            return list(self.any) or None
        parts = {"must": self.must, "any": self.any, "not": self.never}
        return {key: list(words) for key, words in parts.items() if words}


def put(draft: Draft, before: str | None = None) -> Change:
    """Write a new topic, or the one that was called ``before``; sources that name it follow. The change raises ``NoEntry``."""

    def change(document: CommentedMap) -> None:
        # Key → value; ``None`` where the default says it. Pages that are no number stay as they were typed, for the check to complain of.
        pages = (draft.pages or "").strip()
        values = {
            "name": draft.name, "enabled": None if draft.enabled else False, "keywords": draft.keywords, "query": list(draft.query) or None,
            "engines": list(draft.engines) or None, "breadth": int(pages) if pages.isdecimal() else draft.pages if pages else None,
            "auto_classify": True if draft.auto_classify else None,
        }  # fmt: skip
        if before is None:
            append(document, "topics", {key: value for key, value in values.items() if value is not None})
            return
        _place, entry = found_entry(document, "topics", before)
        for key, value in values.items():
            if (key == "breadth" and value is None and not draft.learnt) or _same(key, entry.get(key), value, draft):
                continue
            if value is None:
                entry.pop(key, None)
            else:
                entry[key] = value
        if draft.name != before:
            for names, at in references(document, "topics", "topics", before):
                names[at] = draft.name

    return change


def delete(name: str) -> Change:
    """Take a topic out, and its name out of the sources that name it. The change raises ``NoEntry``.

    A deleted topic must not widen a target of publishing that is narrowed to it: naming it there is an error from then on.
    """

    def change(document: CommentedMap) -> None:
        drop_entry("topics", name)(document)
        for names, at in reversed(list(references(document, "topics", "topics", name, published=False))):
            del names[at]

    return change


def move(name: str, by: int) -> Change:
    """Let a topic change places: -1 is one up. At the ends it stays. The change raises ``NoEntry``."""

    def change(document: CommentedMap) -> None:
        topics, (at, _entry) = document["topics"], found_entry(document, "topics", name)
        there = min(max(0, at + by), len(topics) - 1)
        if there != at:
            topics.insert(there, topics.pop(at))

    return change


def _same(key: str, given: Any, value: Any, draft: Draft) -> bool:
    """Whether the file says the same already, in whatever form."""
    if key == "keywords" and given is not None:
        try:
            known = Keywords.model_validate(given)
        except ValidationError:
            return False
        return (known.must, known.any, known.not_) == (draft.must, draft.any, draft.never)
    if isinstance(given, str) and isinstance(value, list):
        return [given] == value
    if key in ("enabled", "auto_classify") and value is None:
        return given is None or given is (key == "enabled")
    return bool(given == value)


AT_ONCE: Final = 200  # articles of a transaction: a crawl that writes beside waits for its end


@dataclass(frozen=True, slots=True)
class Assigned:
    """How many articles were looked at and changed; topic → how many came into it, and how many left it."""

    looked: int = 0
    changed: int = 0
    came: Mapping[str, int] = field(default_factory=dict)
    went: Mapping[str, int] = field(default_factory=dict)


def assign(
    store: Store, rules: Sequence[TopicRule], *, gone: Sequence[str] = (), since: datetime | None, now: datetime, progress: Progress
) -> Assigned:  # fmt: skip
    """Let the articles since then (``None``: all) follow ``rules``; of topics that are ``gone``, what keywords brought goes.

    A rule without words finds nothing, so what its keywords brought goes, too. May be broken off and run again.
    """
    came, went = Counter[str](), Counter[str]()
    looked = changed = 0
    waiting: list[Marking] = []
    total = max(1, store.tally().articles)
    for number, article in enumerate(store.all_articles()):
        if number % AT_ONCE == 0:
            progress(min(1.0, number / total), "topics")
        if since is not None and article.moment < since:
            continue
        looked += 1
        marking = marked(article, rules, gone)
        if marking.add or marking.drop:
            waiting.append(marking)
            came.update(mark.topic for mark in marking.add)
            went.update(marking.drop)
        if len(waiting) >= AT_ONCE:
            changed += store.mark_topics(waiting, now=now)
            waiting.clear()
    changed += store.mark_topics(waiting, now=now)
    progress(1.0, "topics")
    return Assigned(looked, changed, dict(came), dict(went))


def marked(article: StoredArticle, rules: Sequence[TopicRule], gone: Sequence[str] = ()) -> Marking:
    """What the rules change of one article's topics."""
    by = {mark.topic: mark.by for mark in article.topic_marks}
    found = set(match(rules, article.title, article.text, article.summary))
    add = tuple(TopicMark(rule.name, KEYWORDS) for rule in rules if rule.name in found and rule.name not in by)
    gone = (*(rule.name for rule in rules if rule.name not in found), *gone)
    return Marking(article.id, add, tuple(topic for topic in gone if by.get(topic) == KEYWORDS))


DAYS: Final = 7  # how far back a preview looks: all days of a week are in it
SHOWN: Final = 20  # the newest stories that are shown
PER_WORD: Final = 500  # articles that the index names for a word: as many as it makes sure of (search.finding.MAX_VERIFIED)
MOST_WORDS: Final = 60  # words of «any» that are looked up; a question takes the index some milliseconds
MOST_TRIED: Final = 500
"""Words of each kind that are tried: ten thousand, pasted from a dictionary, would keep an article waiting for seconds."""

SCANNED: Final = 2000  # stories that are read where there is no index: about half a second
PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Match:
    """A story that the words find: its newest article that matches, the words that stand in it, and whether the topic has it already."""

    article: StoredArticle
    words: tuple[str, ...]
    known: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """``stories``: how many match, ``comes``: how many of them are new to the topic; ``newest`` of them, the newest first.

    ``goes``: what the topic's former words brought and these do not find. ``looked``: articles that the rule was asked about; ``capped``:
    there may be more, since a word stands in more than are looked at. ``empty``: there is no word to look for.
    """

    stories: int = 0
    comes: int = 0
    newest: tuple[Match, ...] = ()
    goes: tuple[StoredArticle, ...] = ()
    looked: int = 0
    capped: bool = False
    empty: bool = False


def preview(store: Store, index: Index | None, rule: TopicRule, *, topic: str | None, now: datetime, days: int = DAYS) -> Preview:
    """What ``rule`` finds in the last ``days``. ``topic``: the name under which the store knows it; ``None`` for a new one.

    Raises the errors of store and index.
    """
    if not rule.must and not rule.any:
        return Preview(empty=True)
    since, whole = now - timedelta(days=days), rule
    rule = TopicRule(rule.name, *(words[:MOST_TRIED] for words in (rule.must, rule.any, rule.never)))
    if index is not None:
        named, capped = _named(index, rule, since)
    else:
        named = [story.head.id for story in store.newest(StoryFilter(since=since, limit=PAGE), SCANNED + 1)]
        named, capped = named[:SCANNED], len(named) > SCANNED
    found = _matching(store, rule, topic, named)
    goes: tuple[StoredArticle, ...] = ()
    if topic is not None and rule == whole:  # of the topic's newest stories those that keywords brought and these words do not find
        heads = [story.head.id for story in store.stories(StoryFilter(topic, since=since, limit=PAGE)).stories]
        brought = (one for one in _articles(store, heads) if any(mark.topic == topic and mark.by == KEYWORDS for mark in one.topic_marks))
        goes = tuple(one for one in brought if not finds(rule, one))
    newest = tuple(sorted(found.values(), key=lambda one: one.article.moment, reverse=True))
    words = [(word, TopicRule("", any=(word,))) for word in (*rule.must, *rule.any)]
    shown = tuple(replace(one, words=tuple(word for word, own in words if finds(own, one.article))) for one in newest[:SHOWN])
    return Preview(len(newest), sum(not one.known for one in newest), shown, goes, len(named), capped or rule != whole)


def finds(rule: TopicRule, article: StoredArticle) -> bool:
    """Whether the rule finds a stored article: as ``pipelines.classify`` asks it of a new one."""
    return bool(match((rule,), article.title, article.text, article.summary))


def _named(index: Index, rule: TopicRule, since: datetime) -> tuple[list[str], bool]:
    """The articles in which the words stand anywhere, and whether there may be more."""
    ids: dict[str, None] = {}
    capped = len(rule.any) > MOST_WORDS
    for words in [(*rule.must, word) for word in rule.any[:MOST_WORDS]] or [rule.must]:
        text = " ".join(f'"{word.replace(chr(34), " ")}"' for word in words)
        found = index.search(Query(text, since=since, sort="time", collapse=False, limit=PER_WORD))
        ids |= dict.fromkeys(hit.id for hit in found.hits)
        capped = capped or found.capped or found.total > len(found.hits)
    return list(ids), capped


def _matching(store: Store, rule: TopicRule, topic: str | None, ids: list[str]) -> dict[str, Match]:
    found: dict[str, Match] = {}
    for article in _articles(store, ids):
        if not finds(rule, article):
            continue
        before = found.get(article.story_id)
        newest = before.article if before is not None and before.article.moment >= article.moment else article
        found[article.story_id] = Match(newest, (), topic in article.topics or (before is not None and before.known))
    return found


def _articles(store: Store, ids: list[str]) -> Iterator[StoredArticle]:
    for some in chunks(ids, PAGE):
        yield from store.articles(some)


def lead(article: StoredArticle) -> str:
    return article.text[:LEAD]


WEEK: Final = timedelta(days=7)
MONTH: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Lately:
    """Stories of the last 7 and 30 days."""

    week: int
    month: int


def counts(store: Store, topics: Iterable[str], now: datetime) -> dict[str, Lately]:
    """Topic → how many stories it had lately. Raises ``StoreError``."""
    return {topic: Lately(store.stories_since(topic, now - WEEK), store.stories_since(topic, now - MONTH)) for topic in topics}
