"""Writing down what readers look at. Every function runs inside the caller's write transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, Select, and_, bindparam, or_, select, update

from newsportal.items import content_id
from newsportal.recommend.base import View
from newsportal.storage.dialects import upsert
from newsportal.storage.reader_tables import OFFERS, READER_CHARS, SWITCHED_OFF, VIEWS
from newsportal.storage.readers import OPENED_WITHIN, VIEWS_KEPT, Brought
from newsportal.storage.rows import storable
from newsportal.storage.tables import ALIASES, ARTICLES

MOST_PLACES: Final = 2000
"""Pictures of a story that are told apart; further ones count as the last of them."""

AT_ONCE: Final = 200
"""Views that :func:`bring` may be given: one statement asks for all of them, two values each."""

LOOKED: Final = ("seen", "pictures", "places", "first", "at")

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


def reader_name(reader: str) -> str:
    """A reader's name as it is kept."""
    name = storable(reader)
    return name if len(name) <= READER_CHARS else content_id(name)


def saw(connection: Connection, reader: str, article_id: str, places: Collection[int], pictures: int, now: datetime) -> bool:
    """See ``Readers.saw``."""
    found = connection.execute(SITUATION, {"reader": reader, "article": article_id}).mappings().first()
    if found is None or found["off"] is not None:
        return False
    new = _look(bits(places, pictures), pictures, now)
    row = new if found["places"] is None else _both(dict(found), new)
    upsert(connection, VIEWS, [{"reader": reader, "article_id": article_id, **row}], update=LOOKED)
    if found["places"] is None:
        _opened(connection, reader, article_id, found["story_id"], now)
    return True


def bits(places: Collection[int], pictures: int) -> int:
    """The pictures that were seen as the bits of a number; those that a story does not have are left out."""
    if pictures < 1:
        return 1
    return sum(1 << (min(place, MOST_PLACES) - 1) for place in set(places) if 1 <= place <= min(pictures, MOST_PLACES))


def _look(seen: int, pictures: int, now: datetime) -> dict[str, Any]:
    return {"pictures": max(pictures, 1), "first": now, "at": now, **_places(seen)}


def _places(seen: int) -> dict[str, Any]:
    return {"seen": seen.bit_count(), "places": seen.to_bytes((seen.bit_length() + 7) // 8, "little")}


def _both(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Two looks at one story together. Its number of pictures is the later look's, for stories grow."""
    later = max(new, old, key=lambda look: look["at"])
    pictures = later["pictures"]
    seen = int.from_bytes(old["places"], "little") | int.from_bytes(new["places"], "little")
    seen &= (1 << max(pictures, 1)) - 1
    return {"pictures": pictures, "first": min(old["first"], new["first"]), "at": later["at"], **_places(seen)}


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
    recent = [view for view in views if view.at >= now - VIEWS_KEPT]
    articles = _articles(connection, {view.story for view in recent})
    silent = _switched_off(connection, {reader_name(view.reader) for view in recent})
    known = [view for view in recent if view.story in articles]
    wanted = [view for view in known if reader_name(view.reader) not in silent]
    _add(connection, wanted, articles, now)
    return Brought(len(wanted), len(recent) - len(known), len(views) - len(recent), len(known) - len(wanted))


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


def _add(connection: Connection, views: Sequence[View], articles: Mapping[str, str], now: datetime) -> None:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for view in views:
        key = (reader_name(view.reader), articles[view.story])
        seen = (1 << min(max(view.seen, 0), view.pictures, MOST_PLACES)) - 1 if view.pictures > 0 else 1
        look = _look(seen, view.pictures, min(view.at, now))
        rows[key] = _both(rows[key], look) if key in rows else look
    for row in _there(connection, list(rows)):
        key = (row["reader"], row["article_id"])
        rows[key] = _both(row, rows[key])
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
