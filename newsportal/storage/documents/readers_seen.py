"""Writing down what readers look at, in a database of documents. Every function runs inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from newsportal.items import content_id
from newsportal.recommend.base import View
from newsportal.storage.columns import ID_CHARS
from newsportal.storage.documents.base import Condition, In, Is, Row, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import OFFERS, SWITCHED_OFF, VIEWS, row_id
from newsportal.storage.documents.tables import ALIASES, ARTICLES
from newsportal.storage.readers import OPENED_WITHIN, Brought
from newsportal.storage.readers_rows import bits, both, look, looks, reader_name, sifted
from newsportal.storage.rows import storable


def saw(transaction: Transaction, reader: str, article_id: str, places: Collection[int], pictures: int, now: datetime) -> bool:
    """See ``Readers.saw``."""
    article = story_ids(transaction, [article_id])
    if not article or is_off(transaction, reader):
        return False
    new = look(bits(places, pictures), pictures, now)
    before = there(transaction, [(reader, article_id)]).get((reader, article_id))
    _put(transaction, reader, article_id, new if before is None else both(before, new))
    if before is None:
        _opened(transaction, reader, article_id, article[article_id], now)
    return True


def story_ids(rows: Rows, articles: Collection[str]) -> dict[str, str]:
    """Id of an article → its story, of those there are."""
    ids = [id for id in dict.fromkeys(articles) if id.isalnum() and len(id) <= ID_CHARS]
    found = rows.get(ARTICLES, ids, only=("story_id",)) if ids else {}
    return {id: row["story_id"] for id, row in found.items()}


def is_off(rows: Rows, reader: str) -> bool:
    """Whether a reader wants no profile."""
    return bool(rows.get(SWITCHED_OFF, [row_id(reader)]))


def there(rows: Rows, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
    """(reader, article) → the view that is stored."""
    found = rows.get(VIEWS, [row_id(*key) for key in keys]).values()
    return {(row["reader"], row["article_id"]): aware(row, "first", "at") for row in found}


def _put(transaction: Transaction, reader: str, article_id: str, looked: Mapping[str, Any]) -> None:
    transaction.put(VIEWS, {"id": row_id(reader, article_id), "reader": reader, "article_id": article_id, **plain(looked)})


def _opened(transaction: Transaction, reader: str, article_id: str, story_id: str, now: datetime) -> None:
    """Note on the latest offer of the story that it was opened."""
    lately = Within("at", moment_in(now - OPENED_WITHIN), moment_in(now), upto=True)
    its = (Is("reader", reader), In("story_id", [story_id, article_id]), Is("opened", None), lately)
    for offer in transaction.find(OFFERS, *its, order=("-day",), limit=1):
        transaction.put(OFFERS, {**offer, "opened": article_id})


def bring(transaction: Transaction, views: Sequence[View], now: datetime) -> Brought:
    """See ``Readers.bring``; some of the views."""
    articles = _articles(transaction, {view.story for view in views})
    readers = {row_id(reader_name(view.reader)) for view in views}
    silent = {row["reader"] for row in transaction.get(SWITCHED_OFF, readers).values()}
    wanted, brought = sifted(views, articles, silent, now)
    rows = looks(wanted, articles, now)
    before = there(transaction, list(rows)) if rows else {}
    for key, new in rows.items():
        looked = both(before[key], new) if key in before else new
        _put(transaction, *key, looked)
    return brought


def _articles(rows: Rows, names: Collection[str]) -> dict[str, str]:
    """The articles that are meant, by id or by an identity."""
    hashed = {content_id(storable(name)): name for name in names}
    by_id = story_ids(rows, [*names, *hashed])
    aliases = rows.get(ALIASES, list(hashed), only=("article_id",))
    found = {hashed[alias]: row["article_id"] for alias, row in aliases.items()}
    return found | {hashed.get(id, id): id for id in by_id}


def forget(transaction: Transaction, reader: str, story: str | None) -> None:
    """See ``Readers.forget``."""
    views: tuple[Condition, ...] = (Is("reader", reader),)
    offers = views
    if story is not None:
        stories = {story, *story_ids(transaction, [story]).values()}
        members = {row["id"] for row in transaction.find(ARTICLES, In("story_id", stories), only=("id",))}
        views = (*views, In("article_id", {story, *members}))
        offers = (*offers, In("story_id", {*stories, *members}))
    for table, which in ((VIEWS, views), (OFFERS, offers)):
        transaction.delete(table, [row["id"] for row in transaction.find(table, *which, only=("id",))])
