"""A lease is done when nothing of it is under way, and not a moment before."""

from __future__ import annotations

import pytest

from newsportal.frontier import leases as module
from newsportal.frontier.leases import Leases
from newsportal.frontier.queues.base import Task


def task(id: str) -> Task:
    return Task(id, "a.example", "{}")


def test_done_when_the_engine_lets_the_request_go() -> None:
    leases = Leases()
    leases.take(task("1"))
    leases.waits("1")
    assert leases.finished(set()) == []
    leases.handed("1", "page")
    assert leases.finished({"page"}) == []
    assert leases.finished(set()) == ["1"]
    assert len(leases) == 0


def test_a_retry_or_a_further_page_keeps_it() -> None:
    leases = Leases()
    leases.take(task("1"))
    leases.waits("1")
    leases.handed("1", "page")
    leases.waits("1")  # its callback made a request that only this process knows
    assert leases.finished(set()) == []
    leases.handed("1", "further")
    assert leases.finished({"further"}) == []
    assert leases.finished(set()) == ["1"]


def test_only_what_was_not_begun_can_be_given_back() -> None:
    leases = Leases()
    leases.take(task("1"))
    leases.waits("1")
    assert leases.single("1")
    leases.handed("1", "page")
    assert not leases.single("1")
    leases.waits("1")
    assert not leases.single("1")
    assert not leases.single(None)


def test_a_lost_lease_is_not_acknowledged() -> None:
    leases = Leases()
    for id in ("1", "2"):
        leases.take(task(id))
        leases.waits(id)
        leases.handed(id, id)
    assert [held.task.id for held in leases.lose({"1", "unknown"})] == ["1"]
    assert list(leases.lose({"1"})) == []
    assert leases.finished(set()) == ["2"]


def test_what_was_pushed_is_pushed_again_until_it_is_done() -> None:
    leases = Leases()
    for id in ("1", "2", "3"):
        leases.pushed(task(id))
    leases.take(task("1"))
    assert [one.id for one in leases.again()] == ["2", "3"]
    leases.take(task("2"))
    leases.waits("2")
    leases.handed("2", "page")
    assert sorted(leases.finished(set())) == ["1", "2"]
    assert leases.is_ours("3")
    assert not leases.is_ours("2")
    assert [one.id for one in leases.again()] == ["3"]


def test_of_very_many_only_the_newest_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    leases = Leases()
    for id in ("1", "2", "3"):
        leases.pushed(task(id))
    assert [one.id for one in leases.again()] == ["2", "3"]
    assert leases.is_ours("1")


def test_what_was_pushed_for_a_visit_is_past_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 3)
    leases = Leases()
    for id in "1234":
        leases.pushed(Task(id, "a.example", "{}", source="feed:甲" if id in "134" else "feed:乙"))
    leases.take(Task("3", "a.example", "{}", source="feed:甲"))
    leases.past("feed:甲")
    assert [leases.is_ours(id) for id in "1234"] == [False, True, True, False], "also of what is too old to be pushed again"
    assert [one.id for one in leases.again()] == ["2"]
