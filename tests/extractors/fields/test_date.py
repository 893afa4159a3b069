"""Parsing of written dates in many forms; implausible publication dates are refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import ends

from newsportal.extractors.fields.date import find_dates, parse_date
from newsportal.extractors.fields.date_forms import FORMS, REQUIRED, words_of

NOW = datetime(2024, 3, 6, 12, 0, tzinfo=UTC)  # a Wednesday; 20:00 in China

CHINESE = [
    ("2024年3月5日 08:30", "2024-03-05T08:30:00+08:00"),
    ("2024年03月05日08时30分15秒", "2024-03-05T08:30:15+08:00"),
    ("2024年3月5日（星期二）下午3:30", "2024-03-05T15:30:00+08:00"),
    ("2024/3/5（二）晚上 8點", "2024-03-05T20:00:00+08:00"),
    ("2024年3月5日 凌晨12:05", "2024-03-05T00:05:00+08:00"),
    ("２０２４年３月５日　１８：３０", "2024-03-05T18:30:00+08:00"),
    ("发布时间：2024.03.05 15:30 来源：某某网", "2024-03-05T15:30:00+08:00"),
    ("二〇二四年三月五日", "2024-03-05T00:00:00+08:00"),
    ("二○一二年十二月二十一日 上午9点", "2012-12-21T09:00:00+08:00"),
    ("民國113年3月5日", "2024-03-05T00:00:00+08:00"),
    ("中華民國一百一十三年三月五日", "2024-03-05T00:00:00+08:00"),
    ("24年3月5日", "2024-03-05T00:00:00+08:00"),
    ("令和6年3月5日", "2024-03-05T00:00:00+08:00"),
    ("3月5日讯", "2024-03-05T00:00:00+08:00"),
    ("12月31日 23:59", "2023-12-31T23:59:00+08:00"),
    ("2月29日", "2024-02-29T00:00:00+08:00"),
    ("更新于 03-05 08:30", "2024-03-05T08:30:00+08:00"),
    ("昨天 08:30", "2024-03-05T08:30:00+08:00"),
    ("前天08:30", "2024-03-04T08:30:00+08:00"),
    ("今天 01:02", "2024-03-06T01:02:00+08:00"),
    ("周二 08:30", "2024-03-05T08:30:00+08:00"),
    ("3分钟前", "2024-03-06T19:57:00+08:00"),
    ("3 小時前", "2024-03-06T17:00:00+08:00"),
    ("半小时前", "2024-03-06T19:30:00+08:00"),
    ("两天前", "2024-03-04T20:00:00+08:00"),
    ("刚刚", "2024-03-06T20:00:00+08:00"),
]

OTHERS = [
    ("2024-03-05T08:30:00Z", "2024-03-05T08:30:00+00:00"),
    ("2024-03-05T08:30:00.123456+08:00", "2024-03-05T08:30:00+08:00"),
    ("2024-03-05T08:30-0500", "2024-03-05T08:30:00-05:00"),
    ("2024-3-5 24:00", "2024-03-06T00:00:00+00:00"),
    ("2024-03-05 09:00-10:00", "2024-03-05T09:00:00+00:00"),
    ("20240305", "2024-03-05T00:00:00+00:00"),
    ("20240305083000", "2024-03-05T08:30:00+00:00"),
    ("1709600000", "2024-03-05T00:53:20+00:00"),
    ("1709600000000", "2024-03-05T00:53:20+00:00"),
    ("03-05 08:30", "2024-03-05T08:30:00+00:00"),
    ("12-31 23:59", "2023-12-31T23:59:00+00:00"),
    ("Mar 5 2024", "2024-03-05T00:00:00+00:00"),
    ("Mar. 5th, 2024 8:30 pm EST", "2024-03-05T20:30:00-05:00"),
    ("5 March 2024", "2024-03-05T00:00:00+00:00"),
    ("5thMarch 2024", "2024-03-05T00:00:00+00:00"),
    ("5 KASIM 2023", "2023-11-05T00:00:00+00:00"),
    ("12 NİSAN 2023", "2023-04-12T00:00:00+00:00"),
    ("12:30 AM GMT, Tue March 5, 2024", "2024-03-05T00:30:00+00:00"),
    ("Tue, 05 Mar 2024 08:30:00 GMT", "2024-03-05T08:30:00+00:00"),
    ("Tue Mar 05 08:30:00 CST 2024", "2024-03-05T08:30:00+08:00"),
    ("13/01/2024", "2024-01-13T00:00:00+00:00"),
    ("01/13/2024", "2024-01-13T00:00:00+00:00"),
    ("05.03.2024, 10:30 Uhr", "2024-03-05T10:30:00+00:00"),
    ("5. März 2024", "2024-03-05T00:00:00+00:00"),
    ("le 5 mars 2024 à 10h30", "2024-03-05T10:30:00+00:00"),
    ("5 de marzo de 2024", "2024-03-05T00:00:00+00:00"),
    ("3 апреля 2023", "2023-04-03T00:00:00+00:00"),
    ("2024년 3월 5일 오후 3:30", "2024-03-05T15:30:00+09:00"),
    ("2 hours ago", "2024-03-06T10:00:00+00:00"),
    ("an hour ago", "2024-03-06T11:00:00+00:00"),
    ("yesterday at 10:20", "2024-03-05T10:20:00+00:00"),
    ("Tuesday at 8:30 AM", "2024-03-05T08:30:00+00:00"),
    ("ngày 5 tháng 3 năm 2024", "2024-03-05T00:00:00+00:00"),  # none of our own forms: read by the fallback parser
]


@pytest.mark.parametrize(("text", "expected"), CHINESE + OTHERS)
def test_written_date_is_parsed(text: str, expected: str) -> None:
    found = parse_date(text, NOW)
    assert found is not None
    assert found.isoformat() == expected


NOT_DATES = """
0001-01-01 | 2099-01-01 08:30 | 1900-01-01 | 2024-03-08 00:00 | 2024-02-30 | 13/13/2024 | 9999年前 | 版本 1.2.3 | 12345 | 2024年3月 | March
1:2 | 4000000000 | 电话 010-1234-5678 | 99-99 25:61 | 2024 | 中共十八大 | 100 日元
"""


@pytest.mark.parametrize("text", ["", *(text.strip() for text in NOT_DATES.replace("\n", "|").split("|") if text.strip())])
def test_implausible_date_is_none(text: str) -> None:
    assert parse_date(text, NOW) is None


def test_date_one_day_ahead_is_plausible() -> None:
    assert parse_date("2024-03-07 11:59", NOW) is not None
    assert parse_date("2024-03-07 12:01", NOW) is None


def test_default_zone_applies_only_without_explicit_zone() -> None:
    east = timezone(timedelta(hours=8))
    assert parse_date("2024-03-05 08:30", NOW, east).isoformat() == "2024-03-05T08:30:00+08:00"  # type: ignore[union-attr]
    assert parse_date("2024-03-05T08:30:00Z", NOW, east).isoformat() == "2024-03-05T08:30:00+00:00"  # type: ignore[union-attr]


def test_dates_in_text_are_found_in_order_without_duplicates() -> None:
    text = "原标题 2024-03-01 08:00 更新：2024年3月2日，活动 3月3日 举行，2099年1月1日"
    found = list(find_dates(text, NOW))
    assert [(written.when.day, written.has_time, written.has_year) for written in found] == [
        (1, True, True),
        (2, False, True),
        (3, False, False),
    ]
    assert text[found[1].start : found[1].end] == "2024年3月2日"


@given(st.text(max_size=200))
def test_any_text_gives_plausible_dates(text: str) -> None:
    for written in find_dates(text, NOW):
        assert written.when.tzinfo is not None
        assert 1990 <= written.when.year <= 2024


@given(
    st.datetimes(datetime(1990, 1, 2), datetime(2024, 3, 5)),  # noqa: DTZ001 (hypothesis wants naive bounds)
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%Y年%m月%d日 %H:%M:%S", "%b %d, %Y %H:%M:%S"]),
)
def test_formatted_dates_round_trip(when: datetime, form: str) -> None:
    found = parse_date(when.strftime(form), NOW)
    assert found is not None
    assert found.replace(tzinfo=None) == when.replace(microsecond=0)


@pytest.mark.parametrize("part", ["1-", "20 ", "1:1", "年1月", "Mar ", "一", "5 de de de ", "08:30 "])
def test_repeated_date_pieces_take_linear_time(part: str) -> None:
    with ends():
        parse_date(part * 300_000, NOW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dec 28 Sat 2013 00:28", "2013-12-28T00:28"),
        ("Di 05.03.24 | 14:07 Uhr", "2024-03-05T14:07"),
        ("Mar 5, 2024 8:30", "2024-03-05T08:30"),
    ],
)
def test_weekdays_and_short_years(text: str, expected: str) -> None:
    found = parse_date(text, NOW, UTC)
    assert found is not None
    assert found.isoformat().startswith(expected)


def test_day_first_option() -> None:
    assert [found.when.month for found in find_dates("05/03/2024", NOW, UTC, day_first=True)] == [3]
    assert [found.when.day for found in find_dates("02/13/2024", NOW, UTC, day_first=True)] == [13]


@given(st.text(alphabet="0123456789年月日号時时点:-/. 前天昨今刚才周二agoMarDec,中华民国十thıİSN", max_size=40))
def test_character_prefilter_misses_no_form(text: str) -> None:
    """Each form lists the characters it needs; a form that matched without them would never be tried."""
    for pattern, read in FORMS:
        if pattern.search(text) and read in REQUIRED:
            assert not REQUIRED[read].isdisjoint((*text, *words_of(text)))
