"""Dates and times as forum boards write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from newsportal.extractors.forum.anchors import RELATIVE, RELATIVE_HINT, floor_of, is_time
from newsportal.extractors.forum.times import parse_time

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("3分钟前", timedelta(minutes=3)),
        ("半小时前", timedelta(minutes=30)),
        ("2 hours ago", timedelta(hours=2)),
        ("vor 3 Stunden", timedelta(hours=3)),
        ("vor einem Tag", timedelta(days=1)),
        ("il y a 2 jours", timedelta(days=2)),
        ("hace 5 minutos", timedelta(minutes=5)),
        ("há 2 semanas", timedelta(weeks=2)),
        ("3 часа назад", timedelta(hours=3)),
        ("2 giorni fa", timedelta(days=2)),
        ("1 Jahr 2 Tage her", timedelta(days=367)),
        ("3h", timedelta(hours=3)),
        ("2 uur geleden", timedelta(hours=2)),
    ],
)
def test_relative_age_counts_back_from_now(text: str, ago: timedelta) -> None:
    assert parse_time(text, NOW) == NOW - ago


@pytest.mark.parametrize(
    ("text", "day"), [("heute um 10:15", 10), ("gestern, 10:15", 9), ("hier à 10:15", 9), ("вчера в 10:15", 9), ("anteayer a las 10:15", 8)]
)
def test_named_day_keeps_time_of_day(text: str, day: int) -> None:
    assert parse_time(text, NOW) == datetime(2024, 3, day, 10, 15, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "Member", "12 posts", "99 red balloons", "gestern um 25:99", "9999 years and a day" * 10])
def test_other_texts_are_not_times(text: str) -> None:
    assert parse_time(text, NOW) is None


@pytest.mark.parametrize(
    "text", ["2024-3-5 08:30", "Mar 5, 2024", "5. März 2024", "03-05 08:30", "昨天 08:30", "3 weeks ago", "vor 3 Stunden"]
)
def test_time_like_text_is_recognised(text: str) -> None:
    assert is_time(text)


@pytest.mark.parametrize("text", ["12", "Posts: 1,234", "price 20.50", "v1.2.3", "see chapter 3", "3h"])
def test_other_text_is_not_time_like(text: str) -> None:
    assert not is_time(text)


def test_quick_check_loses_no_relative_time() -> None:
    """Every word of ``RELATIVE`` has a part in ``RELATIVE_HINT``: add those of a new language to both, and here."""
    after, before = "前 之前 以前 ago her fa назад atrás geleden temu", "vor,il y a,hace,há,для"
    days = "今天 昨天 今日 昨日 today yesterday heute gestern aujourd'hui hier hoy ayer oggi ieri сегодня вчера wczoraj dzisiaj vandaag"
    week = "gisteren monday tuesday wednesday thursday friday saturday sunday"
    texts = [f"3 min {word}" for word in after.split()] + [f"{word} 3 min" for word in before.split(",")] + ["刚刚", "剛才", "just now"]
    for text in [*texts, *(f"{word} 10:30" for word in f"{days} {week}".split())]:
        assert RELATIVE.search(text), text
        assert all(RELATIVE_HINT.search(form.lower()) for form in (text, text.upper(), text.title())), text


def test_bare_age_is_a_time_in_a_time_element() -> None:
    assert is_time("3h", named=True)


@pytest.mark.parametrize(
    ("text", "floor"), [("12楼", 12), ("第 3 楼", 3), ("沙发", 2), ("楼主", 1), ("#7", 7), ("Post #12", 12), ("12#", 12)]
)
def test_floor_numbers_are_read(text: str, floor: int) -> None:
    assert floor_of(text) == floor


@pytest.mark.parametrize("text", ["12", "C# 8 is out", "#topic", "楼上说得对"])
def test_other_texts_are_not_floors(text: str) -> None:
    assert floor_of(text) is None
