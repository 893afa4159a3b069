"""The log of changes: who did what, when, from where. Nothing in it is ever changed; it is kept as long as ``retention.log`` says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from newsportal.services.accounts.base import Entry, Signed
from newsportal.services.accounts.tables import ACTION_CHARS, ADDRESS_CHARS, TRAIL
from newsportal.store.dialects import Part


class Trail(Part):
    def add(
        self,
        who: Signed | None,
        action: str,
        thing: str = "",
        details: Mapping[str, Any] | None = None,
        *,
        now: datetime,
        address: str = "",
    ) -> None:
        """``who`` None: a command on the machine, or nobody yet. ``details``: what JSON can hold, without secrets."""
        row = {
            "at": now, "person_id": who.person.id if who else None, "person": who.person.name if who else "",
            "way": who.way if who else "command", "action": action[:ACTION_CHARS], "thing": thing, "details": dict(details or {}),
            "address": address[:ADDRESS_CHARS],
        }  # fmt: skip
        self._execute(insert(TRAIL).values(row))

    def entries(
        self,
        *,
        before: int | None = None,
        person: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Entry]:
        """The newest first, those with a smaller ``seq`` than ``before``. ``action``: the whole name, or what it begins with and a dot."""
        query = select(TRAIL).order_by(TRAIL.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(TRAIL.c.seq < before)
        if person is not None:
            query = query.where(TRAIL.c.person == person)
        if action is not None:
            query = query.where((TRAIL.c.action == action) | TRAIL.c.action.startswith(f"{action}.", autoescape=True))
        if since is not None:
            query = query.where(TRAIL.c.at >= since)
        rows = self._rows(query)
        return [Entry(row.seq, row.at, row.person, row.way, row.action, row.thing, row.details, row.address) for row in rows]

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        """Delete what was done before that moment; answers how many entries."""
        return self._delete_old(TRAIL, TRAIL.c.at < before, dry_run=dry_run)

    def actions(self) -> list[str]:
        """What was ever done, in the order of the alphabet."""
        return self._scalars(select(TRAIL.c.action).distinct().order_by(TRAIL.c.action))

    def names(self) -> list[str]:
        """Who ever changed something; a command has no name."""
        return self._scalars(select(TRAIL.c.person).distinct().where(TRAIL.c.person != "").order_by(TRAIL.c.person))
