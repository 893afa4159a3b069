"""Grouping of search candidates into stories, and facets."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from newsportal.store.columns import EPOCH, MICROSECOND

TOPIC_SEPARATOR = "\n"  # separates the topics of an article
DAY_MICROSECONDS = 86_400_000_000  # microseconds


class Candidate(NamedTuple):
    """A candidate; a tuple, because every search creates thousands.

    ``score`` grows with relevance; ``moment``: microseconds since 1970.
    """

    rowid: int
    score: float
    id: str
    story_id: str
    site: str | None
    category: str | None
    topics: str
    moment: int


SITE, CATEGORY, MOMENT = (Candidate._fields.index(name) for name in ("site", "category", "moment"))


def group_by_story(found: Sequence[Candidate], collapse: bool) -> list[list[Candidate]]:
    """Group candidates by story, in order; without ``collapse`` each is a group."""
    if not collapse:
        return [[candidate] for candidate in found]
    by_story: dict[str, list[Candidate]] = {}
    for candidate in found:
        by_story.setdefault(candidate.story_id, []).append(candidate)
    return list(by_story.values())


def count_facets(found: Sequence[Sequence[Candidate]], zone: tzinfo | None) -> dict[str, dict[str, int]]:
    """Count the groups with each value, in the order of ``Results.facets``."""
    day_of = day_formatter(zone)
    single = [group[0] for group in found if len(group) == 1]
    several = [group for group in found if len(group) > 1]
    sites, categories = Counter(map(itemgetter(SITE), single)), Counter(map(itemgetter(CATEGORY), single))
    topics = Counter(chain.from_iterable(candidate.topics.split(TOPIC_SEPARATOR) for candidate in single))
    dates = Counter(map(day_of, map(itemgetter(MOMENT), single)))
    for group in several:
        sites.update({candidate.site for candidate in group})
        categories.update({candidate.category for candidate in group})
        topics.update({topic for candidate in group for topic in candidate.topics.split(TOPIC_SEPARATOR)})
        dates.update({day_of(candidate.moment) for candidate in group})
    return sort_facets({"site": sites, "category": categories, "topic": topics, "day": dates})


def sort_facets(counters: Mapping[str, Mapping[str | None, int] | Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Sort facets: most frequent value first, days newest first; missing values are omitted."""
    present = {facet: [(value, count) for value, count in counts.items() if value] for facet, counts in counters.items()}
    ordered = {facet: dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))) for facet, pairs in present.items()}
    return ordered | {"day": dict(sorted(ordered["day"].items(), reverse=True))}


def day_formatter(zone: tzinfo | None) -> Callable[[int], str]:
    """Return a function from microseconds to the day in ``zone`` (None: that of this machine at its current offset)."""
    tz = zone or local_zone()
    offsets: dict[int, int | None] = {}
    names: dict[int, str] = {}

    def day_of(moment: int) -> str:
        number = moment // DAY_MICROSECONDS
        if number not in offsets:
            offsets[number] = _offset(number, tz)
        if (offset := offsets[number]) is None:
            exact = EPOCH + moment * MICROSECOND
            try:
                return exact.astimezone(tz).date().isoformat()
            except OverflowError:  # the first and the last day of the calendar
                return exact.date().isoformat()
        day = (moment + offset) // DAY_MICROSECONDS
        if day not in names:
            names[day] = date.fromordinal(EPOCH.toordinal() + day).isoformat()
        return names[day]

    return day_of


def _offset(number: int, zone: tzinfo) -> int | None:
    """Return the UTC offset of ``zone`` on a UTC day in microseconds; ``None`` if it changes, and at the limits of the calendar."""
    try:
        first, last = (EPOCH + timedelta(days=number + later) for later in (0, 1))
        offsets = {moment.astimezone(zone).utcoffset() for moment in (first, last)}
    except OverflowError:
        return None
    return (offsets.pop() or timedelta(0)) // MICROSECOND if len(offsets) == 1 else None


def local_zone() -> tzinfo:
    found = datetime.now().astimezone().tzinfo
    assert found  # astimezone() gives one
    return found
