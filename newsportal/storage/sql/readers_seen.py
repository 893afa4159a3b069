"""Writing down what readers look at. Every function runs inside the caller's write transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Select, and_, bindparam, or_, select, update

from newsportal.items import content_id
from newsportal.recommend.base import View
from newsportal.storage.readers import OPENED_WITHIN, VIEWS_KEPT, Brought
from newsportal.storage.readers_rows import LOOKED, bits, both, look, looks, reader_name, sifted
from newsportal.storage.rows import storable
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.reader_tables import OFFERS, SWITCHED_OFF, VIEWS
from newsportal.storage.sql.tables import ALIASES, ARTICLES

AT_ONCE: Final = 200
"""Views that :func:`bring` may be given: one statement asks for all of them, two values each."""

_READER: BindParameter[str] = bindparam("reader")
_ARTICLE: BindParameter[str] = bindparam("article")
SITUATION: Final = (
    select(ARTICLES.c.story_id, SWITCHED_OFF.c.reader.label("off"), VIEWS.c.pictures, VIEWS.c.places, VIEWS.c.first, VIEWS.c.at)
    .select_from(ARTICLES)
    .outerjoin(SWITCHED_OFF, SWITCHED_OFF.c.reader == _READER)
    .outerjoin(VIEWS, (VIEWS.c.reader == _READER) & (VIEWS.c.article_id == ARTICLES.c.id))
    .where(ARTICLES.c.id == _ARTICLE)
)
"""All that one look needs to know, in one statement."""


def saw(connection: Connection, reader: str, article_id: str, places: Collection[int], pictures: int, now: datetime) -> bool:
    """See ``Readers.saw``."""
    found = connection.execute(SITUATION, {"reader": reader, "article": article_id}).mappings().first()
    if found is None or found["off"] is not None:
        return False
    new = look(bits(places, pictures), pictures, now)
    row = new if found["places"] is None else both(dict(found), new)
    upsert(connection, VIEWS, [{"reader": reader, "article_id": article_id, **row}], update=LOOKED)
    if found["places"] is None:
        _opened(connection, reader, article_id, found["story_id"], now)
    return True


def _opened(connection: Connection, reader: str, article_id: str, story_id: str, now: datetime) -> None:
    """Note on the latest offer of the story that it was opened."""
    its = (OFFERS.c.reader == reader) & OFFERS.c.story_id.in_((story_id, article_id)) & OFFERS.c.opened.is_(None)
    wanted = select(OFFERS.c.story_id, OFFERS.c.day).where(its, OFFERS.c.at.between(now - OPENED_WITHIN, now))
    offered = connection.execute(wanted.order_by(OFFERS.c.day.desc()).limit(1)).first()
    if offered is not None:
        this = its & (OFFERS.c.story_id == offered.story_id) & (OFFERS.c.day == offered.day)
        connection.execute(update(OFFERS).where(this).values(opened=article_id))


def bring(connection: Connection, views: Sequence[View], now: datetime) -> Brought:
    """See ``Readers.bring``; some of the views."""
    late = [view for view in views if view.at >= now - VIEWS_KEPT]
    articles = _articles(connection, {view.story for view in late})
    wanted, brought = sifted(views, articles, _switched_off(connection, {reader_name(view.reader) for view in late}), now)
    _add(connection, looks(wanted, articles, now))
    return brought


def _articles(connection: Connection, names: Collection[str]) -> dict[str, str]:
    """The articles that are meant, by id or by an identity."""
    hashed = {content_id(storable(name)): name for name in names}
    wanted = [*names, *hashed]
    by_id = list(connection.scalars(select(ARTICLES.c.id).where(ARTICLES.c.id.in_(wanted))))
    aliases = connection.execute(select(ALIASES.c.id, ALIASES.c.article_id).where(ALIASES.c.id.in_(list(hashed))))
    found = {hashed[alias]: article for alias, article in aliases}
    return found | {hashed.get(id, id): id for id in by_id}


def _switched_off(connection: Connection, readers: Collection[str]) -> set[str]:
    return set(connection.scalars(select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader.in_(list(readers)))))


def _add(connection: Connection, rows: dict[tuple[str, str], dict[str, Any]]) -> None:
    for row in _there(connection, list(rows)):
        key = (row["reader"], row["article_id"])
        rows[key] = both(row, rows[key])
    upsert(connection, VIEWS, [{"reader": reader, "article_id": id, **row} for (reader, id), row in rows.items()], update=LOOKED)


def _there(connection: Connection, keys: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The views of these readers and articles that are stored."""
    if not keys:
        return []
    filled = [*keys, *[keys[-1]] * (AT_ONCE - len(keys))]
    values = {
        f"{name}_{number}": value for number, key in enumerate(filled) for name, value in zip(("reader", "article"), key, strict=True)
    }
    return [dict(row) for row in connection.execute(_of_keys(), values).mappings()]


@cache
def _of_keys() -> Select[Any]:
    """Looks up :data:`AT_ONCE` views by their keys. ``(reader, article_id) IN (…)`` would make SQLite read the whole table."""
    keys = (
        and_(VIEWS.c.reader == bindparam(f"reader_{number}"), VIEWS.c.article_id == bindparam(f"article_{number}"))
        for number in range(AT_ONCE)
    )
    return select(VIEWS).where(or_(*keys))
