"""The topics of stored articles are changed in a database of documents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from newsportal.storage.answers import Marking
from newsportal.storage.documents.base import Transaction
from newsportal.storage.documents.gallery_ranking import settle
from newsportal.storage.documents.tables import ARTICLES
from newsportal.storage.documents.writing import log, marked
from newsportal.storage.topic_marks import added, dropped


def mark(transaction: Transaction, markings: Sequence[Marking], now: datetime) -> int:
    """See ``Store.mark_topics``."""
    stories: dict[str, list[str]] = {}
    rows = transaction.get(ARTICLES, [marking.article_id for marking in markings], only=("story_id", "topics"))
    for marking in markings:
        row = rows.get(marking.article_id)
        if row is None:
            continue
        known = {one["topic"]: one["by"] for one in row["topics"]}
        gone, fresh = dropped(marking, known), added(marking, known)
        if gone or fresh:
            kept = [one for one in row["topics"] if one["topic"] not in gone]
            topics = [*kept, *marked({one.topic: one for one in fresh})]
            transaction.change(ARTICLES, marking.article_id, topics=sorted(topics, key=lambda one: one["topic"]))
            stories.setdefault(row["story_id"], []).append(marking.article_id)
    for story_id, changed in stories.items():
        settle(transaction, story_id)
        for article_id in changed:
            log(transaction, "article", article_id, now)
    return sum(map(len, stories.values()))
