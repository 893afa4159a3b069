"""What the table of links holds: a row a link or request that waits, is leased, or is over. The SQL is in ``store.link_rows``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

WAITING: Final = ("ready", "behind", "suspect")
"""``ready``: may be taken as soon as its host may be asked. ``behind``: another row of its lane comes first. ``suspect``: two workers died
with it, so it is handed out alone."""

LATER: Final = "later"
"""Waits until ``not_before``."""

HELD: Final = "held"
"""A feed entry that needs no request: no queue hands it out; its list page, or the source's next visit, makes the article."""

LEASED: Final = "leased"
ASIDE: Final = "aside"
"""Worker after worker died with it; it waits for a decision (``newsportal frontier aside``)."""

STORED: Final = "stored"
FAILED: Final = "failed"
GIVEN_UP: Final = "given-up"
DONE: Final = "done"
"""A request that is no link and was answered."""

OVER: Final = (STORED, FAILED, GIVEN_UP, DONE)
OUTSTANDING: Final = (*WAITING, LEASED)


@dataclass(frozen=True, slots=True)
class Terms:
    """By which a queue is run; the same for all workers. Seconds, but for ``tries``: workers that die with a row until it is set aside.
    ``forget``: for how long rows that are over are kept, and with them the fingerprints of requests."""

    lease: float = 60.0
    tries: int = 6
    forget: float = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class Task:
    """A request that waits. ``body`` is its JSON; the queue never looks into it. ``at``: seconds since 1970. ``source``: of whose visit.
    ``seen``: its fingerprint, if it is to be filtered by it. ``link``: whether it asks for a link, whose row stays when it is over."""

    id: str
    host: str
    body: str
    priority: int = 0
    at: float | None = None
    lane: str | None = None
    source: str | None = None
    seen: str | None = None
    link: bool = False


@dataclass(frozen=True, slots=True)
class LinkState:
    """What a row says of its link. ``added``, ``changed``, ``not_before``: seconds since 1970. ``failures``: how often it failed in
    passing."""

    id: str
    state: str
    added: float
    changed: float
    failures: int = 0
    reason: str | None = None
    not_before: float | None = None

    @property
    def over(self) -> bool:
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class WaitingLinks:
    """Links that wait for one reason. ``next``: when the first of them is tried, seconds since 1970; ``None``: as soon as its host may be
    asked."""

    queue: str
    source: str | None
    reason: str
    number: int
    next: float | None


Opened = Mapping[str, LinkState]
"""Id of a link → what its row said before."""


def number_of(name: str) -> int:
    """A name as a number of 64 bits: a million fingerprints take 20 MB so, and two of them are one in 10 million cases once."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
