"""Rising terms: counts above their own past; constant terms, bursty terms and terms of a single site do not rise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from math import exp, factorial, log10

import pytest

from newsportal.events.rising import DAY, PAST_DAYS, Mention, Rises, dispersion, find_rising, surprise

UNTIL = datetime(2026, 5, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Record:
    """Stories in time order, as read by ``find_rising``."""

    def __init__(self) -> None:
        self.mentions: list[Mention] = []

    def add(self, ago: timedelta, *words: str, number: int = 1, sites: int = 3, event: str | None = None) -> None:
        for _ in range(number):
            id = f"story{len(self.mentions)}"
            self.mentions.append(Mention(id, f"site{len(self.mentions) % sites}", UNTIL - ago, words, event))

    def read(self, since: datetime, until: datetime) -> Iterator[Mention]:
        found: Iterable[Mention] = (mention for mention in self.mentions if since <= mention.moment < until)
        yield from sorted(found, key=lambda mention: mention.moment)

    def rises(self, days: int = 1, count: int = 10) -> Rises:
        return find_rising(self.read, UNTIL, days, count)


@pytest.fixture
def record() -> Record:
    """A record of five stories about 天气 a day, for four weeks and the last 24 hours."""
    mentions = Record()
    for day in range(PAST_DAYS + 7):
        mentions.add(day * DAY + HOUR, "天气", number=5)
    return mentions


def test_new_word_rises_and_constant_word_does_not(record: Record) -> None:
    record.add(2 * HOUR, "台风", number=6)
    found = record.rises()
    assert (found.stories, found.past) == (11, 28 * 5)
    (typhoon,) = found.words
    assert (typhoon.name, typhoon.count, typhoon.sites, typhoon.expected) == ("台风", 6, 3, 0.5)
    assert typhoon.surprise == surprise(6, 0.5)
    assert typhoon.days == (*[0] * PAST_DAYS, 6)
    assert len(typhoon.stories) == 6


def test_count_is_compared_with_own_past(record: Record) -> None:
    record.add(2 * HOUR, "天气", number=30)
    assert record.rises().words == ()  # 35 of 35 stories compared with 140 of 140: all counts have risen, not this word
    record.add(2 * HOUR, "经济", number=35)
    for day in range(2, PAST_DAYS):
        record.add(day * DAY, "经济", number=1)
    (economy,) = record.rises().words
    assert economy.name == "经济"
    assert 5 < economy.expected < 15


def test_bursty_term_needs_a_higher_burst(record: Record) -> None:
    for day in range(2, PAST_DAYS):
        record.add(day * DAY, "平稳", number=1)
    for day in (3, 17):
        record.add(day * DAY, "阵发", number=13)
    record.add(2 * HOUR, "平稳", number=14)
    record.add(3 * HOUR, "阵发", number=14)
    assert [word.name for word in record.rises().words] == ["平稳"]


def test_single_site_or_two_stories_do_not_rise(record: Record) -> None:
    record.add(2 * HOUR, "广告", number=8, sites=1)
    record.add(2 * HOUR, "传闻", number=2)
    assert record.rises().words == ()


def test_short_past_gives_no_result() -> None:
    record = Record()
    record.add(HOUR, "台风", number=6)
    assert record.rises() == Rises(6, 0)
    record.add(30 * HOUR, "天气", number=6)
    record.add(54 * HOUR, "天气", number=6)
    assert record.rises() == Rises(6, 12)
    record.add(78 * HOUR, "天气")
    assert [word.name for word in record.rises().words] == ["台风"]


def test_words_of_same_stories_are_joined_with_their_event(record: Record) -> None:
    record.add(2 * HOUR, "台风", "海燕", number=6, event="e1")
    record.add(2 * HOUR, "颱風", number=3)
    record.add(2 * HOUR, "列车", number=5)
    found = record.rises()
    first, second = found.words
    assert (first.count, first.with_words, first.event) == (9, ("海燕",), "e1")
    assert (second.name, second.event) == ("列车", None)
    assert [(event.kind, event.name, event.count) for event in found.events] == [("event", "e1", 6)]
    assert len(record.rises(count=1).words) == 1


def test_week_is_compared_with_weeks_before(record: Record) -> None:
    for day in range(7):
        record.add(day * DAY + 2 * HOUR, "选举", number=2)
    assert record.rises(1).words == ()
    (election,) = record.rises(7).words
    assert (election.count, election.days[-8:]) == (14, (0, *[2] * 7))


@pytest.mark.parametrize(("count", "expected"), [(4, 0.5), (9, 2.0), (40, 21.5)])
def test_surprise_is_a_bound_on_poisson_probability(count: int, expected: float) -> None:
    tail = 1 - sum(exp(-expected) * expected**number / factorial(number) for number in range(count))
    assert surprise(count, expected) <= -log10(tail) <= surprise(count, expected) + 1.5
    assert surprise(count, expected, 2.0) == pytest.approx(surprise(count, expected) / 2)
    assert surprise(expected, expected) == 0.0


def test_dispersion_of_even_and_bursty_counts() -> None:
    totals = dict.fromkeys(range(10), 10)
    assert dispersion(dict.fromkeys(range(10), 2), totals) == 1.0
    assert dispersion({3: 20}, totals) == pytest.approx(20.0)
    assert dispersion({}, totals) == 1.0
