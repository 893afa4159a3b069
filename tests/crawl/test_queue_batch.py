"""Order of the operations in one exchange with the queue."""

from __future__ import annotations

from pathlib import Path

from newsportal.crawl.queues import open_table
from newsportal.crawl.queues.base import Order, Task


def test_task_pushed_as_its_lease_ends_waits_again(tmp_path: Path) -> None:
    """Otherwise it would be refused as still leased and then lost. An exchange may be repeated."""
    queue = open_table(tmp_path / "links.db", "rss")
    task, other = Task("1", "a.example", "{}"), Task("2", "a.example", "{}")
    queue.push([task])
    assert [lease.task for lease in queue.take(5, delay=0, ahead=1).leases] == [task]
    order = Order(push=[other, task], done=["1"])
    assert queue.exchange(order).pushed == {"1", "2"}
    queue.exchange(order)
    assert {lease.task.id for lease in queue.take(5, delay=0, ahead=1).leases} == {"1", "2"}


def test_tasks_whose_leases_end_are_pushed_last() -> None:
    tasks = [Task(str(n), "a.example", "{}") for n in range(9)]
    batches, rest = Order(push=tasks, done=["0", "1", "2", "3"]).push_batches(2)
    assert [[task.id for task in batch] for batch in batches] == [["4", "5"], ["6", "7"]]
    assert [task.id for task in rest] == ["8", "0", "1", "2", "3"]
    assert Order().push_batches(2) == ([], [])
