"""Candidates to stories and facets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from newsportal.storage.tables import EPOCH, MICROSECOND

TOPIC_BREAK = "\n"
"""Between the topics of an article."""

QUARTER = 900_000_000
"""Microseconds of a quarter of an hour: wherever a day begins, it begins with one."""


class Found(NamedTuple):
    """A candidate; a tuple, since thousands are made for every search.

    ``score`` grows with relevance; ``moment`` is microseconds since 1970.
    """

    rowid: int
    score: float
    id: str
    story_id: str
    site: str | None
    category: str | None
    topics: str
    moment: int


def groups(found: Sequence[Found], collapse: bool) -> list[list[Found]]:
    """The candidates by story, in their order; each by itself without ``collapse``."""
    if not collapse:
        return [[candidate] for candidate in found]
    by_story: dict[str, list[Found]] = {}
    for candidate in found:
        by_story.setdefault(candidate.story_id, []).append(candidate)
    return list(by_story.values())


def facets(found: Sequence[Sequence[Found]], zone: tzinfo | None) -> dict[str, dict[str, int]]:
    """How many groups have each value, in the order that ``Results.facets`` promises."""
    day_of = days(zone)
    sites: Counter[str | None] = Counter()
    categories: Counter[str | None] = Counter()
    topics: Counter[str] = Counter()
    dates: Counter[str] = Counter()
    for group in found:
        if len(group) == 1:
            one = group[0]
            sites[one.site] += 1
            categories[one.category] += 1
            topics.update(one.topics.split(TOPIC_BREAK))
            dates[day_of(one.moment)] += 1
        else:
            sites.update({one.site for one in group})
            categories.update({one.category for one in group})
            topics.update({topic for one in group for topic in one.topics.split(TOPIC_BREAK)})
            dates.update({day_of(one.moment) for one in group})
    return in_order({"site": sites, "category": categories, "topic": topics, "day": dates})


def in_order(counted: Mapping[str, Mapping[str | None, int] | Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Facets as they are promised: the most frequent value first, days newest first; what has no value is left out."""
    there = {facet: [(value, count) for value, count in counts.items() if value] for facet, counts in counted.items()}
    ordered = {facet: dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))) for facet, pairs in there.items()}
    return ordered | {"day": dict(sorted(ordered["day"].items(), reverse=True))}


def days(zone: tzinfo | None) -> Callable[[int], str]:
    """Moment in microseconds -> its day in ``zone`` (None: that of this machine at its present offset), worked out once a quarter hour."""
    there = zone or here()
    known: dict[int, str] = {}

    def day_of(moment: int) -> str:
        quarter = moment // QUARTER
        if quarter not in known:
            known[quarter] = _day(EPOCH + quarter * QUARTER * MICROSECOND, there)
        return known[quarter]

    return day_of


def here() -> tzinfo:
    """The zone of this machine at its present offset."""
    found = datetime.now().astimezone().tzinfo
    assert found  # astimezone() gives one
    return found


def _day(moment: datetime, zone: tzinfo) -> str:
    try:
        return moment.astimezone(zone).date().isoformat()
    except OverflowError:  # the first and the last day of the calendar
        return moment.date().isoformat()
