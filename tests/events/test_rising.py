"""What rises: a term whose count leaves its own past, not one that is always there, comes in bursts, or comes from one site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from math import exp, factorial, log10

import pytest

from newsportal.events.rising import DAY, PAST, Mention, Rises, dispersion, rising, surprise

UNTIL = datetime(2026, 5, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Record:
    """Stories in time order, as ``rising`` reads them."""

    def __init__(self) -> None:
        self.mentions: list[Mention] = []

    def add(self, ago: timedelta, *words: str, number: int = 1, sites: int = 3, event: str | None = None) -> None:
        for _ in range(number):
            id = f"story{len(self.mentions)}"
            self.mentions.append(Mention(id, f"site{len(self.mentions) % sites}", UNTIL - ago, words, event))

    def read(self, since: datetime, until: datetime) -> Iterator[Mention]:
        found: Iterable[Mention] = (one for one in self.mentions if since <= one.moment < until)
        yield from sorted(found, key=lambda one: one.moment)

    def rises(self, days: int = 1, count: int = 10) -> Rises:
        return rising(self.read, UNTIL, days, count)


@pytest.fixture
def record() -> Record:
    """Five stories about 天气 a day, in the four weeks before and in the last 24 hours."""
    made = Record()
    for day in range(PAST + 7):
        made.add(day * DAY + HOUR, "天气", number=5)
    return made


def test_a_new_word_rises_and_one_that_is_always_there_does_not(record: Record) -> None:
    record.add(2 * HOUR, "台风", number=6)
    found = record.rises()
    assert (found.stories, found.past) == (11, 28 * 5)
    (typhoon,) = found.words
    assert (typhoon.name, typhoon.count, typhoon.sites, typhoon.expected) == ("台风", 6, 3, 0.5)
    assert typhoon.surprise == surprise(6, 0.5)
    assert typhoon.days == (*[0] * PAST, 6)
    assert len(typhoon.stories) == 6


def test_more_than_its_own_past_expects(record: Record) -> None:
    record.add(2 * HOUR, "天气", number=30)
    assert record.rises().words == ()  # 35 of 35 stories as 140 of 140: the portal fetches more, the word rises not
    record.add(2 * HOUR, "经济", number=35)
    for day in range(2, PAST):
        record.add(day * DAY, "经济", number=1)
    (economy,) = record.rises().words
    assert economy.name == "经济"
    assert 5 < economy.expected < 15


def test_what_comes_in_bursts_has_to_burst_higher(record: Record) -> None:
    for day in range(2, PAST):
        record.add(day * DAY, "平稳", number=1)
    for day in (3, 17):
        record.add(day * DAY, "阵发", number=13)
    record.add(2 * HOUR, "平稳", number=14)
    record.add(3 * HOUR, "阵发", number=14)
    assert [one.name for one in record.rises().words] == ["平稳"]


def test_one_site_alone_or_two_stories_are_nothing(record: Record) -> None:
    record.add(2 * HOUR, "广告", number=8, sites=1)
    record.add(2 * HOUR, "传闻", number=2)
    assert record.rises().words == ()


def test_a_past_that_is_too_short_says_nothing() -> None:
    record = Record()
    record.add(HOUR, "台风", number=6)
    assert record.rises() == Rises(6, 0)
    record.add(30 * HOUR, "天气", number=6)
    record.add(54 * HOUR, "天气", number=6)
    assert record.rises() == Rises(6, 12)
    record.add(78 * HOUR, "天气")
    assert [one.name for one in record.rises().words] == ["台风"]


def test_words_of_the_same_stories_stand_on_one_line_with_their_event(record: Record) -> None:
    record.add(2 * HOUR, "台风", "海燕", number=6, event="e1")
    record.add(2 * HOUR, "颱風", number=3)
    record.add(2 * HOUR, "列车", number=5)
    found = record.rises()
    first, second = found.words
    assert (first.count, first.with_words, first.event) == (9, ("海燕",), "e1")
    assert (second.name, second.event) == ("列车", None)
    assert [(one.kind, one.name, one.count) for one in found.events] == [("event", "e1", 6)]
    assert len(record.rises(count=1).words) == 1


def test_a_week_against_the_weeks_before(record: Record) -> None:
    for day in range(7):
        record.add(day * DAY + 2 * HOUR, "选举", number=2)
    assert record.rises(1).words == ()
    (election,) = record.rises(7).words
    assert (election.count, election.days[-8:]) == (14, (0, *[2] * 7))


@pytest.mark.parametrize(("count", "expected"), [(4, 0.5), (9, 2.0), (40, 21.5)])
def test_the_surprise_bounds_the_probability_of_poisson(count: int, expected: float) -> None:
    tail = 1 - sum(exp(-expected) * expected**number / factorial(number) for number in range(count))
    assert surprise(count, expected) <= -log10(tail) <= surprise(count, expected) + 1.5
    assert surprise(count, expected, 2.0) == pytest.approx(surprise(count, expected) / 2)
    assert surprise(expected, expected) == 0.0


def test_the_dispersion_is_one_for_what_comes_evenly() -> None:
    totals = dict.fromkeys(range(10), 10)
    assert dispersion(dict.fromkeys(range(10), 2), totals) == 1.0
    assert dispersion({3: 20}, totals) == pytest.approx(20.0)
    assert dispersion({}, totals) == 1.0
