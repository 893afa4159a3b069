"""A lease is finished exactly when none of its requests is in progress."""

from __future__ import annotations

from newsportal.crawl.leases import Leases
from newsportal.crawl.queues.base import Task


def task(id: str) -> Task:
    return Task(id, "a.example", "{}")


def test_lease_is_finished_when_the_request_is() -> None:
    leases = Leases()
    leases.take(task("1"))
    assert leases.take_finished(set()) == []
    leases.mark_sent("1", "page")
    assert leases.take_finished({"page"}) == []
    assert leases.take_finished(set()) == [task("1")]
    assert len(leases) == 0


def test_retry_or_further_page_keeps_the_lease() -> None:
    leases = Leases()
    leases.take(task("1"))
    leases.mark_sent("1", "page")
    leases.add_waiting("1")  # its callback made a request that is not in the queue
    assert leases.take_finished(set()) == []
    leases.mark_sent("1", "further")
    assert leases.take_finished({"further"}) == []
    assert leases.take_finished(set()) == [task("1")]


def test_only_unsent_lease_can_be_given_back() -> None:
    leases = Leases()
    leases.take(task("1"))
    assert leases.is_single("1")
    leases.mark_sent("1", "page")
    assert not leases.is_single("1")
    leases.add_waiting("1")
    assert not leases.is_single("1")
    assert not leases.is_single(None)


def test_lost_lease_is_not_acknowledged() -> None:
    leases = Leases()
    for id in ("1", "2"):
        leases.take(task(id))
        leases.mark_sent(id, id)
    leases["1"].lost = True
    assert leases.take_finished(set()) == [task("2")]
