"""Time bounds in queries, and days in the reader's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from newsportal.search.base import Query
from newsportal.search.match import parse

if TYPE_CHECKING:
    from conftest import Newsroom

SHANGHAI = ZoneInfo("Asia/Shanghai")
FIRST = datetime(2026, 2, 28, 16, 0, tzinfo=UTC)  # 1 March begins in Shanghai


def bounds(text: str, **which: datetime) -> tuple[datetime | None, datetime | None]:
    query = parse(Query(text, zone=SHANGHAI, **which))
    return query.since, query.until


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("桥 since:2026-03-01", FIRST, None),
        ("桥 after:2026-03", FIRST, None),
        ("自：2026年3月1日 桥", FIRST, None),
        ("桥 until:2026-02", None, FIRST),
        ("桥 至:2026/2/28", None, FIRST),
        ("桥 before:2026-03-01", None, FIRST),
        ("since:2026 until:2026", datetime(2025, 12, 31, 16, tzinfo=UTC), datetime(2026, 12, 31, 16, tzinfo=UTC)),
        ("since:2025 since:2026-03 from:2024", FIRST, None),  # the narrowest bound applies
        ('until:"2026-12"', None, datetime(2026, 12, 31, 16, tzinfo=UTC)),
    ],
)
def test_days_months_and_years_are_bounds(text: str, since: datetime | None, until: datetime | None) -> None:
    assert bounds(text) == (since, until)


@pytest.mark.parametrize("text", ["since:2026-02-30", "since:0000", "until:9999", "since:yesterday", "since:", "-since:2026", "before:13"])
def test_invalid_date_is_not_a_bound(text: str) -> None:
    assert bounds(f"桥 {text}") == (None, None)


def test_bounds_in_query_and_parameters_combine() -> None:
    later = FIRST + timedelta(days=3)
    assert bounds("since:2026-03-01", since=later) == (later, None)
    assert bounds("until:2026-03", until=later) == (None, later)


def test_time_bound_filters_with_or_without_words(newsroom: Newsroom) -> None:
    for hours, title in ((-1, "桥 昨天"), (0, "桥 今天"), (30, "路 明天")):
        newsroom.write(title, published=FIRST + timedelta(hours=hours), now=FIRST + timedelta(days=9))
    assert newsroom.titles("桥 since:2026-03-01", zone=SHANGHAI) == ["桥 今天"]
    assert newsroom.titles("桥 before:2026-03-01", zone=SHANGHAI) == ["桥 昨天"]
    assert newsroom.titles("since:2026-03-01 until:2026-03-01", zone=SHANGHAI) == ["桥 今天"]
    assert newsroom.titles("since:2026-03 -桥", zone=SHANGHAI) == ["路 明天"]
    assert newsroom.titles("桥 since:2027") == newsroom.titles("-桥") == []


def test_day_facet_uses_time_zone(newsroom: Newsroom) -> None:
    newsroom.write("桥", published=FIRST)
    newsroom.write("桥", published=datetime(2025, 7, 1, 3, 30, tzinfo=UTC))
    assert newsroom.find("桥", zone=SHANGHAI).facets["day"] == {"2026-03-01": 1, "2025-07-01": 1}
    assert newsroom.find("桥", zone=ZoneInfo("America/New_York")).facets["day"] == {"2026-02-28": 1, "2025-06-30": 1}  # summer time
    assert newsroom.find("桥", zone=UTC).facets["day"] == {"2026-02-28": 1, "2025-07-01": 1}
