"""Rules common to all policies: intervals, failures, rests, hours, jumping clocks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from newsportal.items.visits import Visit
from newsportal.schedule import POLICIES, due, next_visit
from newsportal.schedule.policies import History, Rules, period

ZONE = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=ZONE)
HOURLY = Rules("feed:a", interval=60, zone=ZONE)


def ago(**passed: float) -> History:
    return History(last=NOON - timedelta(**passed))


@pytest.mark.parametrize("policy", ["learnt", "fixed", "weight"])
def test_source_without_visits_is_due(policy: str) -> None:
    assert due(History(), Rules(policy=policy), NOON)


@pytest.mark.parametrize(("minutes", "expected"), [(59, False), (60, True), (600, True)])
def test_source_is_due_after_interval(minutes: int, expected: bool) -> None:
    assert due(ago(minutes=minutes), HOURLY, NOON) is expected


@pytest.mark.parametrize("policy", list(POLICIES))
def test_configured_interval_overrides_policy(policy: str) -> None:
    rules = replace(HOURLY, policy=policy, interval=7)
    assert next_visit(ago(minutes=5), rules, NOON).at == NOON + timedelta(minutes=2)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_next_visit_is_within_a_day_from_now(policy: str) -> None:
    past = History.from_visits([Visit("feed:a", NOON - timedelta(hours=hours), new=hours % 3) for hours in range(1, 90)])
    found = next_visit(past, Rules("feed:a", policy=policy, zone=ZONE), NOON)
    assert NOON <= found.at <= NOON + timedelta(hours=26)
    assert found.reason


def test_failures_double_wait_up_to_a_day() -> None:
    assert next_visit(History(last=NOON, failures=2), HOURLY, NOON).at == NOON + timedelta(hours=4)
    assert next_visit(History(last=NOON, failures=40), HOURLY, NOON).at == NOON + timedelta(days=1)
    assert next_visit(History(last=NOON, failures=40), replace(HOURLY, interval=7 * 1440), NOON).at == NOON + timedelta(days=7)
    assert "failed 2 times" in str(next_visit(History(last=NOON, failures=2), HOURLY, NOON).reason)


def test_failures_are_counted_from_visits() -> None:
    broken = [Visit("feed:a", NOON - timedelta(hours=hours), list_failed={"http-503": 1}) for hours in range(3)]
    assert History.from_visits([*broken, Visit("feed:a", NOON - timedelta(hours=4), entries=9)]).failures == 3
    assert History.from_visits(broken).failures == 3
    assert History.from_visits([]).last is None


def test_resting_source_is_not_visited() -> None:
    until = NOON + timedelta(hours=5)
    assert next_visit(History(rest_until=until), HOURLY, NOON).at == until


def test_source_waits_for_its_hours() -> None:
    assert next_visit(History(), replace(HOURLY, hours=frozenset({6, 7})), NOON).at == datetime(2026, 3, 6, 6, 0, tzinfo=ZONE)
    later = NOON + timedelta(minutes=30)
    assert next_visit(History(), replace(HOURLY, hours=frozenset({12})), later).at == later


@pytest.mark.parametrize("policy", list(POLICIES))
def test_clock_set_back_does_not_delay_source(policy: str) -> None:
    future = NOON + timedelta(days=300)
    past = replace(History.from_visits([Visit("feed:a", future, new=3)]), failures=2)
    assert due(past, Rules("feed:a", policy=policy, zone=ZONE), NOON)
    skewed = History(last=NOON + timedelta(minutes=5))
    assert not due(skewed, Rules("feed:a", policy=policy, zone=ZONE), NOON), "another machine's clock"


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
@pytest.mark.parametrize("policy", list(POLICIES))
def test_dst_nights_are_scheduled_as_usual(day: datetime, policy: str) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    rules = Rules("feed:a", policy=policy, zone=berlin, hours=frozenset(range(24)))
    for minutes in range(0, 6 * 60, 20):
        now = day + timedelta(minutes=minutes)
        past = History.from_visits([Visit("feed:a", now - timedelta(minutes=40), new=1)])
        assert now <= next_visit(past, rules, now).at <= now + timedelta(hours=25)


def test_hour_skipped_by_dst_waits_for_next_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    night = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)  # 2:00 to 3:00 does not exist
    found = next_visit(History(), Rules(interval=60, hours=frozenset({2}), zone=berlin), night)
    assert found.at == datetime(2026, 3, 30, 0, 0, tzinfo=UTC)


def test_weight_shortens_period_geometrically() -> None:
    periods = [period(weight, 10, 240) for weight in range(1, 11)]
    assert (periods[0], round(periods[-1], 9)) == (240, 10)
    assert all(1.42 < first / other < 1.43 for first, other in pairwise(periods)), "each step has the same factor"
    assert (period(0, 10, 240), period(99, 10, 240)) == (240, periods[-1])
    assert period(3, 30, 30) == 30
    assert next_visit(History(last=NOON), Rules(policy="weight", weight=10, shortest=10, longest=240), NOON).at == NOON + timedelta(
        minutes=10
    )
