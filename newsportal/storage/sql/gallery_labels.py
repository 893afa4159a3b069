"""A photo story stands on the wall under each of its topics, its category and its source. Inside the caller's transaction."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from newsportal.storage.galleries_steps import labels
from newsportal.storage.sql.gallery_tables import GALLERIES, LABELLED
from newsportal.storage.sql.tables import ARTICLES, TOPICS


def put_up(connection: Connection, id: str) -> None:
    """Put the photo story ``id`` up under what it is labelled with now, with what the wall is ordered by; nothing for other articles."""
    order = connection.execute(select(GALLERIES.c.score, GALLERIES.c.moment).where(GALLERIES.c.id == id)).first()
    if order is None:
        return
    connection.execute(delete(LABELLED).where(LABELLED.c.gallery_id == id))
    article = connection.execute(select(ARTICLES.c.category, ARTICLES.c.source).where(ARTICLES.c.id == id)).one()
    topics = connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == id))
    row = {"gallery_id": id, "score": order.score, "moment": order.moment}
    under = labels(topics, article.category, article.source)
    connection.execute(insert(LABELLED), [{**row, "kind": kind, "value": value} for kind, value in under])
