"""Relative times, dates and durations."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from newsportal.portal.language import Clock, translations

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)  # 18:30 in Shanghai
ZH = Clock(NOW, ZoneInfo("Asia/Shanghai"), "zh", translations("zh"))
EN = Clock(NOW, ZoneInfo("Europe/London"), "en", translations("en"))


@pytest.mark.parametrize(
    ("before", "zh", "en"),
    [
        (timedelta(seconds=20), "刚刚", "just now"),
        (timedelta(minutes=1), "1 分钟前", "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 分钟前", "59 minutes ago"),
        (timedelta(hours=1), "1 小时前", "1 hour ago"),
        (timedelta(hours=23, minutes=59), "23 小时前", "23 hours ago"),
        (timedelta(days=1), "5月19日", "May 19"),
        (timedelta(days=400), "2025年4月15日", "Apr 15, 2025"),
        (timedelta(minutes=-3), "5月20日", "May 20"),
    ],
)
def test_relative_time_within_a_day_then_date(before: timedelta, zh: str, en: str) -> None:
    assert (ZH.ago(NOW - before), EN.ago(NOW - before)) == (zh, en)


def test_days_begin_at_midnight_in_the_portals_zone() -> None:
    late = datetime(2026, 5, 19, 15, 59, tzinfo=UTC)
    assert ZH.heading(ZH.local(late).date()) == "昨天"
    assert ZH.heading(ZH.local(late + timedelta(minutes=1)).date()) == "今天"
    assert ZH.heading(date(2026, 5, 18)) == "5月18日周一"
    assert ZH.heading(date(2025, 12, 31)) == "2025年12月31日周三"
    assert EN.heading(date(2026, 5, 18)) == "Mon, May 18"


def test_extreme_dates_are_formatted() -> None:
    for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)):
        assert ZH.ago(moment)
        assert ZH.full(moment)
        assert ZH.time(moment)


@pytest.mark.parametrize(("seconds", "expected"), [(0, "0:00"), (218, "3:38"), (3723, "1:02:03"), (-5, "0:00")])
def test_duration_of_a_run(seconds: int, expected: str) -> None:
    assert ZH.lasted(NOW, NOW + timedelta(seconds=seconds)) == expected
