"""One conversation of a worker with its queue, in the queue's own thread: everything that piled up, in batches, in the order in which a
death between two steps costs nothing. What was not done stays in the order, for the next conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from newsportal.errors import FrontierUnavailable

if TYPE_CHECKING:
    from newsportal.frontier.queues.base import Queue, Taken, Task

BATCH: Final = 500
"""Tasks in one push: some 500 kB, so that no other worker waits long for the queue."""


@dataclass(slots=True)
class Order:
    """What to say: new tasks first, then what is done with what made them; then what is given back, and only then what is wanted.

    ``anew``: tasks whose leases end with this very order (in ``done``), and which are wanted once more: they are refused as long as they
    are leased. ``back``: ids, and from when on they may be had (seconds since 1970). ``take``: how many tasks, ``None``: do not ask.
    """

    push: list[Task] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    anew: list[Task] = field(default_factory=list)
    back: list[tuple[list[str], float | None]] = field(default_factory=list)
    free: dict[str, float] = field(default_factory=dict)
    hold: list[str] = field(default_factory=list)
    beat: Mapping[str, str] | None = None
    take: int | None = None

    @property
    def changes(self) -> bool:
        """Whether the queue is another one afterwards."""
        return bool(self.push or self.done or self.anew or self.back or self.free or self.hold)

    @property
    def says_something(self) -> bool:
        return self.changes or self.beat is not None or self.take is not None


@dataclass(slots=True)
class Answer:
    """``entered``: ids that were taken in. ``holds``: seconds until a host may be asked, ``None``: somebody else has it. ``lost``: leases
    that are not ours any more. ``fault``: the queue went away in the middle."""

    entered: set[str] = field(default_factory=set)
    holds: dict[str, float | None] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    taken: Taken | None = None
    fault: FrontierUnavailable | None = None


def send_batch(queue: Queue, order: Order, *, delay: float, ahead: float) -> Answer:
    """Say everything in ``order``. Blocking."""
    answer = Answer()
    try:
        _tell(queue, order, answer)
        _ask(queue, order, answer, delay=delay, ahead=ahead)
    except FrontierUnavailable as error:
        answer.fault = error
    return answer


def _tell(queue: Queue, order: Order, answer: Answer) -> None:
    _push(queue, order.push, answer)
    if order.done:
        queue.done(order.done)
        order.done = []
    _push(queue, order.anew, answer)
    while order.back:
        ids, at = order.back[0]
        queue.back(ids, at=at)
        del order.back[0]
    if order.free:
        queue.free(order.free)
        order.free = {}


def _push(queue: Queue, tasks: list[Task], answer: Answer) -> None:
    while tasks:
        answer.entered |= queue.push(tasks[:BATCH])
        del tasks[:BATCH]


def _ask(queue: Queue, order: Order, answer: Answer, *, delay: float, ahead: float) -> None:
    if order.beat is not None:
        answer.lost = queue.beat(order.beat)
        order.beat = None
    for host in order.hold:
        answer.holds[host] = queue.hold(host)
    order.hold = []
    if order.take is not None:
        answer.taken = queue.take(order.take, delay=delay, ahead=ahead)
        order.take = None
