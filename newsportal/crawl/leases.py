"""The leases of a worker, and the requests that run under them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from scrapy import Request

from newsportal.crawl.queues.base import Task


@dataclass(slots=True)
class Held:
    """``out``: requests in the engine; ``waiting``: those that wait here. ``lost``: another worker has the lease now."""

    task: Task
    out: set[Any] = field(default_factory=set)
    waiting: int = 0
    lost: bool = False


class Leases:
    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: object) -> bool:
        return id in self._held

    def take(self, task: Task) -> None:
        self._held[task.id] = Held(task)

    def add_waiting(self, id: str | None) -> None:
        """One more request under this lease waits here."""
        if id in self._held:
            self._held[id].waiting += 1

    def mark_sent(self, id: str | None, request: Any) -> None:
        if id in self._held:
            held = self._held[id]
            held.waiting -= 1
            held.out.add(request)

    def single(self, id: str | None) -> bool:
        """Return whether the lease consists of its own waiting task alone, with no request sent."""
        held = self._held.get(id or "")
        return held is not None and held.waiting == 1 and not held.out

    def is_done(self, id: str, in_progress: Container[Any]) -> bool:
        """Return whether all requests of a lease are done, though it is not acknowledged."""
        held = self._held.get(id)
        return held is not None and not held.waiting and all(request not in in_progress for request in held.out)

    def lose(self, ids: set[str]) -> Iterator[Held]:
        for id in ids:
            held = self._held.get(id)
            if held is not None and not held.lost:
                held.lost = True
                yield held

    def drop(self, id: str) -> None:
        self._held.pop(id, None)

    def finished(self, in_progress: Container[Any]) -> list[Task]:
        """Remove leases that are done, and return the tasks of those that this worker still owns."""
        over = []
        for id, held in list(self._held.items()):
            if held.out:
                held.out = {request for request in held.out if request in in_progress}
            if held.out or held.waiting:
                continue
            del self._held[id]
            if not held.lost:
                over.append(held.task)
        return over


LEASE: Final = "frontier_lease"  # meta key of a leased request, its retries and redirects: the id of its lease
PARENT: Final = "frontier_parent"  # meta key of a request made by a callback: the lease of the request whose response was parsed


@dataclass(frozen=True, slots=True)
class Errback:
    """An errback that marks its output as children of its request's lease: Scrapy does not pass such output through spider middlewares."""

    errback: Callable[[Any], Any]
    lease: str

    def __call__(self, failure: Any) -> Any:
        return marked_output(self.errback(failure), self.lease)


def marked_output(output: Any, lease: str) -> Any:
    if isinstance(output, Request):
        return marked(output, lease)
    if hasattr(output, "__aiter__"):
        return (marked(one, lease) async for one in output)
    if hasattr(output, "__await__"):
        return _marked_then(output, lease)
    if hasattr(output, "__iter__") and not isinstance(output, dict | str | bytes):
        return (marked(one, lease) for one in output)
    return output


async def _marked_then(output: Any, lease: str) -> Any:
    return marked_output(await output, lease)


def marked(one: Any, lease: str) -> Any:
    """Mark ``one`` as a child of ``lease`` if it is a request."""
    if isinstance(one, Request):
        one.meta[PARENT] = lease
    return one
