"""What a worker tells its queue in one conversation, and in which order."""

from __future__ import annotations

from pathlib import Path

from newsportal.crawl.queues.base import Order, Task
from newsportal.crawl.queues.opening import open_table


def test_a_task_that_is_pushed_while_its_lease_ends_waits_anew(tmp_path: Path) -> None:
    """Else it is refused, for it is still leased, and then forgotten: nobody would have it."""
    queue = open_table(tmp_path / "links.db", "rss")
    task, other = Task("1", "a.example", "{}"), Task("2", "a.example", "{}")
    queue.push([task])
    assert [lease.task for lease in queue.take(5, delay=0, ahead=1).leases] == [task]
    assert queue.exchange(Order(push=[other], done=["1"], requeue=[task])).pushed == {"2"}
    assert {lease.task.id for lease in queue.take(5, delay=0, ahead=1).leases} == {"1", "2"}


def test_a_task_that_is_pushed_while_it_is_under_way_is_asked_for_once(tmp_path: Path) -> None:
    """As after a queue was away, when all that may have been lost is pushed once more."""
    queue = open_table(tmp_path / "links.db", "rss")
    task = Task("1", "a.example", "{}")
    queue.push([task])
    queue.take(5, delay=0, ahead=1)
    assert queue.exchange(Order(push=[task], done=["1"])).pushed == set()
    assert queue.take(5, delay=0, ahead=1).leases == ()
