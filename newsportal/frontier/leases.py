"""The leases in a worker's hands: which requests run under each, and which are done. No input or output.

A lease is done when nothing of it is under way: neither the request that was handed out, nor a retry or redirect of it, nor a request that
its callback made and that only this process understands. Under way is what the engine has in progress: it lets a request go when its
callback and its items' pipelines are through.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from newsportal.frontier.queues.base import Task

REMEMBERED: Final = 50_000
"""Tasks that are kept until they are done, so that they can be pushed again into a queue that was emptied; some 700 bytes each. Of older
ones only the id and the source are kept: their links wait in the store."""


@dataclass(slots=True)
class Held:
    """``out``: requests in the engine; ``waiting``: how many wait in the hand for their host's turn. ``lost``: somebody else has it now."""

    task: Task
    out: set[Any] = field(default_factory=set)
    waiting: int = 0
    lost: bool = False


class Leases:
    """See the module. ``ours`` are the tasks that this process pushed and that are, as far as it knows, not done."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._ours: dict[str, Task | str | None] = {}  # of older ones only the source
        self._kept: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: object) -> bool:
        return id in self._held

    # pushed

    def pushed(self, task: Task) -> None:
        self._ours[task.id] = task
        self._kept[task.id] = None
        if len(self._kept) > REMEMBERED:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            old = self._ours[oldest]
            self._ours[oldest] = old.source if isinstance(old, Task) else old

    def is_ours(self, id: str) -> bool:
        return id in self._ours

    def again(self) -> list[Task]:
        """What to push into a queue that may have been emptied: refused there if it was not."""
        return [task for id in self._kept if isinstance(task := self._ours.get(id), Task) and id not in self._held]

    def past(self, source: str) -> None:
        """A visit is over: what was pushed for it is done, by whomever."""
        for id, task in list(self._ours.items()):
            if id not in self._held and source == (task.source if isinstance(task, Task) else task):
                del self._ours[id]
                self._kept.pop(id, None)

    # taken

    def take(self, task: Task) -> Held:
        """A task came into our hands."""
        held = self._held[task.id] = Held(task)
        return held

    def waits(self, id: str | None) -> None:
        """One more request under this lease waits in the hand."""
        if id in self._held:
            self._held[id].waiting += 1

    def left(self, id: str | None) -> None:
        """One of them waits no more, and was not handed out."""
        if id in self._held:
            self._held[id].waiting -= 1

    def handed(self, id: str | None, request: Any) -> None:
        """One of them was handed out."""
        if id in self._held:
            held = self._held[id]
            held.waiting -= 1
            held.out.add(request)

    def single(self, id: str | None) -> bool:
        """Whether nothing of a lease was begun: its task alone waits in the hand."""
        held = self._held.get(id or "")
        return held is not None and held.waiting == 1 and not held.out

    def over(self, id: str, in_progress: Container[Any]) -> bool:
        """Whether a lease is done, and only not told yet."""
        held = self._held.get(id)
        return held is not None and not held.waiting and all(request not in in_progress for request in held.out)

    def lose(self, ids: set[str]) -> Iterator[Held]:
        """These leases are not ours any more."""
        for id in ids:
            held = self._held.get(id)
            if held is not None and not held.lost:
                held.lost = True
                yield held

    def drop(self, id: str) -> None:
        """The task is not in our hands any more, and not done."""
        self._held.pop(id, None)

    def finished(self, in_progress: Container[Any]) -> list[str]:
        """The ids of leases that are done and still ours; those are forgotten, and so are lost ones that are over."""
        over = []
        for id, held in list(self._held.items()):
            if held.out:
                held.out = {request for request in held.out if request in in_progress}
            if held.out or held.waiting:
                continue
            del self._held[id]
            self._ours.pop(id, None)
            self._kept.pop(id, None)
            if not held.lost:
                over.append(id)
        return over
