"""Result pages by hour of the day (paper A's wish)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from newsportal.items.visits import Visit
from newsportal.schedule.policies import pages

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def hourly(days: int = 7) -> list[Visit]:
    """By day half of the results are new, at night nearly none."""
    found = []
    for back in range(1, days * 24):
        at = NOON - timedelta(hours=back)
        found.append(Visit("engine:a", at, list_pages=2, entries=40, new=20 if 8 <= at.hour < 20 else 1))
    return found


def test_nights_of_repeats_get_one_page_and_busy_hours_all() -> None:
    assert pages(hourly(), NOON, UTC, usual=2) == 5
    assert pages(hourly(), NOON - timedelta(hours=9), UTC, usual=2) == 1


def test_an_hour_never_asked_gets_what_all_hours_would() -> None:
    seldom = [visit for visit in hourly() if visit.at.hour != 12]
    assert 2 <= pages(seldom, NOON, UTC, usual=9) <= 4


def test_before_anything_is_known_the_usual_number_is_read() -> None:
    assert pages([], NOON, UTC, usual=2) == 2
    assert pages(hourly()[:4], NOON, UTC, usual=3) == 3
    blocked = [Visit("engine:a", visit.at, list_failed={"blocked: captcha": 1}) for visit in hourly()]
    assert pages(blocked, NOON, UTC, usual=2) == 2, "a block says nothing of the hour"
