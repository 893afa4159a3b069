"""Who runs jobs of spiders: one interface for processes of this machine and for a scrapyd.

A job is one run of one spider over some sources. Its id is the ``NEWSPORTAL_RUN_ID`` of that run, so that its report in the store is found
by it. What an id was given out for is kept in :mod:`newsportal.runners.records`, before anything is started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import Final, Literal, Protocol

State = Literal["waiting", "running", "ended"]

ID_BYTES: Final = 4
"""As the ids of runs that nobody names: thousands of jobs may be kept, and two with one id are told apart by their moments."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A job to start: the spider, and the keys of the sources that it visits (none: all that are due)."""

    spider: str
    sources: tuple[str, ...] = ()

    def arguments(self) -> dict[str, str]:
        """Of the spider. It looks itself whether a source is still due: somebody else may have visited it meanwhile."""
        chosen = {"sources": json.dumps(self.sources, ensure_ascii=False)} if self.sources else {}
        return {"due": "1", **chosen}


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job. ``sources``: the keys that it visits; ``None``: not known, so it may be any of its spider's. ``status``: how
    its process ended (0: well), where that is known."""

    id: str
    spider: str
    state: State
    sources: tuple[str, ...] | None = None
    started: datetime | None = None
    ended: datetime | None = None
    status: int | None = None

    @property
    def active(self) -> bool:
        return self.state != "ended"


class Runner(Protocol):
    """Raises ``RunnerUnavailable`` where it cannot be reached: nothing is lost, ask again; ``RunnerRefused`` for what it will not do."""

    @property
    def where(self) -> str:
        """For people: which runner it is."""
        ...

    def start(self, id: str, wanted: Wanted) -> None:
        """Start a job, or let it wait for its turn. May be repeated with the same id after ``RunnerUnavailable``: it starts once."""
        ...

    def jobs(self) -> list[Job]:
        """All that it knows of, those of others too, the newest first."""
        ...

    def log(self, id: str) -> str | None:
        """What the job said so far; ``None`` if there is no such job, or its log is gone."""
        ...

    def cancel(self, id: str) -> bool:
        """Ask a job to end: what it has in hand is stored, the rest waits. Asked a second time it ends at once. False: it does not run."""
        ...

    def hasten(self) -> None:
        """Whoever waits for the end has lost patience: jobs that :meth:`close` ends do so at once. Called from a signal handler."""
        ...

    def close(self) -> None:
        """Nobody looks after its jobs any more: those that cannot go on alone are ended in order."""
        ...


def new_id() -> str:
    return token_hex(ID_BYTES)


def settings_of(id: str, more: Mapping[str, str]) -> dict[str, str]:
    """Scrapy settings of a job."""
    return {**more, "NEWSPORTAL_RUN_ID": id}
