"""Photo stories that were folded and are not one after all: parted again. All inside the caller's transaction.

A fold is judged by what is known at the time. Of a story whose pages failed one picture may be known, and words alone decided; a picture
that two stories share may turn out to be an advertisement. When the pictures of a story change, its folds are judged again. What an
editor folded stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from newsportal.storage.galleries_steps import leaving, made_by_rule
from newsportal.storage.sql.folding import new_story
from newsportal.storage.sql.gallery_folding import fold, is_one
from newsportal.storage.sql.tables import ARTICLES, TOPICS


def part(connection: Connection, id: str) -> tuple[str, ...]:
    """Take apart what the pictures of ``id``, as they are now, do not join any more; what leaves may be folded elsewhere.

    Answers the photo stories that left their story; figures and ranks of all stories concerned are the caller's.
    """
    links = _links(connection, id)
    broken = [link.id for link in links if made_by_rule(dict(link._mapping), id) and not is_one(connection, link.id, link.fold_of)]
    left = [one for child in broken for one in _leave(connection, child, links)]
    for child in broken:
        fold(connection, child)
    return tuple(dict.fromkeys(left))


def _links(connection: Connection, id: str) -> Sequence[Any]:
    """The articles of a photo story's story, each with what it repeats."""
    story = select(ARTICLES.c.story_id).where(ARTICLES.c.id == id).scalar_subquery()
    return connection.execute(select(ARTICLES.c.id, ARTICLES.c.fold_of, ARTICLES.c.fold_reason).where(ARTICLES.c.story_id == story)).all()


def _leave(connection: Connection, child: str, links: Sequence[Any]) -> list[str]:
    """Found a story on ``child``, and take what repeats it along."""
    row = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == child)).mappings().one())
    topics = connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == child)).all()
    story_id = new_story(connection, row, topics)
    alone = {"story_id": story_id, "fold_of": None, "fold_reason": None, "fold_score": None}
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == child).values(**alone))
    moved = leaving(child, [dict(link._mapping) for link in links])
    connection.execute(update(ARTICLES).where(ARTICLES.c.id.in_(moved[1:])).values(story_id=story_id))
    return moved
