"""The learning schedule: hours, bulletins, bursts, silence, wrong clocks, budgets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from newsportal.items.visits import Visit
from newsportal.schedule import next_visit
from newsportal.schedule.cadence import CELLS_A_DAY, factors, has_false_times, observe_entries, time_grid
from newsportal.schedule.learnt import forecast, price
from newsportal.schedule.policies import History, NextVisit, Rules

NOW = datetime(2026, 3, 26, tzinfo=UTC)  # a Thursday, midnight
HOUR = timedelta(hours=1)
RULES = Rules("feed:a", longest=1440)


def hourly(entries: dict[int, int], days: int = 21, until: datetime = NOW) -> History:
    """Return hourly visits; ``entries`` maps hours of the day to new entries, published at some minute of the hour before the visit."""
    visits = []
    for back in range(days * 24):
        at = until - back * HOUR
        new = entries.get((at - HOUR).hour, 0)
        published = tuple(at - timedelta(minutes=(37 * back + 17 * n) % 59) for n in range(new))
        visits.append(Visit("feed:a", at, list_pages=1, entries=20, new=new, published=published))
    return History.from_visits(visits)


def plan_next(past: History, rules: Rules = RULES, now: datetime = NOW) -> NextVisit:
    return next_visit(past, rules, now)


def test_bulletin_is_fetched_soon_after_publication() -> None:
    found = plan_next(hourly({8: 5}), Rules("feed:a", price=0.1))
    assert timedelta(hours=8.2) <= found.at - NOW <= timedelta(hours=9.2), found


def test_silent_nights_are_skipped() -> None:
    days = dict.fromkeys(range(8, 20), 2)
    assert plan_next(hourly(days)).at - NOW > timedelta(hours=6)
    noon = NOW + timedelta(hours=12)
    assert plan_next(hourly(days, until=noon), now=noon).at - noon < timedelta(hours=1)


def test_wait_is_inverse_to_square_root_of_rate() -> None:
    delays = [plan_next(hourly(dict.fromkeys(range(24), each)), Rules("feed:a", price=0.02)).at - NOW for each in (1, 4, 16)]
    assert delays[0] > delays[1] > delays[2]
    assert 1.5 < delays[0] / delays[1] < 2.5, "twice as often for four times as much"


def test_burst_shortens_wait() -> None:
    quiet = hourly(dict.fromkeys(range(24), 1))
    awake = [Visit("feed:a", visit.at, entries=20, new=12, published=(visit.at - HOUR / 2,) * 12) for visit in quiet.visits[:3]]
    rules = Rules("feed:a", price=0.02)
    assert plan_next(History.from_visits([*awake, *quiet.visits[3:]]), rules).at < plan_next(quiet, rules).at


def test_empty_and_unchanged_visits_lengthen_wait() -> None:
    lively = hourly(dict.fromkeys(range(24), 1))
    silent = [Visit("feed:a", visit.at, list_pages=1, not_modified=True) for visit in lively.visits[:24]]
    rules = Rules("feed:a", price=0.02)
    assert plan_next(History.from_visits([*silent, *lively.visits[24:]]), rules).at > plan_next(lively, rules).at


def test_dates_of_first_visit_are_used() -> None:
    many = tuple(NOW - timedelta(minutes=10 * n) for n in range(40))
    few = tuple(NOW - timedelta(days=n / 3) for n in range(40))
    rules = Rules("feed:a", price=0.02)
    first = [History.from_visits([Visit("feed:a", NOW, entries=40, new=40, published=published)]) for published in (many, few)]
    assert plan_next(first[0], rules).at < plan_next(first[1], rules).at


def test_wait_is_between_shortest_and_longest() -> None:
    flood = hourly(dict.fromkeys(range(24), 500), days=3)
    assert plan_next(flood, Rules("feed:a", price=1e-9)).at == NOW + timedelta(minutes=10)
    assert plan_next(hourly({}, days=7), Rules("feed:a", longest=300, price=9.0)).at == NOW + timedelta(minutes=300)


def test_wait_requested_by_feed_is_respected_up_to_a_limit() -> None:
    flood = hourly(dict.fromkeys(range(24), 50), days=3)
    for seconds, minutes in ((7200.0, 120), (365 * 86_400.0, 360)):
        newest = Visit("feed:a", NOW, entries=20, new=50, asked_wait=seconds)
        found = plan_next(History.from_visits([newest, *flood.visits[1:]]), Rules("feed:a", price=1e-9))
        assert found.at == NOW + timedelta(minutes=minutes)
        assert "asked to wait" in str(found.reason)


def test_dates_equal_to_fetch_time_are_ignored() -> None:
    visits = [Visit("feed:a", NOW - n * HOUR, entries=9, new=2, published=(NOW - n * HOUR,) * 2) for n in range(30)]
    assert has_false_times(visits)
    assert "are ignored" in str(plan_next(History.from_visits(visits)).reason)
    spread = observe_entries(visits, time_grid(NOW, UTC)).counts
    assert spread.max() < 1, "the entries of an hour are spread over it"
    assert not has_false_times(hourly({8: 5}).visits)


def test_dates_without_time_are_spread_over_day() -> None:
    visits = []
    for n in range(100):
        at = NOW - n * HOUR
        visits.append(Visit("feed:a", at, entries=9, new=1, published=(at.replace(hour=0, minute=0),)))
    counts = observe_entries(visits, time_grid(NOW, UTC)).counts
    assert counts.max() < 1.5


def test_last_visit_without_history() -> None:
    found = plan_next(History((), NOW - timedelta(minutes=30)))
    assert NOW <= found.at <= NOW + timedelta(hours=2)


def test_weekends_are_learnt() -> None:
    visits = []
    for back in range(28 * 24):
        at = NOW + timedelta(days=2) - back * HOUR  # until Saturday, midnight
        new = 3 if at.weekday() < 5 else 0
        visits.append(Visit("feed:a", at, entries=20, new=new, published=(at - HOUR / 2,) * new))
    saturday, monday = NOW + timedelta(days=2), NOW + timedelta(days=4)
    weekend, week = forecast(History.from_visits(visits), RULES, saturday), forecast(History.from_visits(visits), RULES, monday)
    assert sum(weekend) < 0.3 * sum(week)


def test_strip_has_expected_entries_per_hour() -> None:
    found = forecast(hourly({8: 5}), RULES, NOW)
    assert len(found) == 24
    assert found.index(max(found)) == 8


def test_slots_follow_local_time_across_dst() -> None:
    from zoneinfo import ZoneInfo

    cells = time_grid(datetime(2026, 4, 2, tzinfo=UTC), ZoneInfo("Europe/Berlin"))  # the clocks change on 29 March
    for moment in (datetime(2026, 3, 20, 6, 0, tzinfo=UTC), datetime(2026, 4, 1, 5, 0, tzinfo=UTC)):
        assert cells.slot[cells.cell(moment.timestamp())] == 7 * CELLS_A_DAY // 24


def test_factors_shrink_to_one_without_evidence() -> None:
    expected = np.full(24, 2.0)
    steady, peaked = np.full(24, 2.0), np.zeros(24)
    peaked[8] = 48
    assert np.allclose(factors(steady, expected, 1.0), 1.0)
    assert factors(peaked, expected, 1.0)[8] > 20
    chance = np.array([2, 1, 3, 2, 4, 1, 0, 2, 3, 2, 1, 2, 5, 2, 1, 2, 3, 2, 2, 1, 3, 0, 2, 2], dtype=float)
    assert factors(chance, expected, 1.0).max() < 1.3


@pytest.mark.parametrize("per_hour", [5.0, 50.0, 400.0])
def test_price_spends_budget(per_hour: float) -> None:
    rates = [0.01 * 1.07**n for n in range(150)]
    found = price(rates, per_hour, shortest=10, longest=1e9)
    visits = np.clip(np.sqrt(np.array(rates) / (2 * found)), 0, 144).sum()
    assert visits == pytest.approx(per_hour * 24, rel=0.01)


def test_price_is_bounded() -> None:
    assert price([1.0], 1e9) < 1e-9
    assert price([], 10.0) > 0


def test_overdue_source_is_due_now() -> None:
    past = hourly(dict.fromkeys(range(24), 1))
    awake = NOW + 6 * HOUR
    assert plan_next(past, now=awake).at == awake
