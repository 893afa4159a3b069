"""The leases of a worker, and the requests that run under them."""

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any, Final

from scrapy import Request

from newsportal.crawl.queues.base import Task


@dataclass(slots=True)
class HeldLease:
    """``out``: requests in the engine; ``waiting``: those that wait here. ``lost``: another worker has the lease now."""

    task: Task
    out: set[Any] = field(default_factory=set)
    waiting: int = 0
    lost: bool = False


class Leases(dict[str, HeldLease]):
    """The leases of this worker by the ids of their tasks."""

    def take(self, task: Task) -> None:
        self[task.id] = HeldLease(task, waiting=1)

    def add_waiting(self, id: str | None) -> None:
        """One more request under this lease waits here."""
        if (lease := self.get(id or "")) is not None:
            lease.waiting += 1

    def mark_sent(self, id: str | None, request: Any) -> None:
        if (lease := self.get(id or "")) is not None:
            lease.waiting -= 1
            lease.out.add(request)

    def is_single(self, id: str | None) -> bool:
        """Return whether the lease consists of its own waiting task alone, with no request sent."""
        lease = self.get(id or "")
        return lease is not None and lease.waiting == 1 and not lease.out

    def is_done(self, id: str, in_progress: Container[Any]) -> bool:
        """Return whether all requests of a lease are done, though it is not acknowledged."""
        lease = self.get(id)
        return lease is not None and not lease.waiting and all(request not in in_progress for request in lease.out)

    def take_finished(self, in_progress: Container[Any]) -> list[Task]:
        """Remove leases that are done, and return the tasks of those that this worker still owns."""
        tasks = []
        for id, lease in list(self.items()):
            lease.out = {request for request in lease.out if request in in_progress}
            if lease.out or lease.waiting:
                continue
            del self[id]
            if not lease.lost:
                tasks.append(lease.task)
        return tasks


LEASE: Final = "frontier_lease"  # meta key of a leased request, its retries and redirects: the id of its lease
PARENT: Final = "frontier_parent"  # meta key of a request made by a callback: the lease of the request whose response was parsed


@dataclass(frozen=True, slots=True)
class Errback:
    """An errback that marks its output as children of its request's lease: Scrapy does not pass such output through spider middlewares."""

    errback: Callable[[Any], Any]
    lease: str

    def __call__(self, failure: Any) -> Any:
        return mark_output(self.errback(failure), self.lease)


def mark_output(output: Any, lease: str) -> Any:
    if isinstance(output, Request):
        return mark_child(output, lease)
    if hasattr(output, "__aiter__"):
        return (mark_child(value, lease) async for value in output)
    if hasattr(output, "__await__"):
        return _marked_then(output, lease)
    if hasattr(output, "__iter__") and not isinstance(output, dict | str | bytes):
        return (mark_child(value, lease) for value in output)
    return output


async def _marked_then(output: Any, lease: str) -> Any:
    return mark_output(await output, lease)


def mark_child(value: Any, lease: str) -> Any:
    """Mark ``value`` as a child of ``lease`` if it is a request."""
    if isinstance(value, Request):
        value.meta[PARENT] = lease
    return value
