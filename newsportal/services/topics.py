"""Editing of topics: changes of ``sources.yaml``, updates of stored articles, and a preview of what the keywords find in recent stories.

Each change is a function for :func:`newsportal.sources.edit`, which validates the result. Unchanged parts keep their form: comments,
quotes, and whether a list of keywords stands for «any». Stored articles follow a topic's keywords: those that match are added, those that
only former keywords matched are removed; assignments by a source, a search or a model stay.

A preview applies the crawl's rule to stored articles: the search index finds possible matches, the rule decides on each by title, summary
and the beginning of the text. Without an index the newest stories are read instead. Both are bounded: a preview runs as the editor types.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from newsportal.classify.base import Progress
from newsportal.classify.topics import KEYWORDS, LEAD_CHARS, TopicRule, match
from newsportal.items import TopicMark
from newsportal.search.base import Index, Query
from newsportal.sources import Keywords, append
from newsportal.sources.changing import drop_entry, find_entry, references
from newsportal.sources.editing import Change
from newsportal.store.dialects import chunks
from newsportal.store.results import StoredArticle, StoryFilter, TopicChange
from newsportal.store.store import Store


@dataclass(frozen=True, slots=True)
class Draft:
    """The form of a topic. ``pages``: result pages of each engine; ``None``: unchanged, or learnt from hourly results. ``learnt``: learn"""

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
        """The keywords in their shortest form in the file: nothing, a list, or a mapping."""
        if not self.must and not self.never:
            return list(self.any) or None
        parts = {"must": self.must, "any": self.any, "not": self.never}
        return {key: list(words) for key, words in parts.items() if words}


def put_topic(draft: Draft, before: str | None = None) -> Change:
    """Return a change that writes a new topic, or replaces ``before`` and updates sources that name it. It raises ``NoEntry``."""

    def change(document: CommentedMap) -> None:
        # Key → value; ``None`` for the default. Non-numeric pages are kept as typed, for validation to reject.
        pages = (draft.pages or "").strip()
        values = {
            "name": draft.name, "enabled": None if draft.enabled else False, "keywords": draft.keywords, "query": list(draft.query) or None,
            "engines": list(draft.engines) or None, "breadth": int(pages) if pages.isdecimal() else draft.pages if pages else None,
            "auto_classify": True if draft.auto_classify else None,
        }  # fmt: skip
        if before is None:
            append(document, "topics", {key: value for key, value in values.items() if value is not None})
            return
        _place, entry = find_entry(document, "topics", before)
        for key, value in values.items():
            if (key == "breadth" and value is None and not draft.learnt) or _is_equal(key, entry.get(key), value, draft):
                continue
            if value is None:
                entry.pop(key, None)
            else:
                entry[key] = value
        if draft.name != before:
            for names, at in references(document, "topics", "topics", before):
                names[at] = draft.name

    return change


def drop_topic(name: str) -> Change:
    """Return a change that deletes a topic and references to it in sources. It raises ``NoEntry``. References in publishing targets are
    kept, and become an error: removing them would widen the target."""

    def change(document: CommentedMap) -> None:
        drop_entry("topics", name)(document)
        for names, at in reversed(list(references(document, "topics", "topics", name, published=False))):
            del names[at]

    return change


def reorder_topic(name: str, by: int) -> Change:
    """Return a change that moves a topic by ``by`` places: -1 is one up. It stops at the ends. It raises ``NoEntry``."""

    def change(document: CommentedMap) -> None:
        topics, (at, _entry) = document["topics"], find_entry(document, "topics", name)
        target = min(max(0, at + by), len(topics) - 1)
        if target != at:
            topics.insert(target, topics.pop(at))

    return change


def _is_equal(key: str, stored: Any, value: Any, draft: Draft) -> bool:
    """Return whether the file has an equal value, in any form."""
    if key == "keywords" and stored is not None:
        try:
            keywords = Keywords.model_validate(stored)
        except ValidationError:
            return False
        return (keywords.must, keywords.any, keywords.not_) == (draft.must, draft.any, draft.never)
    if isinstance(stored, str) and isinstance(value, list):
        return [stored] == value
    if key in ("enabled", "auto_classify") and value is None:
        return stored is None or stored is (key == "enabled")
    return bool(stored == value)


AT_ONCE: Final = 200  # articles of a transaction: a concurrent crawl waits for its end


@dataclass(frozen=True, slots=True)
class AssignResult:
    """Number of articles examined and changed; topic → number of articles added, and removed."""

    checked: int = 0
    changed: int = 0
    added: Mapping[str, int] = field(default_factory=dict)
    removed: Mapping[str, int] = field(default_factory=dict)


def assign(
    store: Store, rules: Sequence[TopicRule], *, deleted: Sequence[str] = (), since: datetime | None, now: datetime, progress: Progress
) -> AssignResult:  # fmt: skip
    """Update articles since then (``None``: all) by ``rules``; for topics that are ``deleted``, assignments by keywords are removed. A rule
    without keywords matches nothing, so its assignments by keywords are removed too. May be interrupted and repeated."""
    added, removed = Counter[str](), Counter[str]()
    examined = changed = 0
    waiting: list[TopicChange] = []
    total = max(1, store.tally().articles)
    for number, article in enumerate(store.all_articles()):
        if number % AT_ONCE == 0:
            progress(min(1.0, number / total), "topics")
        if since is not None and article.moment < since:
            continue
        examined += 1
        marking = topic_changes(article, rules, deleted)
        if marking.add or marking.drop:
            waiting.append(marking)
            added.update(mark.topic for mark in marking.add)
            removed.update(marking.drop)
        if len(waiting) >= AT_ONCE:
            changed += store.mark_topics(waiting, now=now)
            waiting.clear()
    changed += store.mark_topics(waiting, now=now)
    progress(1.0, "topics")
    return AssignResult(examined, changed, dict(added), dict(removed))


def topic_changes(article: StoredArticle, rules: Sequence[TopicRule], deleted: Sequence[str] = ()) -> TopicChange:
    """Return the changes of one article's topics by the rules."""
    assigned_by = {mark.topic: mark.by for mark in article.topic_marks}
    found = set(match(rules, article.title, article.text, article.summary))
    add = tuple(TopicMark(rule.name, KEYWORDS) for rule in rules if rule.name in found and rule.name not in assigned_by)
    gone = (*(rule.name for rule in rules if rule.name not in found), *deleted)
    return TopicChange(article.id, add, tuple(topic for topic in gone if assigned_by.get(topic) == KEYWORDS))


