"""Threads in a database of documents: each method that writes is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from newsportal.items import Thread, content_id
from newsportal.storage.documents.base import Documents, Is, Row, Rows, Transaction
from newsportal.storage.documents.folding import refresh
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import POSTS, THREADS, row_id
from newsportal.storage.documents.tables import ARTICLES, kept
from newsportal.storage.documents.writing import add_topics, founded, log
from newsportal.storage.paging import chunks
from newsportal.storage.rows import storable, topics_of
from newsportal.storage.threads import Saved, StoredPost, StoredThread
from newsportal.storage.threads_rows import article_of, identity_of, plan, post_of, state, text_of

POST_MOMENTS: Final = ("published", "first_seen", "changed")

IN_ORDER: Final = ("place", "name")


class DocumentThreads:
    """The :class:`~newsportal.storage.threads.Threads` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def save(self, thread: Thread, *, now: datetime) -> Saved:
        with self._documents.writing() as transaction:
            return save(transaction, thread, now)

    def known(self, identities: Collection[str]) -> Mapping[str, StoredThread]:
        by_id = {content_id(storable(identity)): identity for identity in identities}
        return {by_id[id]: thread for id, thread in _threads(self._documents, by_id)}

    def thread(self, id: str) -> StoredThread | None:
        return next((thread for _, thread in _threads(self._documents, [id] if id else [])), None)

    def posts(self, id: str, *, offset: int = 0, limit: int | None = None) -> list[StoredPost]:
        found = self._documents.find(POSTS, Is("thread_id", id), order=IN_ORDER, skip=offset, limit=limit)
        return [post_of(aware(row, *POST_MOMENTS)) for row in found]


def _threads(rows: Rows, ids: Iterable[str]) -> Iterator[tuple[str, StoredThread]]:
    for chunk in chunks(ids):
        found = rows.get(THREADS, chunk)
        articles = rows.get(ARTICLES, list(found), only=("identity",)) if found else {}
        for id, row in found.items():
            if id not in articles:  # it is being written
                continue
            values = {key: row[key] for key in StoredThread.__dataclass_fields__ if key != "identity"}
            yield id, StoredThread(**aware(values, "newest", "visited", "listed"), identity=articles[id]["identity"])


def save(transaction: Transaction, thread: Thread, now: datetime) -> Saved:
    """See ``Threads.save``."""
    id = content_id(identity_of(thread))
    article = article_of(thread)
    there = transaction.get(ARTICLES, [id], only=("story_id", "topics")).get(id)
    story_id = str(there["story_id"]) if there is not None else founded(transaction, article, now)
    posts, new, edited = _write_posts(transaction, id, thread, now)
    newest = max((post["published"] for post in posts if post["published"] is not None), default=None)
    transaction.put(THREADS, {"id": id, **plain(state(thread, now)), "posts": len(posts), "newest": newest})
    met = there is not None and add_topics(transaction, there, topics_of(article))
    grown = bool(new or edited)
    if grown:
        text = text_of(post["text"] for post in sorted(posts, key=lambda post: (post["place"], post["name"])))
        transaction.change(ARTICLES, id, **kept({"text": text, "length": len(text), "fetched": thread.fetched}))
    if grown or met or there is None:
        refresh(transaction, story_id)
        log(transaction, "article", id, now)
    return Saved("stored" if there is None else "grown" if grown else "same", id, story_id, new, edited)


def _write_posts(transaction: Transaction, id: str, thread: Thread, now: datetime) -> tuple[list[Row], int, int]:
    """Append the posts that are not there, change those that say something else; all that there are now, and how many of either."""
    there = {row["name"]: row for row in transaction.find(POSTS, Is("thread_id", id))}
    made = plan(id, {name: aware(row, *POST_MOMENTS) for name, row in there.items()}, thread.posts, now)
    touched = {*made.changed, *(name for _, name in made.renamed)}
    for old, name in made.renamed:
        there[name] = {**there.pop(old), "name": name}
        transaction.delete(POSTS, [row_id(id, old)])
    for name, values in made.changed.items():
        there[name] |= plain(values)
    there |= {row["name"]: plain(row) for row in made.fresh}
    for name in (*touched, *(row["name"] for row in made.fresh)):
        transaction.put(POSTS, {**there[name], "id": row_id(id, name)})
    return list(there.values()), len(made.fresh), made.edited
