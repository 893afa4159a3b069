"""The leases in a worker's hands: which requests run under each, and which are done. No input or output.

A lease is done when nothing of it is under way: neither the request that was handed out, nor a retry or redirect of it, nor a request that
its callback made and that only this process understands. Under way is what the engine has in progress: it lets a request go when its
callback and its items' pipelines are through.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from newsportal.frontier.queues.base import Task


@dataclass(slots=True)
class Held:
    """``out``: requests in the engine; ``waiting``: how many wait in the hand for their host's turn. ``lost``: somebody else has it now."""

    task: Task
    out: set[Any] = field(default_factory=set)
    waiting: int = 0
    lost: bool = False


class Leases:
    """See the module."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: object) -> bool:
        return id in self._held

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

    def finished(self, in_progress: Container[Any]) -> list[Task]:
        """The tasks of leases that are done and still ours; those are forgotten, and so are lost ones that are over."""
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
