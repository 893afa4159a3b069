"""The sender thread, one of several active at a time, and alerts for operators."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from newsportal.items.report import Run
from newsportal.items.visits import Visit
from newsportal.services.alerts.opening import EVERY, AlertSenderThread, setting_of
from newsportal.services.alerts.run import follow_conditions, step
from newsportal.services.periodic import MAX_PAUSE
from newsportal.sources import Sources
from newsportal.sources.timing import SourceRef


def test_one_of_several_senders_is_active(desk: Any, receiver: Any) -> None:
    desk.alert("webhook", {"url": receiver.address})
    senders = [AlertSenderThread(lambda stopped: replace(desk.work, stopped=stopped)) for _ in range(2)]
    desk.write("一条新闻")
    assert [sender.run_step() for sender in senders] == [EVERY, EVERY]
    assert receiver.stories == ["一条新闻"]
    desk.write("第二条新闻")
    senders[1].run_step()
    assert receiver.stories == ["一条新闻"]  # the first sender holds the lease
    senders[0].stop()
    senders[1].run_step()
    assert receiver.stories == ["一条新闻", "第二条新闻"]


def test_lock_of_a_clock_since_corrected_is_taken_over(desk: Any) -> None:
    alerts, now = desk.work.accounts.alerts, desk.clock[0]
    assert alerts.acquire("a", now=now + timedelta(hours=8), seconds=60)
    assert alerts.acquire("b", now=now, seconds=60), "not eight hours without alerts"
    assert not alerts.acquire("a", now=now, seconds=60)


def test_stories_found_in_successive_steps_are_one_message(desk: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.alert("webhook", {"url": receiver.address})
    sender = AlertSenderThread(lambda stopped: replace(desk.work, stopped=stopped))
    sender.run_step()
    for number in range(7):
        desk.write(f"第{number}条")
    sender.run_step()
    desk.write("第7条")
    sender.run_step()
    assert receiver.received == [], "every step found more"
    sender.run_step()
    assert [len(body["stories"]) for _, _, body in receiver.received] == [8]
    monkeypatch.setattr("newsportal.services.alerts.opening.GATHER", timedelta(0))
    desk.write("一直有新的")
    sender.run_step()
    assert receiver.stories[-1] == "一直有新的", "with constant news it waits at most a minute"


def test_unavailable_store_does_not_stop_sender(desk: Any, receiver: Any) -> None:
    from newsportal.errors import StoreUnavailable

    class Away:
        def last_seq(self) -> int:
            raise StoreUnavailable("the store is away")

    sender = AlertSenderThread(lambda stopped: replace(desk.work, store=Away(), stopped=stopped))
    assert sender.run_step() == MAX_PAUSE
    assert sender.error == "the store is away"


def test_operators_get_each_problem_once(desk: Any, receiver: Any, tmp_path: Path) -> None:
    store, now = desk.work.store, desk.clock[0]
    for about in ("sources", "disk", "crawl"):
        desk.alert("webhook", {"url": receiver.address}, about=about, of="", name=about)
    for number in range(3):
        store.visits.add(Visit("feed:坏报", now - timedelta(hours=3 - number), list_failed={"http-404": 1}))
    store.save_run(Run("r1", now - timedelta(days=2), now - timedelta(days=2)))
    work = replace(desk.work, monitored=(SourceRef("feed:坏报", "坏报"),), folder=tmp_path, disk_free=100.0, crawl_hours=12)
    assert follow_conditions(work) == 3
    assert follow_conditions(work) == 0
    step(work)
    titles = {message["alert"]: [story["title"] for story in message["stories"]] for _, _, message in receiver.received}
    assert titles["sources"] == ["来源「坏报」连续采集失败"]
    assert titles["crawl"] == ["已超过 12 小时没有采集完成"]
    assert titles["disk"][0].startswith("磁盘空间仅剩")
    desk.pass_time(minutes=30)
    follow_conditions(work)
    step(work)
    assert len(receiver.received) == 3


@pytest.mark.parametrize("server", ["smtps://u:p@mail.example", "smtp://127.0.0.1:25"])
def test_settings_come_from_sources_file(server: str, desk: Any) -> None:
    sources = Sources.model_validate(
        {"alerts": {"mail_server": server, "mail_from": "p@x.cn"}, "politeness": {"allow_private": ["10.0.0.0/8"]}}
    )
    setting = setting_of(sources, desk.work.accounts)
    assert (setting.mail_server, setting.mail_from) == (server, "p@x.cn")
