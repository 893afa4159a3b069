"""Subscriptions in a database of documents."""

from __future__ import annotations

from newsportal.storage.documents.base import Condition, Documents, Is
from newsportal.storage.documents.room_tables import SUBSCRIPTIONS, row_id
from newsportal.storage.rows import name
from newsportal.storage.subscriptions import Subscription
from newsportal.storage.subscriptions_rows import is_token, subscription_of, subscription_row


class DocumentSubscriptions:
    """The :class:`~newsportal.storage.subscriptions.Subscriptions` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def all(self) -> list[Subscription]:
        return self._found()

    def of(self, source: str) -> Subscription | None:
        return next(iter(self._found(Is("source", name(source)))), None)

    def named(self, token: str) -> Subscription | None:
        return next(iter(self._found(Is("token", token))), None) if is_token(token) else None

    def save(self, subscription: Subscription) -> None:
        row = subscription_row(subscription)
        with self._documents.writing() as transaction:
            transaction.put(SUBSCRIPTIONS, {"id": row_id(row["source"]), **row})

    def drop(self, source: str) -> None:
        with self._documents.writing() as transaction:
            transaction.delete(SUBSCRIPTIONS, [row_id(name(source))])

    def _found(self, *which: Condition) -> list[Subscription]:
        rows = self._documents.find(SUBSCRIPTIONS, *which, order=("source",))
        return [subscription_of(row["source"], row["token"], row["told"]) for row in rows]
