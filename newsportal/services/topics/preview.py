"""What a topic's words would find among the stories of the last days, before they are saved: the crawl's own rule, on stored articles.

The search index names those that may match (it knows where each word stands), the rule decides on each: its words in the title, the
summary and the beginning of the text. Without an index the newest stories are read instead. Both are bounded: a topic is tried as its
editor types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from newsportal.classify.topics import KEYWORDS, LEAD, TopicRule, match
from newsportal.search.base import Index, Query
from newsportal.store.dialects import chunks
from newsportal.store.results import StoredArticle, StoryFilter
from newsportal.store.store import Store

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
    named, capped = _named(index, rule, since) if index is not None else _newest(store, since)
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


def _newest(store: Store, since: datetime) -> tuple[list[str], bool]:
    ids = [story.head.id for story in store.newest(StoryFilter(since=since, limit=PAGE), SCANNED + 1)]
    return ids[:SCANNED], len(ids) > SCANNED


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
