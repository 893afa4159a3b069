"""The topics of stored articles are changed in a SQL store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from newsportal.storage.answers import Marking
from newsportal.storage.rows import name
from newsportal.storage.sql import gallery_labels
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.folding import refresh
from newsportal.storage.sql.tables import ARTICLES, TOPICS
from newsportal.storage.sql.writing import log
from newsportal.storage.topic_marks import added, dropped


def mark(connection: Connection, markings: Sequence[Marking], now: datetime) -> int:
    """See ``Store.mark_topics``."""
    stories: dict[str, list[str]] = {}
    for marking in markings:
        story_id = connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == marking.article_id))
        if story_id is not None and _mark(connection, marking):
            stories.setdefault(story_id, []).append(marking.article_id)
    for story_id, changed in stories.items():
        refresh(connection, story_id)
        for article_id in changed:
            gallery_labels.put_up(connection, article_id)
            log(connection, "article", article_id, now)
    return sum(map(len, stories.values()))


def _mark(connection: Connection, marking: Marking) -> bool:
    """Change one article's topics; answers whether anything is another."""
    of = TOPICS.c.article_id == marking.article_id
    known = {row.topic: row.by for row in connection.execute(select(TOPICS.c.topic, TOPICS.c.by).where(of))}
    gone, fresh = dropped(marking, known), added(marking, known)
    if gone:
        connection.execute(delete(TOPICS).where(of, TOPICS.c.topic.in_(gone)))
    upsert(
        connection,
        TOPICS,
        [{"article_id": marking.article_id, "topic": one.topic, "by": name(one.by), "score": one.score} for one in fresh],
    )
    return bool(gone or fresh)
