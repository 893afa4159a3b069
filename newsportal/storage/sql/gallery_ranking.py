"""What photo stories are ranked by follows whatever changes their story. Inside the caller's transaction."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from newsportal.storage.galleries_steps import scored
from newsportal.storage.sql import gallery_labels
from newsportal.storage.sql.folding import refresh
from newsportal.storage.sql.gallery_tables import GALLERIES, PICTURES
from newsportal.storage.sql.tables import ARTICLES, STORIES


def settle(connection: Connection, story_id: str) -> None:
    """After a change of a story's photo stories: its figures, and the score of each of them."""
    refresh(connection, story_id)
    sites = connection.scalar(select(STORIES.c.sites).where(STORIES.c.id == story_id)) or 1
    members = select(GALLERIES).join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id).where(ARTICLES.c.story_id == story_id)
    for row in connection.execute(members).mappings().all():
        shown = select(PICTURES).where(PICTURES.c.gallery_id == row["id"], PICTURES.c.dropped.is_(None))
        images = [dict(one) for one in connection.execute(shown).mappings()]
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == row["id"]).values(score=scored(dict(row), images, sites)))
        gallery_labels.put_up(connection, row["id"])