DAYS: Final = 7  # period of a preview: it includes all days of the week
SHOWN: Final = 20  # newest stories shown
PER_WORD: Final = 500  # articles per keyword from the index: as many as it verifies (search.finding.MAX_VERIFIED)
MAX_SEARCHED_WORDS: Final = 60  # keywords of «any» that are searched; each search takes some milliseconds
MAX_RULE_WORDS: Final = 500
"""Keywords of each kind that are tried: ten thousand, pasted from a dictionary, would take seconds per article."""

SCANNED: Final = 2000  # stories read without an index: about half a second
PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Match:
    """A matching story: its newest matching article, the keywords in it, and whether the topic has it already."""

    article: StoredArticle
    words: tuple[str, ...]
    in_topic: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """A preview. ``stories``: number of matches, ``added``: those new to the topic; ``newest``: newest matches, newest first. ``removed``:
    articles matched only by former keywords. ``checked``: their number; ``capped``: there may be more matches. ``empty``: no keyword."""

    stories: int = 0
    added: int = 0
    newest: tuple[Match, ...] = ()
    removed: tuple[StoredArticle, ...] = ()
    checked: int = 0
    capped: bool = False
    empty: bool = False


def preview(store: Store, index: Index | None, rule: TopicRule, *, topic: str | None, now: datetime, days: int = DAYS) -> Preview:
    """Return what ``rule`` matches in the last ``days``. ``topic``: its name in the store, if any. Raises the errors of store and index."""
    if not rule.must and not rule.any:
        return Preview(empty=True)
    since, full_rule = now - timedelta(days=days), rule
    rule = TopicRule(rule.name, *(words[:MAX_RULE_WORDS] for words in (rule.must, rule.any, rule.never)))
    if index is not None:
        ids, capped = _indexed_matches(index, rule, since)
    else:
        ids = [story.head.id for story in store.newest(StoryFilter(since=since, limit=PAGE), SCANNED + 1)]
        ids, capped = ids[:SCANNED], len(ids) > SCANNED
    found = _matching(store, rule, topic, ids)
    leaving: tuple[StoredArticle, ...] = ()
    if topic is not None and rule == full_rule:  # the topic's newest stories assigned by keywords that these do not match
        heads = [story.head.id for story in store.stories(StoryFilter(topic, since=since, limit=PAGE)).stories]
        old = (head for head in _articles(store, heads) if any(mark.topic == topic and mark.by == KEYWORDS for mark in head.topic_marks))
        leaving = tuple(head for head in old if not is_match(rule, head))
    newest = tuple(sorted(found.values(), key=lambda hit: hit.article.moment, reverse=True))
    words = [(word, TopicRule("", any=(word,))) for word in (*rule.must, *rule.any)]
    sample = tuple(replace(hit, words=tuple(word for word, single in words if is_match(single, hit.article))) for hit in newest[:SHOWN])
    return Preview(len(newest), sum(not hit.in_topic for hit in newest), sample, leaving, len(ids), capped or rule != full_rule)


