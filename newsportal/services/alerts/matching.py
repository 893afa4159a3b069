"""Match changed articles to alerts, and schedule messages: at once or at the hours of a digest, outside quiet hours, limited per hour.

Pure, except for the search index.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newsportal.search.base import Index, Query
from newsportal.services.accounts.alerts import HOUR, Alert
from newsportal.store.events import Events
from newsportal.store.results import StoredArticle

GRACE: Final = timedelta(days=1)
"""Many sites give the day of an article without an hour: articles published up to this long before the alert was created are new."""

GATHER: Final = timedelta(minutes=1)
"""While each poll of the store finds new stories, wait this long for more, so that those of one crawl go into one message."""

PAGE: Final = 100
MAX_HITS: Final = 1000  # hits of a search read at once


def is_new(article: StoredArticle, alert: Alert, seq: int) -> bool:
    """Return whether the article, last changed in ``seq``, is not older than the alert."""
    return seq > alert.after_seq and article.first_seen >= alert.created and article.moment >= alert.created - GRACE


def of_topic(alert: Alert, articles: Iterable[StoredArticle]) -> list[StoredArticle]:
    return [article for article in articles if alert.of in article.topics]


def of_search(alert: Alert, articles: Sequence[StoredArticle], index: Index, zone: tzinfo) -> list[StoredArticle]:
    """Return the articles that the index finds, as for a reader's search. Raises ``SearchError``."""
    if not articles:
        return []
    first, last = min(article.moment for article in articles), max(article.moment for article in articles)
    ids = found_by(index, alert.of, zone, first, last + timedelta(microseconds=1), {article.id for article in articles})
    return [article for article in articles if article.id in ids]


def found_by(index: Index, text: str, zone: tzinfo, since: datetime, until: datetime, ids: Collection[str] | None = None) -> dict[str, str]:
    """Return article → story for the hits of that time, newest first. ``ids``: stop when all of these are found."""
    found: dict[str, str] = {}
    for offset in range(0, MAX_HITS, PAGE):
        query = Query(text, since=since, until=until, sort="time", collapse=False, offset=offset, limit=PAGE, zone=zone)
        results = index.search(query)
        if results.relaxed:  # no article has all the words
            return found
        found |= {hit.id: hit.story_id for hit in results.hits if ids is None or hit.id in ids}
        if len(results.hits) < PAGE or (ids is not None and len(found) == len(ids)):
            break
    return found


def of_event(alert: Alert, articles: Sequence[StoredArticle], events: Events) -> list[StoredArticle]:
    """Return the articles in the event, or in the one that it was merged into."""
    event, places = events.merged_into(alert.of) or alert.of, events.of([article.story_id for article in articles])
    return [article for article in articles if (place := places.get(article.story_id)) is not None and place.event_id == event]


def matches(
    alerts: Iterable[Alert], articles: Mapping[str, tuple[StoredArticle, int]], index: Index | None, zone: tzinfo, events: Events
) -> dict[str, list[StoredArticle]]:
    """Return alert → matching articles. ``articles``: id → the article and the seq of its last change."""
    found: dict[str, list[StoredArticle]] = {}
    for alert in alerts:
        new = [article for article, seq in articles.values() if is_new(article, alert, seq)]
        if alert.about == "topic":
            matching = of_topic(alert, new)
        elif alert.about == "event":
            matching = of_event(alert, new, events)
        elif alert.about == "search" and index is not None:
            matching = of_search(alert, new, index, zone)
        else:
            continue
        if matching:
            found[alert.id] = matching
    return found


def due_at(moment: datetime, alert: Alert, zone: tzinfo) -> datetime:
    """Return when articles found at ``moment`` may be sent. Hours are local to ``zone``."""
    if not alert.digest:
        return _after_quiet_hours(moment, alert.quiet, zone)
    local = moment.astimezone(zone)
    today = local.replace(minute=0, second=0, microsecond=0, fold=0)
    moments = [today.replace(hour=hour) + timedelta(days=day) for day in (0, 1) for hour in sorted(alert.digest)]
    return _after_quiet_hours(min(at for at in moments if at >= local).astimezone(moment.tzinfo), alert.quiet, zone)


def _after_quiet_hours(moment: datetime, quiet: tuple[int, int] | None, zone: tzinfo) -> datetime:
    """Return ``moment``, or the end of the quiet hours that contain it."""
    local = moment.astimezone(zone)
    if quiet is None or not is_quiet(local.hour, quiet):
        return moment
    end = local.replace(hour=quiet[1], minute=0, second=0, microsecond=0)
    return (end if end > local else end + timedelta(days=1)).astimezone(moment.tzinfo)


def in_quiet_hours(alert: Alert, moment: datetime, zone: tzinfo) -> bool:
    """Return whether ``moment`` is in the quiet hours: messages that are overdue wait until they end."""
    return alert.quiet is not None and is_quiet(moment.astimezone(zone).hour, alert.quiet)


def is_quiet(hour: int, quiet: tuple[int, int]) -> bool:
    """Return whether ``hour`` is between the two, across midnight if the first is later. Equal hours: never."""
    begin, end = quiet
    return begin <= hour < end if begin <= end else hour >= begin or hour < end


def schedule_messages(found: Iterable[datetime], alert: Alert, zone: tzinfo, max_stories: int) -> list[tuple[datetime, list[int]]]:
    """Return the messages for articles found at these moments (ascending): when each is sent and the indexes of its articles, up to
    ``max_stories``. The schedule of :mod:`newsportal.services.alerts.run`: articles due within `GATHER` share one, up to a full hour."""
    groups: list[list[tuple[datetime, int]]] = []
    for entry in sorted((due_at(moment, alert, zone), place) for place, moment in enumerate(found)):
        if groups and entry[0] - groups[-1][0][0] < GATHER:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    sent: list[tuple[datetime, list[int]]] = []
    waiting: list[int] = []
    for group in groups:
        due = group[-1][0]
        while waiting and (free := _next_send(sent, alert, zone)) < due:
            sent.append((free, waiting[:max_stories]))
            waiting = waiting[max_stories:]
        waiting += [place for _, place in group]
        while waiting and _next_free(sent, due, alert.per_hour) <= due:
            sent.append((due, waiting[:max_stories]))
            waiting = waiting[max_stories:]
    while waiting:
        sent.append((_next_send(sent, alert, zone), waiting[:max_stories]))
        waiting = waiting[max_stories:]
    return sent


def _next_send(sent: list[tuple[datetime, list[int]]], alert: Alert, zone: tzinfo) -> datetime:
    """Return when waiting articles can be sent."""
    return _after_quiet_hours(_next_free(sent, sent[-1][0], alert.per_hour), alert.quiet, zone)


def _next_free(sent: list[tuple[datetime, list[int]]], moment: datetime, per_hour: int) -> datetime:
    """Return the first time from ``moment`` on at which the hour before has room for a message."""
    last = [when for when, _ in sent if when > moment - HOUR]
    return moment if len(last) < per_hour else last[-per_hour] + HOUR
