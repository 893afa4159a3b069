"""What ``newsportal up`` learns beside the crawls: when it begins, that it ends, and what it says."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from newsportal.commands import learning
from newsportal.commands.learning import Learning
from newsportal.report import Run, SourceReport


def brought(number: int) -> Run:
    return Run("1", datetime(2026, 3, 1, tzinfo=UTC), sources=(SourceReport("a", stored=number),))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def saying(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Learning, "_command", lambda _: [sys.executable, "-c", code])


def test_begins_when_enough_is_new_and_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    saying('print(\'{"corpus": "categories", "version": 2, "active": true, "documents": 120, "why": ""}\')', monkeypatch)
    clock, said = Clock(), list[str]()
    beside = Learning(None, 50, said.append, clock)
    assert not beside.crawled(brought(30))
    assert beside.crawled(brought(20))
    beside.wait()
    assert said == ["trained version 2 of the model of categories on 120 articles: in use now"]
    assert not beside.crawled(brought(500)), "it rests"
    clock.now = learning.REST
    assert beside.crawled(brought(0))
    beside.wait()


def test_the_setting_turns_it_off() -> None:
    assert not Learning(None, 0, print).crawled(brought(10_000))


def test_a_failure_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    saying("import sys; sys.exit('no such store')", monkeypatch)
    said: list[str] = []
    beside = Learning(None, 1, said.append)
    assert beside.crawled(brought(1))
    beside.wait()
    assert said == ["the training failed: no such store; the models in use stay"]


def test_it_ends_in_time_and_when_the_portal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    saying("import time; time.sleep(600)", monkeypatch)
    monkeypatch.setattr(learning, "MOST", 0.2)
    said: list[str] = []
    beside = Learning(None, 1, said.append)
    assert beside.crawled(brought(1))
    beside.wait()
    assert "was ended" in said[0]
    monkeypatch.setattr(learning, "MOST", 600)
    other = Learning(None, 1, said.append)
    assert other.crawled(brought(1))
    other.stop()
    assert len(said) == 1
    assert not other.crawled(brought(1))


def test_the_command_is_the_one_that_people_type(tmp_path: Path) -> None:
    assert Learning(tmp_path / "s.yaml", 1, print)._command()[2:] == [
        "newsportal", "retrain", "--gently", "--json", "--sources", str(tmp_path / "s.yaml"),
    ]  # fmt: skip
