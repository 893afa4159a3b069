"""Subscriptions in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Engine, delete, select

from newsportal.storage.dialects import reading as read
from newsportal.storage.dialects import upsert
from newsportal.storage.dialects import writing as write
from newsportal.storage.rows import name
from newsportal.storage.subscription_tables import SUBSCRIPTIONS, TOKEN_CHARS
from newsportal.storage.subscriptions import Subscription

MOMENTS: Final = ("asked", "until", "pushed")
TOLD: Final = tuple(field.name for field in fields(Subscription) if field.name not in ("source", "token"))


class SqlSubscriptions:
    """The :class:`~newsportal.storage.subscriptions.Subscriptions` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Subscription]:
        return self._found()

    def of(self, source: str) -> Subscription | None:
        return next(iter(self._found(SUBSCRIPTIONS.c.source == name(source))), None)

    def named(self, token: str) -> Subscription | None:
        if len(token) > TOKEN_CHARS or not token.isprintable():  # a guess; PostgreSQL takes no NUL
            return None
        return next(iter(self._found(SUBSCRIPTIONS.c.token == token)), None)

    def save(self, subscription: Subscription) -> None:
        told = {key: getattr(subscription, key) for key in TOLD}
        told |= {key: told[key].isoformat() for key in MOMENTS if told[key]}
        row = {"source": name(subscription.source), "token": subscription.token, "told": told}
        with write(self._engine) as connection:
            upsert(connection, SUBSCRIPTIONS, [row], update=("token", "told"))

    def drop(self, source: str) -> None:
        with write(self._engine) as connection:
            connection.execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.source == name(source)))

    def _found(self, *which: ColumnElement[bool]) -> list[Subscription]:
        with read(self._engine) as connection:
            rows = connection.execute(select(SUBSCRIPTIONS).where(*which).order_by(SUBSCRIPTIONS.c.source))
            return [_subscription(row.source, row.token, row.told) for row in rows]


def _subscription(source: str, token: str, told: Mapping[str, Any]) -> Subscription:
    """What a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values |= {key: datetime.fromisoformat(values[key]) for key in MOMENTS if values.get(key)}
    return Subscription(source, token=token, **values)
