"""Feeds that tell us what is new (WebSub): where they can be subscribed to, and how that stands. A protocol of its own within the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Subscription:
    """``topic`` as the feed names itself. ``token`` names the callback, which only the hub knows; ``secret`` signs what it sends.

    ``asked``: when the hub was asked last (to subscribe, or with ``leaving`` to unsubscribe), ``tries`` how often without an answer since.
    ``until``: the lease that the hub confirmed. ``pushed``: when it told us last. ``denied``: why it does not want to.
    """

    source: str
    hub: str
    topic: str
    token: str
    secret: str
    asked: datetime | None = None
    tries: int = 0
    until: datetime | None = None
    pushed: datetime | None = None
    leaving: bool = False
    denied: str | None = None

    def __repr__(self) -> str:
        return f"Subscription({self.source!r}, {self.hub!r})"  # neither token nor secret belong into a log

    def holds(self, now: datetime) -> bool:
        """Whether the hub has promised to tell us."""
        return self.until is not None and self.until > now and not self.leaving


class Subscriptions(Protocol):
    """Blocking calls. Raises ``StoreUnavailable``."""

    def all(self) -> list[Subscription]: ...

    def of(self, source: str) -> Subscription | None: ...

    def named(self, token: str) -> Subscription | None:
        """The subscription whose callback has this name."""
        ...

    def save(self, subscription: Subscription) -> None:
        """Insert or replace by source."""
        ...

    def drop(self, source: str) -> None: ...
