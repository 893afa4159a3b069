"""Feeds that tell us what is new (WebSub): where they can be subscribed to, and how that stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Column, ColumnElement, String, Table, delete, select

from newsportal.store.columns import METADATA, NAME_CHARS, name
from newsportal.store.dialects import Part, upsert


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


TOKEN_CHARS: Final = 64

MOMENTS: Final = ("asked", "until", "pushed")
TOLD: Final = tuple(field.name for field in fields(Subscription) if field.name not in ("source", "token"))


def is_token(token: str) -> bool:
    """Whether it may name a callback. Anything else is a guess, and NUL is what PostgreSQL takes in no text."""
    return len(token) <= TOKEN_CHARS and token.isprintable()


def subscription_row(subscription: Subscription) -> dict[str, Any]:
    told = {key: getattr(subscription, key) for key in TOLD}
    told |= {key: told[key].isoformat() for key in MOMENTS if told[key]}
    return {"source": name(subscription.source), "token": subscription.token, "told": told}


def subscription_of(source: str, token: str, told: Mapping[str, Any]) -> Subscription:
    """The inverse of :func:`subscription_row`; what a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values |= {key: datetime.fromisoformat(values[key]) for key in MOMENTS if values.get(key)}
    return Subscription(source, token=token, **values)


SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("token", String(TOKEN_CHARS), nullable=False, index=True),
    Column("told", JSON, nullable=False),
)
"""``told``: the subscription (``store.subscriptions``), without source and token."""


class Subscriptions(Part):
    def all(self) -> list[Subscription]:
        return self._found()

    def of(self, source: str) -> Subscription | None:
        return next(iter(self._found(SUBSCRIPTIONS.c.source == name(source))), None)

    def named(self, token: str) -> Subscription | None:
        """The subscription whose callback has this name."""
        if not is_token(token):
            return None
        return next(iter(self._found(SUBSCRIPTIONS.c.token == token)), None)

    def save(self, subscription: Subscription) -> None:
        with self._write() as connection:
            upsert(connection, SUBSCRIPTIONS, [subscription_row(subscription)], update=("token", "told"))

    def drop(self, source: str) -> None:
        with self._write() as connection:
            connection.execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.source == name(source)))

    def _found(self, *which: ColumnElement[bool]) -> list[Subscription]:
        with self._read() as connection:
            rows = connection.execute(select(SUBSCRIPTIONS).where(*which).order_by(SUBSCRIPTIONS.c.source))
            return [subscription_of(row.source, row.token, row.told) for row in rows]
