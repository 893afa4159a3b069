"""Subscriptions in a SQL database."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Engine, delete, select

from newsportal.storage.rows import name
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.subscription_tables import SUBSCRIPTIONS
from newsportal.storage.subscriptions import Subscription
from newsportal.storage.subscriptions_rows import is_token, subscription_of, subscription_row


class SqlSubscriptions:
    """The :class:`~newsportal.storage.subscriptions.Subscriptions` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Subscription]:
        return self._found()

    def of(self, source: str) -> Subscription | None:
        return next(iter(self._found(SUBSCRIPTIONS.c.source == name(source))), None)

    def named(self, token: str) -> Subscription | None:
        if not is_token(token):
            return None
        return next(iter(self._found(SUBSCRIPTIONS.c.token == token)), None)

    def save(self, subscription: Subscription) -> None:
        with write(self._engine) as connection:
            upsert(connection, SUBSCRIPTIONS, [subscription_row(subscription)], update=("token", "told"))

    def drop(self, source: str) -> None:
        with write(self._engine) as connection:
            connection.execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.source == name(source)))

    def _found(self, *which: ColumnElement[bool]) -> list[Subscription]:
        with read(self._engine) as connection:
            rows = connection.execute(select(SUBSCRIPTIONS).where(*which).order_by(SUBSCRIPTIONS.c.source))
            return [subscription_of(row.source, row.token, row.told) for row in rows]
