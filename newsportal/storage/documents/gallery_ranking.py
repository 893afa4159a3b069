"""What photo stories are ranked by follows whatever changes their story. Inside the caller's transaction."""

from __future__ import annotations

from collections import defaultdict

from newsportal.storage.documents.base import In, Is, Row, Transaction
from newsportal.storage.documents.folding import refresh
from newsportal.storage.documents.gallery_labels import LABELLED_BY, under
from newsportal.storage.documents.plain import aware
from newsportal.storage.documents.room_tables import GALLERIES, GALLERY_PICTURES
from newsportal.storage.documents.tables import ARTICLES, STORIES
from newsportal.storage.galleries_steps import scored


def settle(transaction: Transaction, story_id: str) -> None:
    """After a change of a story's photo stories: its figures, the score of each of them, and what it stands under."""
    refresh(transaction, story_id)
    articles = {row["id"]: row for row in transaction.find(ARTICLES, Is("story_id", story_id), only=LABELLED_BY)}
    members = transaction.get(GALLERIES, list(articles)) if articles else {}
    if not members:
        return
    sites = transaction.get(STORIES, [story_id], only=("sites",))[story_id]["sites"]
    shown: dict[str, list[Row]] = defaultdict(list)
    for picture in transaction.find(GALLERY_PICTURES, In("gallery_id", members), Is("dropped", None)):
        shown[picture["gallery_id"]].append(picture)
    for id, row in members.items():
        score = scored(aware(row, "moment"), shown[id], sites)
        transaction.put(GALLERIES, {**row, "score": score, "labels": under(articles[id])})
