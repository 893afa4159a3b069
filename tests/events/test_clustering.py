"""Clustering of stories into events: follow-ups under other titles join, similar and periodic reports stay separate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from newsportal.events import EventClusters, Story, places_among

MOMENT = datetime(2026, 3, 1, 8, tzinfo=UTC)


def story(id: str, title: str, terms: str, days: float = 0, places: str = "") -> Story:
    return Story(id, title, MOMENT + timedelta(days=days), dict.fromkeys(terms.split(), 1.0), frozenset(places.split()))


def events_of(*stories: Story) -> list[str]:
    clusters = EventClusters()
    return [clusters.add(story).event for story in stories]


LAUNCH = story("1", "远山手机发布新机", "远山 新机 发布会 摄像头 屏幕 售价")
RECALL = story("2", "因电池过热，首批用户可免费更换", "远山 电池 过热 更换 新机 用户", days=40)
OTHER = story("3", "海港新渡轮下水", "渡轮 海港 船厂 下水 航线 乘客", days=41)


def test_follow_up_under_other_title_joins_its_event() -> None:
    assert events_of(LAUNCH, OTHER, RECALL) == ["1", "3", "1"]


def test_membership_has_terms_and_score() -> None:
    clusters = EventClusters()
    assert clusters.add(LAUNCH).score == 1.0
    found = clusters.add(RECALL)
    assert set(found.terms) == {"远山", "新机"}
    assert found.score == pytest.approx(2 / 6)


def test_similar_accidents_at_different_places_are_separate() -> None:
    kind = "爆炸 化工厂 伤者 消防"
    first = story("a", "化工厂爆炸", f"{kind} 青河 东山镇 宏达 原因 调查 医院 安全 火势 居民 现场", places="青河 东山镇")
    second = story("b", "又一化工厂爆炸", f"{kind} 海城 西塘镇 码头 油罐 港口 气味 疏散 学校 停课 风向", 3, "海城 西塘镇")
    again = story("c", "青河化工厂爆炸原因查明", "爆炸 化工厂 青河 宏达 原因 阀门 老化 责任人 处理 通报", 5, "青河")
    assert events_of(first, second, again) == ["a", "b", "a"]
    assert events_of(first, story("b", "又一化工厂爆炸", " ".join(second.terms), 3)) == ["a", "a"], "only the places separate them"


def test_daily_reports_with_changing_numbers_are_separate() -> None:
    terms = "人民币 中间价 基点 美元 外汇"
    days = [story(str(day), f"人民币对美元中间价报6.8{day} 上调{day + 1}2个基点", terms, days=day) for day in range(4)]
    assert events_of(*days) == ["0", "1", "2", "3"]
    same_day = story("x", "人民币对美元中间价报6.80 上调12个基点", terms, days=0.1)
    assert events_of(days[0], same_day) == ["0", "0"], "one report on two sites"


def test_daily_column_with_same_title_is_separate() -> None:
    days = [story(str(day), "溪峰早市菜价", "溪峰 早市 菜价 批发价", days=day) for day in range(3)]
    assert events_of(*days) == ["0", "1", "2"]


def test_story_without_terms_is_its_own_event() -> None:
    assert events_of(story("1", "", ""), story("2", "", ""), LAUNCH.__class__("3", "", None, {})) == ["1", "2", "3"]


def test_story_added_twice_keeps_its_event() -> None:
    assert events_of(LAUNCH, LAUNCH) == ["1", "1"]
    assert events_of(story("1", "", ""), story("1", "", "")) == ["1", "1"]


def test_terms_of_an_event_are_bounded() -> None:
    clusters = EventClusters()
    for number in range(100):
        clusters.add(story(str(number), "远山", " ".join(["远山", "新机", *(f"词{number}-{term}" for term in range(6))])))
    event: Any = clusters._events["0"]
    assert event.stories == 100
    assert len(event.terms) <= 160
    assert "远山" in event.terms


def test_postings_are_bounded_per_event() -> None:
    clusters = EventClusters()
    for number in range(500):
        clusters.add(story(str(number), "远山", "远山 新机 铰链"))
    assert len(clusters) == 1
    assert len(clusters._postings["远山"]) <= 64
    clusters.remove("0")
    for number in range(500, 600):
        clusters.add(story(str(number), "远山", "远山 新机 铰链"))
    assert clusters.state("500").stories == 100


def test_story_is_compared_only_with_events_sharing_terms() -> None:
    clusters = EventClusters()
    for number in range(2_000):
        clusters.add(story(str(number), "", " ".join(f"词{number}-{term}" for term in range(5))))
    assert clusters.add(LAUNCH).event == "1"


def test_places_are_found_by_dictionary() -> None:
    assert places_among(["杭州", "纵火", "加沙", "東京"]) == {"杭州", "加沙", "東京"}
