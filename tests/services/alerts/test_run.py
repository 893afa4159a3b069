"""Alerts with a real store, index and receivers: each story is sent once, in time, and none that is older than the alert."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from newsportal.services.accounts import Role
from newsportal.services.alerts import run
from newsportal.services.alerts.matching import is_quiet
from newsportal.services.alerts.opening import preview
from newsportal.services.alerts.run import LEASE, TOGETHER, send_test, step
from newsportal.services.publishing.base import FIRST_WAIT, Refused
from newsportal.sources.timing import SourceRef
from newsportal.store import open_store
from newsportal.store.events import Assignment, Edit

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")  # Apprise imports it in Python 3.11


def test_story_is_sent_once_despite_updates(desk: Any, receiver: Any) -> None:
    desk.write("老新闻")
    desk.alert("webhook", {"url": receiver.address})
    first = desk.write("云岭峡谷观景桥开放", fold_key="bridge")
    assert step(desk.work).sent == 1
    desk.pass_time(minutes=1)
    desk.write("观景桥开放首日约满", fold_key="bridge", site="海港晚报")  # another site: the same story
    desk.write("云岭峡谷观景桥开放", "改过的正文，比原来长一些。", url="https://晨光网.example/云岭峡谷观景桥开放.html")  # revised
    step(desk.work)
    desk.work.store.unfold(desk.work.store.story(first.story_id).versions[1].id, now=desk.clock[0])
    step(desk.work)
    assert receiver.stories == ["云岭峡谷观景桥开放"]


def test_story_folded_into_another_is_not_sent_again(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address})
    sent = desk.write("甲地开通高铁")
    step(desk.work)
    other = desk.write("甲地高铁今日开通", topics=(), site="海港晚报")  # of another topic: not sent
    desk.work.store.fold(sent.id, other.story_id, reason="editor", now=desk.clock[0])
    desk.write("甲地开通高铁", "又改过一次的正文。", url="https://晨光网.example/甲地开通高铁.html")
    step(desk.work)
    assert receiver.stories == ["甲地开通高铁"]


def test_failure_of_one_alert_does_not_stop_others(desk: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.send

    def send(channel: str, fields: Mapping[str, str], *rest: Any) -> None:
        if channel == "ntfy":
            raise KeyError(fields["topic"])
        real(channel, fields, *rest)

    monkeypatch.setattr(run, "send", send)
    broken = desk.alert("ntfy", {"topic": "geheim"})
    desk.alert("webhook", {"url": receiver.address})
    desk.write("甲地开通高铁")
    tally = step(desk.work)
    assert (tally.sent, tally.failed, receiver.stories) == (1, 1, ["甲地开通高铁"])
    (message,) = desk.accounts.alerts.messages(broken.id)
    assert (message.state, message.reason) == ("failed", "KeyError: '***'")


def test_hidden_version_is_not_sent(desk: Any, receiver: Any) -> None:
    visible = desk.write("观景桥开放首日", fold_key="bridge", topics=())  # of another topic: not sent
    desk.alert("webhook", {"url": receiver.address})
    hidden = desk.write("观景桥开放首日约满", fold_key="bridge", site="海港晚报")
    assert hidden.story_id == visible.story_id
    desk.work.store.hide([hidden.id], by="editor", reason="重复", now=desk.clock[0])
    step(desk.work)
    assert receiver.stories == []


def test_stories_older_than_the_alert_are_not_sent(desk: Any, receiver: Any) -> None:
    desk.write("之前的新闻")
    desk.pass_time(minutes=5)
    desk.alert("webhook", {"url": receiver.address})
    desk.pass_time(minutes=5)
    desk.write("之前的新闻", "改过的正文，是老新闻。", url="https://晨光网.example/之前的新闻.html")
    desk.write("去年的新闻", published=desk.clock[0] - timedelta(days=300))
    desk.write("今天的新闻", published=desk.clock[0].replace(hour=0, minute=0))
    step(desk.work)
    assert receiver.stories == ["今天的新闻"]


def test_search_alert_sends_search_results(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, about="search", of='"观景桥" -门票', name="观景桥")
    desk.write("云岭观景桥开放", topics=())
    desk.write("观景桥门票约满", topics=())
    desk.write("海港码头扩建", topics=())
    step(desk.work)
    assert receiver.stories == ["云岭观景桥开放"]


def test_event_alert_waits_for_placement_and_follows_joins(desk: Any, receiver: Any) -> None:
    store = desk.work.store
    first = desk.write("青河大桥垮塌", topics=())

    def place(id: str, event: str) -> None:
        assert store.events.assign(
            [Assignment(id, event, 1.0)], {event: "[0,{},{},[]]"}, after=store.events.position(), up_to=store.last_seq()
        )

    place(first.story_id, "bridge")
    desk.alert("webhook", {"url": receiver.address}, about="event", of="bridge")
    second, other = desk.write("大桥开始清理", topics=()), desk.write("海带丰收", topics=())
    step(desk.work)
    assert receiver.stories == [], "not yet placed into an event"
    assert store.events.assign(
        [Assignment(second.story_id, "bridge", 1.0), Assignment(other.story_id, "kelp", 1.0)],
        {"bridge": "[0,{},{},[]]", "kelp": "[0,{},{},[]]"},
        after=store.events.position(), up_to=store.last_seq(),
    )  # fmt: skip
    step(desk.work)
    assert receiver.stories == ["大桥开始清理"]
    store.events.edit(
        Edit("join", "kelp", desk.clock[0], "林", {first.story_id: ("bridge", "kelp"), second.story_id: ("bridge", "kelp")}),
        {"kelp": "[0,{},{},[]]"},
    )
    third = desk.write("负责人获刑", topics=())
    place(third.story_id, "kelp")
    step(desk.work)
    assert receiver.stories == ["大桥开始清理", "负责人获刑"]


def test_event_preview_lists_earlier_stories(desk: Any, receiver: Any) -> None:
    store = desk.work.store
    first = desk.write("青河大桥垮塌", topics=())
    assert store.events.assign([Assignment(first.story_id, "bridge", 1.0)], {"bridge": "[0,{},{},[]]"}, after=0, up_to=store.last_seq())
    desk.pass_time(minutes=5)
    found = preview(desk.work, desk.alert("webhook", {"url": receiver.address}, about="event", of="bridge"))
    assert [item.title for message in found.planned for item in message.items] == ["青河大桥垮塌"]
    assert preview(desk.work, desk.alert("webhook", {"url": receiver.address}, about="event", of="none")).planned == ()


def test_search_alert_waits_for_the_index(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, about="search", of="观景桥", name="观景桥")
    index, store = desk.work.index, desk.work.store
    lagging = replace(desk.work, index=LaggingIndex(index, index.position()))
    desk.write("云岭观景桥开放")
    step(lagging)
    assert receiver.stories == []
    lagging.index.reached = store.last_seq()
    step(lagging)
    assert receiver.stories == ["云岭观景桥开放"]


def test_topic_alerts_work_without_an_index(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, about="search", of="观景桥", name="观景桥")
    desk.alert("webhook", {"url": receiver.address})
    desk.write("云岭观景桥开放")
    step(replace(desk.work, index=None))
    assert receiver.stories == ["云岭观景桥开放"]


def test_store_restored_from_older_backup_is_followed_from_its_end(desk: Any, receiver: Any, tmp_path: Path) -> None:
    for number in range(4):
        desk.write(f"之前的第{number}条")
    desk.alert("webhook", {"url": receiver.address})
    step(desk.work)
    with closing(open_store(f"sqlite:///{tmp_path / 'older.db'}")) as older:
        desk.work = replace(desk.work, store=older)
        desk.write("备份之后的新闻")
        step(desk.work)
        desk.pass_time(minutes=5)
        desk.write("恢复之后的新闻")
        step(desk.work)
    assert receiver.stories == ["恢复之后的新闻"]


class LaggingIndex:
    """An index that lags behind the store."""

    def __init__(self, index: Any, reached: int) -> None:
        self.index, self.reached = index, reached

    def position(self) -> int:
        return self.reached

    def search(self, query: Any) -> Any:
        return self.index.search(query)


def test_digest_and_quiet_hours(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, digest=(18,), name="晚报")
    desk.alert("webhook", {"url": receiver.address}, quiet=(9, 11), name="不打扰")
    desk.write("早上的新闻")  # 10:00
    step(desk.work)
    assert receiver.received == []
    desk.pass_time(hours=1)
    step(desk.work)
    assert [body["alert"] for _, _, body in receiver.received] == ["不打扰"]
    desk.write("中午的新闻")
    desk.pass_time(hours=7)
    step(desk.work)
    (digest,) = [body for _, _, body in receiver.received if body["alert"] == "晚报"]
    assert {story["title"] for story in digest["stories"]} == {"早上的新闻", "中午的新闻"}


@pytest.mark.slow
def test_counts_can_be_limited_to_alerts(desk: Any, receiver: Any) -> None:
    first, second = (desk.alert("webhook", {"url": receiver.address}) for _ in range(2))
    desk.write("一条新闻")
    step(desk.work)
    everything = {first.id: {"sent": 1}, second.id: {"sent": 1}}
    assert desk.accounts.alerts.counts() == everything
    assert desk.accounts.alerts.counts([first.id]) == {first.id: {"sent": 1}}
    assert desk.accounts.alerts.counts([]) == {}


def test_hourly_limit_delays_further_stories(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, per_hour=2)
    for number in range(2 * TOGETHER + 3):
        desk.write(f"第{number}条消息")
    step(desk.work)
    assert [len(body["stories"]) for _, _, body in receiver.received] == [TOGETHER, TOGETHER]
    desk.pass_time(hours=1, seconds=1)
    step(desk.work)
    assert [len(body["stories"]) for _, _, body in receiver.received] == [TOGETHER, TOGETHER, 3]
    assert len(set(receiver.stories)) == len(receiver.stories) == 2 * TOGETHER + 3


def test_due_messages_are_sent_together_unless_service_is_busy(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address})
    for number in range(TOGETHER + 1):
        desk.write(f"第{number}条")
    receiver.answers = [(429, b"{}"), (200, b"{}")]
    step(desk.work)
    assert len(receiver.received) == 1, "other due messages wait, too"
    desk.pass_time(seconds=FIRST_WAIT.total_seconds() + 1)
    step(desk.work)
    assert [len(body["stories"]) for _, _, body in receiver.received[1:]] == [TOGETHER, 1]


def test_busy_service_is_retried_later(desk: Any, receiver: Any) -> None:
    receiver.answers = [(503, b""), (200, b"")]
    alert = desk.alert("webhook", {"url": receiver.address})
    desk.write("一条新闻")
    assert step(desk.work).postponed == 1
    step(desk.work)
    assert len(receiver.received) == 1
    desk.pass_time(seconds=FIRST_WAIT.total_seconds() + 1)
    step(desk.work)
    assert len(receiver.received) == 2
    assert [message.state for message in desk.accounts.alerts.messages(alert.id)] == ["sent"]


def test_refusal_is_final_and_its_reason_is_kept(desk: Any, receiver: Any) -> None:
    receiver.answers = [(403, b"no")]
    alert = desk.alert("webhook", {"url": f"{receiver.address}/hook?key=geheim123"})
    desk.write("一条新闻")
    step(desk.work)
    desk.pass_time(days=1)
    step(desk.work)
    (message,) = desk.accounts.alerts.messages(alert.id)
    assert message.state == "failed"
    assert "403" in (message.reason or "")
    assert "geheim123" not in (message.reason or "")
    assert len(receiver.received) == 1


def test_unclear_delivery_is_repeated_only_on_request(desk: Any, receiver: Any) -> None:
    receiver.answers = [(0, b""), (200, b"")]
    alert = desk.alert("webhook", {"url": receiver.address})
    desk.write("一条新闻")
    assert step(desk.work).unconfirmed == 1
    desk.pass_time(days=1)
    step(desk.work)
    assert len(receiver.received) == 1
    assert desk.accounts.alerts.resend(alert.id, now=desk.clock[0]) == 1
    step(desk.work)
    assert len(receiver.received) == 2


def test_expired_claim_becomes_unknown(desk: Any, receiver: Any) -> None:
    alert = desk.alert("webhook", {"url": receiver.address})
    desk.write("一条新闻")
    desk.accounts.alerts.position()
    from newsportal.services.alerts.run import Tally, follow

    follow(desk.work, Tally())
    claimed = desk.accounts.alerts.claim(alert, now=desk.clock[0], seconds=LEASE, limit=10)
    assert len(claimed) == 1
    step(desk.work)
    assert receiver.received == []
    desk.pass_time(seconds=LEASE + 1)
    step(desk.work)
    assert receiver.received == []
    assert [message.state for message in desk.accounts.alerts.messages(alert.id)] == ["unknown"]
    assert not desk.accounts.alerts.settle(claimed, "sent", now=desk.clock[0])


def test_disabled_person_gets_no_alerts(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address})
    desk.accounts.people.add("admin", "correct horse battery staple", Role.ADMIN, now=desk.clock[0])
    desk.accounts.people.disable(desk.person)
    desk.write("一条新闻")
    step(desk.work)
    assert receiver.received == []


@pytest.mark.parametrize(
    ("channel", "fields", "about", "role"),
    [("webhook", {}, "sources", Role.READER), ("apprise", {}, "topic", Role.EDITOR), ("webhook", {}, "topic", None)],
)
def test_lost_right_blocks_test_message_and_preview(
    desk: Any, receiver: Any, channel: str, fields: dict[str, str], about: str, role: Role | None
) -> None:
    url = receiver.address if channel == "webhook" else receiver.address.replace("http", "json")
    alert = desk.alert(channel, {"url": url}, about=about)
    desk.accounts.people.add("admin", "correct horse battery staple", Role.ADMIN, now=desk.clock[0])
    if role is None:
        desk.accounts.people.disable(desk.person)
    else:
        desk.accounts.people.set_role(desk.person, role)
    with pytest.raises(Refused, match="no longer"):
        send_test(desk.work, alert)
    assert receiver.received == []
    if about == "sources":
        assert preview(replace(desk.work, monitored=(SourceRef("feed:甲报", "甲报"),)), alert).planned == ()


def test_private_address_is_refused(desk: Any, receiver: Any) -> None:
    """A webhook is a second way out (threats, A)."""
    from newsportal.services.alerts.base import Setting

    alert = desk.alert("webhook", {"url": receiver.address})
    desk.write("一条新闻")
    step(replace(desk.work, setting=Setting()))
    assert receiver.received == []
    assert "politeness.allow_private" in (desk.accounts.alerts.messages(alert.id)[0].reason or "")


@pytest.mark.slow
def test_mail_states_sent_failed_and_unknown(desk: Any, mail_server: Any) -> None:
    work = replace(desk.work, setting=replace(desk.work.setting, mail_server=mail_server.address, mail_from="portal@example.org"))
    alert = desk.alert("mail", {"to": "reader@example.org"})
    desk.write("云岭峡谷观景桥开放")
    assert step(work).sent == 1
    assert len(mail_server.mails) == 1
    assert "reader@example.org" in mail_server.mails[0]
    mail_server.refuses = b"550 no such person"
    desk.write("第二条新闻")
    step(work)
    assert [message.state for message in desk.accounts.alerts.messages(alert.id) if message.title == "第二条新闻"] == ["failed"]
    mail_server.refuses = None
    mail_server.hangs_up = True
    desk.write("第三条新闻")
    step(work)
    assert [message.state for message in desk.accounts.alerts.messages(alert.id) if message.title == "第三条新闻"] == ["unknown"]


def test_mail_waits_for_its_server(desk: Any) -> None:
    work = replace(desk.work, setting=replace(desk.work.setting, mail_server="smtp://127.0.0.1:9"))
    desk.alert("mail", {"to": "reader@example.org"})
    desk.write("云岭峡谷观景桥开放")
    assert step(work).postponed == 1


def test_send_test_message(desk: Any, receiver: Any) -> None:
    send_test(desk.work, desk.alert("ntfy", {"server": receiver.address, "topic": "news", "token": ""}))
    assert receiver.received[0][2] == {"topic": "news", "title": "旅游", "message": "这是一条测试消息：通知渠道设置正确。"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"about": "search", "of": "消息", "name": "搜索"}, {"digest": (8, 18)}, {"per_hour": 1}])
def test_preview_matches_sent_messages(desk: Any, receiver: Any, options: dict[str, Any]) -> None:
    alert = desk.alert("webhook", {"url": receiver.address}, **options)
    for number in range(8):
        desk.write(f"第{number}条消息")
        for _ in range(5):
            step(desk.work)
            desk.pass_time(minutes=10)
    for _ in range(24):
        desk.pass_time(minutes=60)
        step(desk.work)
    found = preview(replace(desk.work, url=None), alert)
    assert found.stories == 8
    assert [[item.title for item in planned.items] for planned in reversed(found.planned)] == [
        [story["title"] for story in message["stories"]] for _, _, message in receiver.received
    ]


@pytest.mark.slow
@example(gaps=[10] * 24, options={"digest": (), "quiet": (12, 14), "per_hour": 1, "about": "topic"})
@example(gaps=[10] * 24, options={"digest": (11,), "quiet": (11, 12), "per_hour": 1, "about": "search"})
@settings(max_examples=2)
@given(
    gaps=st.lists(st.sampled_from([0, 10, 20, 60, 150, 400]), min_size=12, max_size=24),
    options=st.fixed_dictionaries(
        {
            "digest": st.sampled_from([(), (8, 18), (23,)]),
            "quiet": st.sampled_from([None, (22, 7), (12, 14)]),
            "per_hour": st.integers(1, 3),
            "about": st.sampled_from(["topic", "search"]),
        }
    ),
)
def test_preview_matches_sent_messages_at_random_times(
    tmp_path_factory: pytest.TempPathFactory, open_desk: Any, receiver: Any, gaps: list[int], options: dict[str, Any]
) -> None:
    """Compare every message and its minute over two days with a step each ten minutes, including folded and late stories."""
    receiver.received.clear()
    with open_desk(tmp_path_factory.mktemp("desk")) as desk:
        old = desk.write("旧消息", published=desk.clock[0] - timedelta(days=3))
        alert = desk.alert("webhook", {"url": receiver.address}, **{"of": "旅游" if options["about"] == "topic" else "消息", **options})
        times = [sum(gaps[:place]) for place in range(1, len(gaps) + 1)]
        sent: list[datetime] = []
        for tick in range(2 * 24 * 6 + 1):
            for number in (place for place, at in enumerate(times) if at == 10 * tick):
                fold_key = "同一件事" if number % 5 == 0 else None
                late = timedelta(hours=20) if number % 4 == 3 else timedelta(0)
                desk.write(f"第{number}条消息", fold_key=fold_key, site=f"站{number}", published=desk.clock[0] - late)
            if tick == 30:
                desk.write("旧消息又来", url="https://另站.example/x", site="另站", fold_key="旧事")
                desk.work.store.fold(old.id, desk.write("旧事新消息", fold_key="旧事").story_id, reason="editor", now=desk.clock[0])
            step(desk.work)
            sent += [desk.clock[0]] * (len(receiver.received) - len(sent))
            if tick < 2 * 24 * 6:
                desk.pass_time(minutes=10)
        planned = [
            message for message in reversed(preview(replace(desk.work, url=None), alert, days=2).planned) if message.at <= desk.clock[0]
        ]
        assert [message.at for message in planned] == sent
        assert [{item.id for item in message.items} for message in planned] == [
            {story["id"] for story in message["stories"]} for _, _, message in receiver.received
        ]
        assert sent
        if alert.quiet:
            assert not any(is_quiet(at.astimezone(desk.work.zone).hour, alert.quiet) for at in sent)


def test_delayed_message_is_not_sent_in_quiet_hours(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address}, quiet=(22, 7), per_hour=1)
    desk.pass_time(hours=11.5)
    desk.write("傍晚的消息")
    assert step(desk.work).sent == 1
    desk.pass_time(minutes=10)
    desk.write("又一条消息")  # at 21:40, with the hourly limit reached
    for minutes, sent in ((0, 0), (60, 0), (8 * 60, 0), (30, 1)):
        desk.pass_time(minutes=minutes)
        assert step(desk.work).sent == sent, f"at {desk.clock[0].astimezone(desk.work.zone)}"
