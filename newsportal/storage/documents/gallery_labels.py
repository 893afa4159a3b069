"""A photo story stands on the wall under each of its topics, its category and its source. Inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from newsportal.storage.documents.base import Transaction
from newsportal.storage.documents.room_tables import GALLERIES
from newsportal.storage.documents.tables import ARTICLES, label
from newsportal.storage.galleries_steps import labels

LABELLED_BY = ("topics", "category", "source")
"""What of an article's row the wall shows it under."""


def put_up(transaction: Transaction, id: str) -> None:
    """Put the photo story ``id`` up under what it is labelled with now; nothing for other articles."""
    if transaction.get(GALLERIES, [id], only=("id",)):
        article = transaction.get(ARTICLES, [id], only=LABELLED_BY)[id]
        transaction.change(GALLERIES, id, labels=under(article))


def under(article: Mapping[str, Any]) -> list[str]:
    """The ``labels`` of a photo story, from its article's row."""
    topics: Collection[str] = [mark["topic"] for mark in article["topics"]]
    return [label(kind, value) for kind, value in labels(topics, article["category"], article["source"])]
