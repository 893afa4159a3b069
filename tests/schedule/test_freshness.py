"""Freshness hints of feeds (cache headers, skipped hours and days) and validators that never change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from newsportal.items.visits import Visit
from newsportal.schedule.freshness import fresh_for, is_stuck, skip_for

NOON = datetime(2026, 3, 5, 12, 30, tzinfo=UTC)  # a Thursday
DATE = "Thu, 05 Mar 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (("max-age=300", None, None), 300),
        (("public, s-maxage=9, Max-Age = 600", None, None), 600),
        (("max-age=31536000", None, None), 3600),
        (("max-age=0, no-cache", "Thu, 05 Mar 2026 13:00:00 GMT", DATE), None),
        (("no-store", "Thu, 05 Mar 2026 12:10:00 GMT", DATE), 600),
        ((None, "0", DATE), None),
        ((None, "Thu, 05 Mar 2026 11:00:00 GMT", DATE), None),
        ((None, "Thu, 05 Mar 2026 12:10:00 GMT", None), None),
        (("max-age=-5", None, None), None),
        (("max-age=" + "9" * 5000, None, None), 3600),
        ((None, None, None), None),
    ],
)
def test_cache_lifetime(headers: tuple[str | None, str | None, str | None], seconds: float | None) -> None:
    assert fresh_for(*headers) == seconds


def test_skipped_hours_and_days_are_respected() -> None:
    assert skip_for((), (), NOON) is None
    assert skip_for((13, 14), (), NOON) is None
    assert skip_for((12, 13), (), NOON) == 1.5 * 3600
    assert skip_for((), (3,), NOON) == 11.5 * 3600
    assert skip_for(range(24), (), NOON) is None, "a feed that skips all hours is ignored"


def visits(same: int, bringing: int = 10) -> list[Visit]:
    quiet = [Visit("feed:a", NOON - timedelta(hours=n), list_pages=1, not_modified=True) for n in range(same)]
    return quiet + [Visit("feed:a", NOON - timedelta(hours=same + n), list_pages=1, entries=9, new=1) for n in range(bringing)]


def test_permanent_304_is_suspicious() -> None:
    assert is_stuck(visits(20))
    assert not is_stuck(visits(6))
    assert not is_stuck(visits(20, bringing=2)), "too few visits are known"
    assert not is_stuck([])


def test_daily_source_is_not_suspicious_after_half_a_day() -> None:
    daily = [Visit("feed:a", NOON - timedelta(hours=n), list_pages=1, not_modified=n % 24 != 23, new=int(n % 24 == 23)) for n in range(100)]
    assert not is_stuck(daily)


def test_full_response_resets_count() -> None:
    full = Visit("feed:a", NOON + timedelta(hours=1), list_pages=1, entries=9)
    assert not is_stuck([full, *visits(20)])
