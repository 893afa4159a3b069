"""Which of the articles that changed an alert is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newsportal.accounts.alerts import Alert
from newsportal.search.base import Index, Query
from newsportal.store.results import StoredArticle

GRACE: Final = timedelta(days=1)
"""Many sites tell the day of an article and no hour: what was published up to so long before the alert was made is not old."""

PAGE: Final = 100
MOST: Final = 1000
"""Hits of a search that are looked through at once."""


def is_new(article: StoredArticle, alert: Alert, seq: int) -> bool:
    """Whether the article, of which change ``seq`` tells, is not older than the alert."""
    return seq > alert.after and article.first_seen >= alert.created and article.moment >= alert.created - GRACE


def of_topic(alert: Alert, articles: Iterable[StoredArticle]) -> list[StoredArticle]:
    return [article for article in articles if alert.of in article.topics]


def of_search(alert: Alert, articles: Sequence[StoredArticle], index: Index, zone: tzinfo) -> list[StoredArticle]:
    """Those that the index finds, as a reader's search would. Raises ``SearchError``."""
    if not articles:
        return []
    first, last = min(article.moment for article in articles), max(article.moment for article in articles)
    ids = found_by(index, alert.of, zone, first, last + timedelta(microseconds=1), {article.id for article in articles})
    return [article for article in articles if article.id in ids]


def found_by(
    index: Index, text: str, zone: tzinfo, since: datetime, until: datetime, wanted: Collection[str] | None = None
) -> dict[str, str]:
    """Article → story, of what the search finds in that time, newest first; ``wanted``: no further than until all of these are found."""
    found: dict[str, str] = {}
    for offset in range(0, MOST, PAGE):
        query = Query(text, since=since, until=until, sort="time", collapse=False, offset=offset, limit=PAGE, zone=zone)
        results = index.search(query)
        if results.loose:  # nothing has all the words
            return found
        found |= {hit.id: hit.story_id for hit in results.hits if wanted is None or hit.id in wanted}
        if len(results.hits) < PAGE or (wanted is not None and len(found) == len(wanted)):
            break
    return found


def matches(
    alerts: Iterable[Alert], articles: Mapping[str, tuple[StoredArticle, int]], index: Index | None, zone: tzinfo
) -> dict[str, list[StoredArticle]]:
    """Alert → the articles that it is about. ``articles``: id → the article and the last change that tells of it."""
    found: dict[str, list[StoredArticle]] = {}
    for alert in alerts:
        new = [article for article, seq in articles.values() if is_new(article, alert, seq)]
        if alert.about == "topic":
            chosen = of_topic(alert, new)
        elif alert.about == "search" and index is not None:
            chosen = of_search(alert, new, index, zone)
        else:
            continue
        if chosen:
            found[alert.id] = chosen
    return found