def is_match(rule: TopicRule, article: StoredArticle) -> bool:
    """Return whether the rule matches a stored article, as ``pipelines.classify`` does for a new one."""
    return bool(match((rule,), article.title, article.text, article.summary))


def _indexed_matches(index: Index, rule: TopicRule, since: datetime) -> tuple[list[str], bool]:
    """Return the articles that contain the keywords anywhere, and whether there may be more."""
    ids: dict[str, None] = {}
    capped = len(rule.any) > MAX_SEARCHED_WORDS
    for words in [(*rule.must, word) for word in rule.any[:MAX_SEARCHED_WORDS]] or [rule.must]:
        text = " ".join(f'"{word.replace(chr(34), " ")}"' for word in words)
        found = index.search(Query(text, since=since, sort="time", collapse=False, limit=PER_WORD))
        ids |= dict.fromkeys(hit.id for hit in found.hits)
        capped = capped or found.capped or found.total > len(found.hits)
    return list(ids), capped


def _matching(store: Store, rule: TopicRule, topic: str | None, ids: list[str]) -> dict[str, Match]:
    found: dict[str, Match] = {}
    for article in _articles(store, ids):
        if not is_match(rule, article):
            continue
        before = found.get(article.story_id)
        newest = before.article if before is not None and before.article.moment >= article.moment else article
        found[article.story_id] = Match(newest, (), topic in article.topics or (before is not None and before.in_topic))
    return found


def _articles(store: Store, ids: list[str]) -> Iterator[StoredArticle]:
    for chunk in chunks(ids, PAGE):
        yield from store.articles(chunk)


def excerpt(article: StoredArticle) -> str:
    return article.text[:LEAD_CHARS]


WEEK: Final = timedelta(days=7)
MONTH: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class RecentCounts:
    """Number of stories in the last 7 and 30 days."""

    week: int
    month: int


def counts(store: Store, topics: Iterable[str], now: datetime) -> dict[str, RecentCounts]:
    """Return topic → number of recent stories. Raises ``StoreError``."""
    return {topic: RecentCounts(store.stories_since(topic, now - WEEK), store.stories_since(topic, now - MONTH)) for topic in topics}
