"""The leases of a worker, the requests that run under them, and the batches in which it tells its queue what became of them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request

from newsportal.errors import FrontierUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from newsportal.crawl.queues.base import Queue, Taken, Task


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

    def waits(self, id: str | None) -> None:
        """One more request under this lease waits here."""
        if id in self._held:
            self._held[id].waiting += 1

    def mark_sent(self, id: str | None, request: Any) -> None:
        if id in self._held:
            held = self._held[id]
            held.waiting -= 1
            held.out.add(request)

    def single(self, id: str | None) -> bool:
        """Whether its task alone waits here, and nothing of it was begun."""
        held = self._held.get(id or "")
        return held is not None and held.waiting == 1 and not held.out

    def over(self, id: str, in_progress: Container[Any]) -> bool:
        """Whether a lease is done but not acknowledged."""
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
        """Remove leases that are done, and answer the tasks of those that are still ours."""
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


LEASE: Final = "frontier_lease"  # in the meta of a request that was handed out, of its retries and redirects: its lease
PARENT: Final = "frontier_parent"  # in the meta of what a callback made: the lease of the request whose answer it read


@dataclass(frozen=True, slots=True)
class Errback:
    """An errback whose output is marked as children of its request's lease: Scrapy sends it past the spider middlewares."""

    errback: Callable[[Any], Any]
    lease: str

    def __call__(self, failure: Any) -> Any:
        return marked_output(self.errback(failure), self.lease)


def marked_output(output: Any, lease: str) -> Any:
    if isinstance(output, Request):
        return marked(output, lease)
    if hasattr(output, "__aiter__"):
        return _marked_later(output, lease)
    if hasattr(output, "__await__"):
        return _marked_then(output, lease)
    if hasattr(output, "__iter__") and not isinstance(output, dict | str | bytes):
        return (marked(one, lease) for one in output)
    return output


async def _marked_later(output: AsyncIterator[Any], lease: str) -> AsyncIterator[Any]:
    async for one in output:
        yield marked(one, lease)


async def _marked_then(output: Any, lease: str) -> Any:
    return marked_output(await output, lease)


def marked(one: Any, lease: str) -> Any:
    """``one`` as a child of ``lease``, if it is a request."""
    if isinstance(one, Request):
        one.meta[PARENT] = lease
    return one


BATCH: Final = 500  # tasks in one push: some 500 kB, so that no other worker waits long for the queue


@dataclass(slots=True)
class Order:
    """What to send, in this order. ``requeue``: tasks that are wanted once more although their leases end with this very order (``done``).
    ``back``: ids, and from when on they may be had (seconds since 1970). ``take``: how many tasks, ``None``: do not ask."""

    push: list[Task] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    requeue: list[Task] = field(default_factory=list)
    back: list[tuple[list[str], float | None]] = field(default_factory=list)
    free: dict[str, float] = field(default_factory=dict)
    hold: list[str] = field(default_factory=list)
    beat: Mapping[str, str] | None = None
    take: int | None = None

    @property
    def changes(self) -> bool:
        return bool(self.push or self.done or self.requeue or self.back or self.free or self.hold)

    @property
    def has_content(self) -> bool:
        return self.changes or self.beat is not None or self.take is not None


@dataclass(slots=True)
class Answer:
    """``holds``: seconds until a host may be asked, ``None``: it is held. ``lost``: leases no longer ours. ``fault``: it broke off."""

    holds: dict[str, float | None] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    taken: Taken | None = None
    fault: FrontierUnavailable | None = None


def send_batch(queue: Queue, order: Order, *, delay: float, ahead: float) -> Answer:
    """Send ``order``; what was not sent stays in it. Blocking."""
    answer = Answer()
    try:
        _push(queue, order.push)  # in this order a death between two steps costs nothing
        if order.done:
            queue.done(order.done)
            order.done = []
        _push(queue, order.requeue)
        while order.back:
            ids, at = order.back[0]
            queue.back(ids, at=at)
            del order.back[0]
        if order.free:
            queue.free(order.free)
            order.free = {}
        if order.beat is not None:
            answer.lost, order.beat = queue.beat(order.beat), None
        answer.holds = {host: queue.hold(host) for host in order.hold}
        order.hold = []
        if order.take is not None:
            answer.taken, order.take = queue.take(order.take, delay=delay, ahead=ahead), None
    except FrontierUnavailable as error:
        answer.fault = error
    return answer


def _push(queue: Queue, tasks: list[Task]) -> None:
    while tasks:
        queue.push(tasks[:BATCH])
        del tasks[:BATCH]
