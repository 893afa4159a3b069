"""Order of the operations in one exchange with the queue."""

from __future__ import annotations

from pathlib import Path

from newsportal.crawl.queues import open_table
from newsportal.crawl.queues.base import Order, Task


def test_task_requeued_as_its_lease_ends_waits_again(tmp_path: Path) -> None:
    """Otherwise it would be refused as still leased and then lost."""
    queue = open_table(tmp_path / "links.db", "rss")
    task, other = Task("1", "a.example", "{}"), Task("2", "a.example", "{}")
    queue.push([task])
    assert [lease.task for lease in queue.take(5, delay=0, ahead=1).leases] == [task]
    assert queue.exchange(Order(push=[other], done=["1"], requeue=[task])).pushed == {"2"}
    assert {lease.task.id for lease in queue.take(5, delay=0, ahead=1).leases} == {"1", "2"}


def test_task_pushed_while_leased_is_done_once(tmp_path: Path) -> None:
    """As after an outage of the queue, when everything that may be lost is pushed again."""
    queue = open_table(tmp_path / "links.db", "rss")
    task = Task("1", "a.example", "{}")
    queue.push([task])
    queue.take(5, delay=0, ahead=1)
    assert queue.exchange(Order(push=[task], done=["1"])).pushed == set()
    assert queue.take(5, delay=0, ahead=1).leases == ()
