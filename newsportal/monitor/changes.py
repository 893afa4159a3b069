"""When a source's state changes, it is said once: by the visit that changed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from newsportal.messages import Message
from newsportal.monitor.states import Health, health
from newsportal.visits import Visit

CALM = frozenset({"new", "healthy", "quiet"})
"""Changes among these are not worth a line."""


@dataclass(frozen=True, slots=True)
class Change:
    """From one state to another."""

    before: Health
    after: Health

    @property
    def message(self) -> Message:
        states = {"before": Message(f"state.{self.before.state}"), "after": Message(f"state.{self.after.state}")}
        if self.after.state in CALM:
            return Message("note.state-again", **states)
        return Message("note.state", why=self.after.reason(), **states)


def change(visits: Sequence[Visit]) -> Change | None:
    """What the newest of these visits changed; ``None`` if it changed nothing that is worth a line.

    Both states are judged at the moment of their own visit, so each change is told by one visit and by no other.
    """
    visits = [visit for visit in visits if visit.list_pages or visit.list_failed or visit.entries]
    if not visits:
        return None
    after = health(visits, visits[0].at)
    before = health(visits[1:], visits[1].at) if len(visits) > 1 else Health("new")
    same = (before.state, before.cause) == (after.state, after.cause)
    return None if same or {before.state, after.state} <= CALM else Change(before, after)
