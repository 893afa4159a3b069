"""Switching hours off and on (paper B)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.items.visits import Visit
from newsportal.schedule import next_visit
from newsportal.schedule.policies import FIRST_HOURS, History, Rules, active_hours

DAY = datetime(2026, 3, 5, tzinfo=UTC)


def visits(*counts: tuple[int, int]) -> list[Visit]:
    """Return visits from (hour, new entries), newest first."""
    return [Visit("region:a", DAY + timedelta(hours=hour, minutes=10), new=new) for hour, new in reversed(counts)]


def test_initial_hours_are_six_to_midnight() -> None:
    assert active_hours([], UTC) == FIRST_HOURS == frozenset(range(6, 24))


def test_hour_without_new_entries_is_switched_off() -> None:
    assert active_hours(visits((6, 2), (7, 0), (8, 0), (9, 1)), UTC) == FIRST_HOURS - {7}


def test_hour_is_switched_on_if_next_hour_has_entries() -> None:
    assert 8 not in active_hours(visits((8, 0)), UTC)
    assert 8 in active_hours(visits((8, 0), (9, 5)), UTC)
    assert 5 not in active_hours(visits((6, 5)), UTC), "an hour that was never on stays off"


def test_failed_visit_changes_no_hour() -> None:
    assert 8 in active_hours([Visit("region:a", DAY + timedelta(hours=8), list_failed={"timeout": 1})], UTC)


def test_all_hours_off_resets_to_initial_hours() -> None:
    assert active_hours(visits(*((hour, 0) for hour in range(6, 24))), UTC) == FIRST_HOURS


def test_next_visit_is_once_per_active_hour() -> None:
    rules = Rules("region:a", policy="hours")
    past = History.from_visits(visits((6, 2), (7, 0), (8, 0), (9, 1)))
    found = next_visit(past, rules, DAY + timedelta(hours=9, minutes=20))
    assert found.at.hour == 10
    assert "switched off: 7" in str(found.reason)
    tomorrow = next_visit(History.from_visits(visits((22, 1), (23, 1))), rules, DAY + timedelta(hours=23, minutes=55))
    assert (tomorrow.at - DAY) // timedelta(hours=1) == 24 + 6


def test_visits_spread_over_minutes_of_hour() -> None:
    past = History.from_visits(visits((6, 1)))
    at = [next_visit(past, Rules(f"region:{n}", policy="hours"), DAY + timedelta(hours=6, minutes=59)).at.minute for n in range(600)]
    assert max(map(at.count, range(60))) < 30
