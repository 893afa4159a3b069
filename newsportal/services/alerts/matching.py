"""Which of the changed articles an alert is about, and when its message may go: at once or at the hours of a digest.

Never in the quiet hours, never too many in an hour. Pure, but for the search index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newsportal.search.base import Index, Query
from newsportal.services.accounts.alerts import HOUR, Alert
from newsportal.store.events import Events
from newsportal.store.results import StoredArticle

GRACE: Final = timedelta(days=1)
"""Many sites tell the day of an article and no hour: what was published up to so long before the alert was made is not old."""

GATHER: Final = timedelta(minutes=1)
"""So long more stories are waited for while each look at the store finds new ones: what a crawl brings is one message."""

PAGE: Final = 100
MOST: Final = 1000  # hits of a search that are looked through at once


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


def of_event(alert: Alert, articles: Sequence[StoredArticle], events: Events) -> list[StoredArticle]:
    """Those in the event, or in the one that it was joined with."""
    event, places = events.joined(alert.of) or alert.of, events.of([article.story_id for article in articles])
    return [article for article in articles if (place := places.get(article.story_id)) is not None and place.event_id == event]


def matches(
    alerts: Iterable[Alert], articles: Mapping[str, tuple[StoredArticle, int]], index: Index | None, zone: tzinfo, events: Events
) -> dict[str, list[StoredArticle]]:
    """Alert → the articles that it is about. ``articles``: id → the article and the last change that tells of it."""
    found: dict[str, list[StoredArticle]] = {}
    for alert in alerts:
        new = [article for article, seq in articles.values() if is_new(article, alert, seq)]
        if alert.about == "topic":
            chosen = of_topic(alert, new)
        elif alert.about == "event":
            chosen = of_event(alert, new, events)
        elif alert.about == "search" and index is not None:
            chosen = of_search(alert, new, index, zone)
        else:
            continue
        if chosen:
            found[alert.id] = chosen
    return found


def due_at(moment: datetime, alert: Alert, zone: tzinfo) -> datetime:
    """When what was found at ``moment`` may be sent. Hours are those of the clocks of ``zone``."""
    if not alert.digest:
        return _after_quiet_hours(moment, alert.quiet, zone)
    there = moment.astimezone(zone)
    today = there.replace(minute=0, second=0, microsecond=0, fold=0)
    moments = [today.replace(hour=hour) + timedelta(days=day) for day in (0, 1) for hour in sorted(alert.digest)]
    return _after_quiet_hours(min(one for one in moments if one >= there).astimezone(moment.tzinfo), alert.quiet, zone)


def _after_quiet_hours(moment: datetime, quiet: tuple[int, int] | None, zone: tzinfo) -> datetime:
    """``moment``, or the end of the quiet hours that it falls into."""
    there = moment.astimezone(zone)
    if quiet is None or not is_quiet(there.hour, quiet):
        return moment
    end = there.replace(hour=quiet[1], minute=0, second=0, microsecond=0)
    return (end if end > there else end + timedelta(days=1)).astimezone(moment.tzinfo)


def in_quiet_hours(alert: Alert, moment: datetime, zone: tzinfo) -> bool:
    """Whether ``moment`` lies in the quiet hours: what was due before, and had to wait, waits until they end."""
    return alert.quiet is not None and is_quiet(moment.astimezone(zone).hour, alert.quiet)


def is_quiet(hour: int, quiet: tuple[int, int]) -> bool:
    """Whether ``hour`` lies between the two, over midnight if the first is the later one. The same hour twice: never."""
    begin, end = quiet
    return begin <= hour < end if begin <= end else hour >= begin or hour < end


def schedule_messages(found: Iterable[datetime], alert: Alert, zone: tzinfo, most: int) -> list[tuple[datetime, list[int]]]:
    """What was found at these moments (rising), as messages: when each is sent, and which of them it tells of, ``most`` at a time.

    As :mod:`newsportal.services.alerts.run` does it: what is due within `GATHER` goes together, and a full hour lets the rest wait.
    """
    groups: list[list[tuple[datetime, int]]] = []
    for one in sorted((due_at(moment, alert, zone), place) for place, moment in enumerate(found)):
        if groups and one[0] - groups[-1][0][0] < GATHER:
            groups[-1].append(one)
        else:
            groups.append([one])
    sent: list[tuple[datetime, list[int]]] = []
    waiting: list[int] = []
    for group in groups:
        due = group[-1][0]
        while waiting and (free := _next(sent, alert, zone)) < due:
            sent.append((free, waiting[:most]))
            waiting = waiting[most:]
        waiting += [place for _, place in group]
        while waiting and _free(sent, due, alert.per_hour) <= due:
            sent.append((due, waiting[:most]))
            waiting = waiting[most:]
    while waiting:
        sent.append((_next(sent, alert, zone), waiting[:most]))
        waiting = waiting[most:]
    return sent


def _next(sent: list[tuple[datetime, list[int]]], alert: Alert, zone: tzinfo) -> datetime:
    """When what waits for room goes."""
    return _after_quiet_hours(_free(sent, sent[-1][0], alert.per_hour), alert.quiet, zone)


def _free(sent: list[tuple[datetime, list[int]]], moment: datetime, per_hour: int) -> datetime:
    """The first moment from this one on at which the hour before has room."""
    last = [when for when, _ in sent if when > moment - HOUR]
    return moment if len(last) < per_hour else last[-per_hour] + HOUR
