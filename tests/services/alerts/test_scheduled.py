"""Scheduled alerts: the briefing of the stories since its last hour, and rising subjects; sent once, and not if there is nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from newsportal.services.accounts.alerts import Alert
from newsportal.services.alerts import making
from newsportal.services.alerts.base import AlertMessage, Item
from newsportal.services.alerts.making import past_spans
from newsportal.services.alerts.opening import preview
from newsportal.services.alerts.run import step
from newsportal.services.boards import RisingBoard, replay_boards

SHANGHAI = ZoneInfo("Asia/Shanghai")
FERRY = "远山船厂的新渡轮今天下水，渡轮载客三百人。船长李林说，首航定在五月一日。"
BRIDGE = "云岭峡谷观景桥昨天因大风关闭，桥上游客全部撤离。景区表示，风力超过六级时观景桥都会关闭。"


def briefing_alert(desk: Any, receiver: Any, **options: Any) -> Alert:
    alert: Alert = desk.alert(
        "webhook", {"url": receiver.address}, **{"name": "简报", "about": "briefing", "of": "", "digest": (12, 18), **options}
    )
    return alert


def test_briefing_covers_time_since_last_hour(desk: Any, receiver: Any) -> None:
    desk.write("清早的旧闻", published=desk.clock[0] - timedelta(days=3))
    briefing_alert(desk, receiver)
    desk.write("远山船厂渡轮下水", FERRY)
    assert step(desk.work).sent == 0
    desk.pass_time(hours=2, minutes=1)  # 12:01
    assert step(desk.work).sent == 1
    assert step(desk.work).sent == 0
    desk.write("观景桥因大风关闭", BRIDGE)
    desk.pass_time(hours=6)
    assert step(desk.work).sent == 1
    first, second = (body for _, _, body in receiver.received)
    assert [story["title"] for story in first["stories"]] == ["远山船厂渡轮下水"]
    assert "渡轮载客三百人。船长李林说，首航定在五月一日。\n晨光网 https://portal.example/story/" in first["text"]
    assert first["title"] == "「简报」有 1 件要闻"
    assert [story["title"] for story in second["stories"]] == ["观景桥因大风关闭"]


def test_empty_briefing_is_not_sent(desk: Any, receiver: Any) -> None:
    alert = briefing_alert(desk, receiver, of="航运")
    desk.write("远山船厂渡轮下水", FERRY)  # of another topic
    desk.pass_time(hours=3)
    assert step(desk.work).sent == 0
    assert receiver.received == []
    (message,) = desk.accounts.alerts.messages(alert.id)
    assert (message.state, message.title) == ("withdrawn", "简报 2026-05-20 12:00")


def test_quiet_hours_delay_briefing_and_missed_ones_are_skipped(desk: Any, receiver: Any) -> None:
    briefing_alert(desk, receiver, quiet=(11, 14))
    desk.write("远山船厂渡轮下水", FERRY)
    desk.pass_time(hours=2, minutes=30)  # 12:30
    assert step(desk.work).sent == 0
    desk.pass_time(hours=2)  # 14:30
    assert step(desk.work).sent == 1
    for _ in range(2):
        desk.write("观景桥因大风关闭", BRIDGE)
        desk.pass_time(days=2)
    step(desk.work)
    assert len(receiver.received) <= 2


def test_disabled_or_newer_alert_sends_no_briefing(desk: Any, receiver: Any) -> None:
    desk.write("远山船厂渡轮下水", FERRY)
    disabled = briefing_alert(desk, receiver)
    desk.accounts.alerts.save(replace(disabled, enabled=False))
    desk.pass_time(hours=3)
    briefing_alert(desk, receiver)
    assert step(desk.work).sent == 0


def test_preview_lists_last_briefings(desk: Any, receiver: Any) -> None:
    alert = briefing_alert(desk, receiver)
    desk.write("远山船厂渡轮下水", FERRY)
    desk.pass_time(hours=4)
    found = preview(desk.work, alert)
    assert [[item.title for item in message.items] for message in found.planned] == [["远山船厂渡轮下水"]]
    assert (found.planned[0].at, found.stories, found.capped) == (datetime(2026, 5, 20, 4, tzinfo=UTC), 1, True)


def test_hours_are_in_the_time_zone() -> None:
    alert = Alert("a", "p", "n", "briefing", "", "webhook", {}, datetime(2026, 1, 1, tzinfo=UTC), digest=(18, 8))
    now = datetime(2026, 5, 20, 3, tzinfo=UTC)  # 11:00 in Shanghai
    ends = [until.astimezone(SHANGHAI).strftime("%d %H") for _, until in past_spans(alert, now, SHANGHAI)]
    assert ends == ["19 18", "20 08"]
    assert [until - since for since, until in past_spans(alert, now, SHANGHAI)] == [timedelta(hours=10), timedelta(hours=14)]
    assert len(past_spans(replace(alert, digest=(8,)), now, SHANGHAI, 7)) == 7


@pytest.mark.parametrize("limit", [120, 300])
def test_short_text_has_complete_events_and_remaining_count(limit: int) -> None:
    items = tuple(
        Item(f"s{number}", f"事件{number}", "晨光网", "", 2, f"一句话。\n晨光网 https://portal.example/story/s{number}")
        for number in range(9)
    )
    text = AlertMessage("简报", items, "zh", "k", "简报").text(limit)
    assert len(text.encode()) <= limit
    assert "另有" in text
    assert "…" not in text


def add_stories(desk: Any, hours: float, name: str, count: int = 4) -> None:
    for number in range(count):
        desk.pass_time(hours=hours / count)
        desk.write(f"{name}{number}", f"{name}来了。", site=f"站{number % 3}", keywords=(name,), topics=("航运",))


def rising_alert(desk: Any, receiver: Any) -> Alert:
    """Create an alert on rising subjects at eight and noon, after three days of ordinary weather. It is 08:30 of the fourth day."""
    alert = briefing_alert(desk, receiver, name="升温", about="rising", of="航运", digest=(8, 12))
    desk.pass_time(hours=-1.5)
    for day in range(3):
        for number in range(5):
            desk.write(f"天气{day}{number}", site=f"站{number}", keywords=("天气",), topics=("航运",))
        desk.pass_time(hours=24)
    return alert


def test_alerts_of_one_hour_share_rising_boards(desk: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[datetime] = []

    def replay(store: Any, moments: Iterable[datetime], **options: Any) -> Iterator[RisingBoard]:
        for moment in moments:
            computed.append(moment)
            yield from replay_boards(store, [moment], **options)

    monkeypatch.setattr(making, "replay_boards", replay)
    for digest in ((8, 12), (8, 12), (9, 12)):
        briefing_alert(desk, receiver, about="rising", of="航运", digest=digest)
    desk.pass_time(hours=2, minutes=1)  # 12:01
    step(desk.work)
    assert [moment.astimezone(SHANGHAI).hour for moment in sorted(computed)] == [8, 9, 12]


def test_rising_subject_is_sent_once(desk: Any, receiver: Any) -> None:
    rising_alert(desk, receiver)
    assert step(desk.work).sent == 0
    add_stories(desk, 3.0, "台风")
    desk.pass_time(hours=1)  # 12:30
    assert step(desk.work).sent == 1
    assert step(desk.work).sent == 0
    body = receiver.received[0][2]
    assert (body["title"], [story["title"] for story in body["stories"]]) == ("「升温」有 1 项升温", ["台风"])
    assert "4 条报道，往常 0.5 条 · 3 家报道" in body["text"]
    assert body["text"].count("https://portal.example/story/") == 3
    desk.pass_time(hours=20)  # 08:30: still rising
    assert step(desk.work).sent == 0
    assert len(receiver.received) == 1


def test_preview_of_rising_subjects_matches_sent_messages(desk: Any, receiver: Any) -> None:
    alert = rising_alert(desk, receiver)
    add_stories(desk, 3.0, "台风")
    desk.pass_time(hours=1)
    step(desk.work)
    add_stories(desk, 18.0, "海带", 6)
    desk.pass_time(hours=2)  # 08:30
    step(desk.work)
    found = preview(desk.work, alert, 2)
    assert [[item.title for item in message.items] for message in reversed(found.planned)] == [["台风"], ["海带"]]
    assert receiver.stories == ["台风", "海带"]
    assert found.by_day(SHANGHAI) == [(date(2026, 5, 24), 1, 1), (date(2026, 5, 23), 1, 1)]
    assert preview(desk.work, replace(alert, of="旅游"), 2).planned == ()
