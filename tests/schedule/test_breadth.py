"""Number of result pages by hour of the day (proposed in paper A)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.items.visits import Visit
from newsportal.schedule.policies import result_pages

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def hourly(days: int = 7) -> list[Visit]:
    """Return visits of which half of the results are new by day and nearly none at night."""
    found = []
    for back in range(1, days * 24):
        at = NOON - timedelta(hours=back)
        found.append(Visit("engine:a", at, list_pages=2, entries=40, new=20 if 8 <= at.hour < 20 else 1))
    return found


def test_quiet_hours_get_one_page_and_busy_hours_more() -> None:
    assert result_pages(hourly(), NOON, UTC, usual=2) == 5
    assert result_pages(hourly(), NOON - timedelta(hours=9), UTC, usual=2) == 1


def test_unvisited_hour_gets_average() -> None:
    seldom = [visit for visit in hourly() if visit.at.hour != 12]
    assert 2 <= result_pages(seldom, NOON, UTC, usual=9) <= 4


def test_default_applies_until_enough_is_known() -> None:
    assert result_pages([], NOON, UTC, usual=2) == 2
    assert result_pages(hourly()[:4], NOON, UTC, usual=3) == 3
    blocked = [Visit("engine:a", visit.at, list_failed={"blocked: captcha": 1}) for visit in hourly()]
    assert result_pages(blocked, NOON, UTC, usual=2) == 2, "a refusal says nothing about the hour"
