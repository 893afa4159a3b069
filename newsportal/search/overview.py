"""Searches of the portal: statistics of a topic, and stories similar to an article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from newsportal.search.base import Hit, Index, Query
from newsportal.search.words import index_words, runs
from newsportal.store.columns import shift
from newsportal.store.results import StoredArticle
from newsportal.text import STOP_WORDS, clean

DAYS: Final = 30  # days shown in a curve


@dataclass(frozen=True, slots=True)
class Overview:
    """Statistics of a topic. ``days``: reports (articles) per day, from the earliest day to today, without early days that the index
    counted incompletely. ``sites`` and ``categories``: most frequent first. ``reports``: sum over the days; ``capped``: it is a minimum."""

    days: tuple[tuple[date, int], ...]
    sites: Mapping[str, int]
    categories: Mapping[str, int]
    reports: int
    capped: bool = False

    @property
    def max_count(self) -> int:
        return max((count for _, count in self.days), default=0)


def overview(index: Index, topic: str, *, now: datetime, zone: tzinfo, days: int = DAYS) -> Overview:
    """Return the statistics of ``topic`` over the last ``days`` in ``zone``. Raises ``SearchError``."""
    first = now.astimezone(zone).date() - timedelta(days=days - 1)
    found = index.search(Query(f"since:{first.isoformat()}", topic=topic, collapse=False, sort="time", limit=0, zone=zone))
    counts = found.facets.get("day", {})
    dates = [first + timedelta(days=number) for number in range(days)]
    if found.capped and counts:  # the earliest day was counted incompletely
        earliest = date.fromisoformat(min(counts))
        dates = [day for day in dates if day > earliest]
    return Overview(
        days=tuple((day, counts.get(day.isoformat(), 0)) for day in dates),
        sites=found.facets.get("site", {}),
        categories=found.facets.get("category", {}),
        reports=found.total,
        capped=found.capped,
    )


MAX_WORDS: Final = 6  # further keywords are less significant, and each costs a scan of its matches
TIME_SPAN: Final = timedelta(days=30)
"""Time span before and after the article; older stories on the subject are found by search. Chosen, not measured."""

EXTRA_HITS: Final = 3  # extra hits requested: versions of the story itself are among them


def similar(index: Index, article: StoredArticle, *, limit: int) -> tuple[Hit, ...]:
    """Return the ``limit`` most similar articles, one per story, without the article's own. Raises ``SearchError``."""
    words = [word.replace('"', " ") for word in article.keywords or title_words(article.title)][:MAX_WORDS]
    if not words:
        return ()
    title = clean(article.title).replace('"', " ")
    text = f'{" ".join(words)} -"{title}"' if title else " ".join(words)  # excluding its own title; any of the words may match
    since, until = shift(article.moment, -TIME_SPAN), shift(article.moment, TIME_SPAN)
    found = index.search(Query(text, since=since, until=until, limit=limit + EXTRA_HITS)).hits
    return tuple(hit for hit in found if hit.story_id != article.story_id)[:limit]


def title_words(title: str) -> Sequence[str]:
    """Return significant words of a title, longest first, for an article without keywords."""
    words = dict.fromkeys(word for word in index_words(runs(title)) if len(word) > 1 and word not in STOP_WORDS)
    return sorted(words, key=len, reverse=True)
