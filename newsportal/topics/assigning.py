"""Stored articles follow a topic's words: those that the words find come in, those that only former words brought go.

What a source, a search or a model brought stays, as in the crawl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from newsportal.classify.base import Progress
from newsportal.classify.topics import KEYWORDS, TopicRule, match
from newsportal.items import TopicMark
from newsportal.store.results import Marking, StoredArticle
from newsportal.store.store import Store

AT_ONCE: Final = 200
"""Articles of a transaction: a crawl that writes beside waits for its end."""


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
    return Marking(article.id, add, tuple(_dropped(by, rules, found, gone)))


def _dropped(by: Mapping[str, str | None], rules: Sequence[TopicRule], found: set[str], gone: Sequence[str]) -> Iterator[str]:
    for topic in (*(rule.name for rule in rules if rule.name not in found), *gone):
        if by.get(topic) == KEYWORDS:
            yield topic
