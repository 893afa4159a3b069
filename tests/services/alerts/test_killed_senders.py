"""Senders killed at any moment: no story is sent twice, and no unsent story is recorded as sent."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forked import Started

from newsportal.services.alerts.run import LEASE, step

SENDER = Path(__file__).with_name("killed_sender.py")
KILLS, STORIES = 4, 40


@pytest.mark.slow
def test_killed_senders_send_no_story_twice(desk: Any, receiver: Any, tmp_path: Path) -> None:
    generator = Random(20260520)
    desk.clock[0] = datetime.now(UTC) - timedelta(seconds=5)
    alert = desk.alert("webhook", {"url": receiver.address}, per_hour=1000)
    desk.clock[0] = datetime.now(UTC)
    written = []
    for _ in range(KILLS):
        senders = [start_sender(tmp_path) for _ in range(2)]
        for _ in range(STORIES // KILLS):
            written.append(f"第{len(written)}条消息")
            desk.write(written[-1])
            time.sleep(generator.random() / 20)
        for sender in senders:
            sender.kill()
            sender.wait()
    desk.clock[0] = datetime.now(UTC) + timedelta(seconds=LEASE + 1)
    step(replace(desk.work, per_hour=1000))
    states = {message.title: message.state for message in desk.accounts.alerts.messages(alert.id, 1000)}
    assert len(receiver.stories) == len(set(receiver.stories)), "a story was sent twice"
    assert set(states) == set(written), "a message is missing"
    assert {title for title, state in states.items() if state == "sent"} <= set(receiver.stories)
    assert all(states[title] == "unknown" for title in set(written) - set(receiver.stories))
    assert set(states.values()) <= {"sent", "unknown"}


def start_sender(folder: Path) -> Started:
    sender = Started(str(folder), script=SENDER, piped=True)
    assert sender.stdout.readline() == "begun\n"
    return sender
