"""What readers looked at: the tables, writing it down, and its figures by month, which stay when the views they count are let go.

A reader is a random name in a cookie: no account, no address. A reader who switched the profile off leaves no trace. Articles are looked
at, stories are recommended: ``saw`` names an article, all answers name the story that it is in today. So a story of which a reader saw one
version counts as seen, and two that were folded into one count once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from newsportal.items import content_id
from newsportal.recommend.base import Recommendation, View
from newsportal.store.columns import ID_CHARS, METADATA, Moment, storable
from newsportal.store.dialects import upsert
from newsportal.store.reading import find_stored
from newsportal.store.tables import ARTICLES

VIEWS_KEPT: Final = timedelta(days=365)
"""A view is let go so long after the reader looked at the story last. Chosen: the promise of the portal's page on privacy."""

OFFERS_KEPT: Final = timedelta(days=396)
"""An offer is let go after 13 months, so that a month can be set beside the same one of the year before."""

OPENED_WITHIN: Final = timedelta(hours=24)  # An offer counts as opened if the reader looks at the story for the first time within this time


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of views that were imported: ``unknown`` name no stored article, ``old`` are from before :data:`VIEWS_KEPT`, ``off`` are
    of readers who switched their profile off."""

    taken: int
    unknown: int = 0
    old: int = 0
    off: int = 0


READER_CHARS: Final = 64  # a reader's name is a random one of the portal's, or of another system; a longer one is kept as its hash
MOST_PLACES: Final = 2000  # pictures of a story that are told apart; further ones count as the last of them
LOOKED: Final = ("seen", "pictures", "places", "first", "at")  # the columns of a look at a story
WRITTEN_AT_ONCE: Final = 2000  # imported views of one transaction: about a tenth of a second, in which the portal cannot write


def reader_name(reader: str) -> str:
    """A reader's name as it is kept."""
    name = storable(reader)
    return name if len(name) <= READER_CHARS else content_id(name)


def bits(places: Collection[int], pictures: int) -> int:
    """The pictures that were seen as the bits of a number; those that a story does not have are left out."""
    if pictures < 1:
        return 1
    return sum(1 << (min(place, MOST_PLACES) - 1) for place in set(places) if 1 <= place <= min(pictures, MOST_PLACES))


def look(seen: int, pictures: int, now: datetime) -> dict[str, Any]:
    """The columns :data:`LOOKED` of one look; ``seen`` as :func:`bits` gives it."""
    return {"pictures": max(pictures, 1), "first": now, "at": now, **_places(seen)}


def _places(seen: int) -> dict[str, Any]:
    return {"seen": seen.bit_count(), "places": seen.to_bytes((seen.bit_length() + 7) // 8, "little")}


def both(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Two looks at one story together. Its number of pictures is the later look's, for stories grow."""
    later = max(new, old, key=lambda look: look["at"])
    pictures = later["pictures"]
    seen = int.from_bytes(old["places"], "little") | int.from_bytes(new["places"], "little")
    seen &= (1 << max(pictures, 1)) - 1
    return {"pictures": pictures, "first": min(old["first"], new["first"]), "at": later["at"], **_places(seen)}


def looks(views: Iterable[View], articles: Mapping[str, str], now: datetime) -> dict[tuple[str, str], dict[str, Any]]:
    """(reader, article) → the look that imported views tell of; ``articles``: what ``View.story`` names → the article's id."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for view in views:
        key = (reader_name(view.reader), articles[view.story])
        seen = (1 << min(max(view.seen, 0), view.pictures, MOST_PLACES)) - 1 if view.pictures > 0 else 1
        new = look(seen, view.pictures, min(view.at, now))
        rows[key] = both(rows[key], new) if key in rows else new
    return rows


def view_of(row: Mapping[Any, Any]) -> View:
    """A row of ``views`` with the ``story_id`` of its article."""
    return View(row["reader"], row["story_id"], row["seen"], row["pictures"], row["at"])


def by_story(views: Iterable[View]) -> list[View]:
    """One view a reader and story: of several versions of a story the one that was seen most of, with the last moment."""
    found: dict[tuple[str, str], View] = {}
    for view in views:
        key = (view.reader, view.story)
        other = found.get(key, view)
        most = max(other, view, key=lambda one: (one.seen / one.pictures, one.pictures))
        found[key] = replace(most, at=max(other.at, view.at))
    return list(found.values())


def offer_rows(reader: str, recommended: Iterable[Recommendation], now: datetime) -> list[dict[str, Any]]:
    """The rows of ``offers``; ``reader`` as it is kept."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        {"reader": reader, "story_id": one.story[:ID_CHARS], "day": day, "at": now, "by": one.by[:16], "opened": None}
        for one in recommended
    ]  # fmt: skip


SWITCHED_OFF = sa.Table(
    "readers_off", METADATA, sa.Column("reader", sa.String(READER_CHARS), primary_key=True), sa.Column("since", Moment, nullable=False)
)
"""Readers who want no profile: nothing else is known of them."""

VIEWS = sa.Table(
    "views",
    METADATA,
    sa.Column("reader", sa.String(READER_CHARS), primary_key=True),
    sa.Column("article_id", sa.String(ID_CHARS), sa.ForeignKey("articles.id"), primary_key=True),
    sa.Column("seen", sa.Integer, nullable=False),
    sa.Column("pictures", sa.Integer, nullable=False),
    sa.Column("places", sa.LargeBinary, nullable=False),
    sa.Column("first", Moment, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Index(None, "first", "reader", "seen"),  # all that a month is counted from
    sa.Index(None, "at"),
)
"""``places`` has a bit for each picture (the lowest of the first byte is the first picture's), ``seen`` of them are set; ``first`` and
``at``: when the reader looked at the story first and last."""

OFFERS = sa.Table(
    "offers",
    METADATA,
    sa.Column("reader", sa.String(READER_CHARS), primary_key=True),
    sa.Column("story_id", sa.String(ID_CHARS), primary_key=True),
    sa.Column("day", Moment, primary_key=True),
    sa.Column("at", Moment, nullable=False),
    sa.Column("by", sa.String(16), nullable=False),
    sa.Column("opened", sa.String(ID_CHARS)),
    sa.Index(None, "day"),
)
"""What was recommended, a row a day; ``at``: when first. ``opened``: the article by which the reader opened the story. No foreign keys:
a story goes when it is folded into another."""

AT_ONCE: Final = 200  # views that :func:`bring` may be given: one statement asks for all of them, two values each

SITUATION: Final = (
    sa.select(ARTICLES.c.story_id, SWITCHED_OFF.c.reader.label("off"), VIEWS.c.pictures, VIEWS.c.places, VIEWS.c.first, VIEWS.c.at)
    .select_from(ARTICLES)
    .outerjoin(SWITCHED_OFF, SWITCHED_OFF.c.reader == sa.bindparam("reader"))
    .outerjoin(VIEWS, (VIEWS.c.reader == sa.bindparam("reader")) & (VIEWS.c.article_id == ARTICLES.c.id))
    .where(ARTICLES.c.id == sa.bindparam("article"))
)
"""All that one look needs to know, in one statement."""


def save_look(connection: sa.Connection, reader: str, article_id: str, places: Collection[int], pictures: int, now: datetime) -> bool:
    found = connection.execute(SITUATION, {"reader": reader, "article": article_id}).mappings().first()
    if found is None or found["off"] is not None:
        return False
    new = look(bits(places, pictures), pictures, now)
    row = new if found["places"] is None else both(dict(found), new)
    upsert(connection, VIEWS, [{"reader": reader, "article_id": article_id, **row}], update=LOOKED)
    if found["places"] is None:
        story_id = found["story_id"]
        its = (OFFERS.c.reader == reader) & OFFERS.c.story_id.in_((story_id, article_id)) & OFFERS.c.opened.is_(None)
        wanted = sa.select(OFFERS.c.story_id, OFFERS.c.day).where(its, OFFERS.c.at.between(now - OPENED_WITHIN, now))
        offered = connection.execute(wanted.order_by(OFFERS.c.day.desc()).limit(1)).first()
        if offered is not None:
            this = its & (OFFERS.c.story_id == offered.story_id) & (OFFERS.c.day == offered.day)
            connection.execute(sa.update(OFFERS).where(this).values(opened=article_id))
    return True


def bring(connection: sa.Connection, views: Sequence[View], now: datetime) -> dict[str, int]:
    """See ``Readers.bring``; some of the views. Answers the counts of :class:`Brought`."""
    recent = [view for view in views if view.at >= now - VIEWS_KEPT]
    names = {view.story for view in recent}  # of articles, by id or by an identity
    by_id = connection.scalars(sa.select(ARTICLES.c.id).where(ARTICLES.c.id.in_(names)))
    articles = find_stored(connection, names) | {id: id for id in by_id}
    known = [view for view in recent if view.story in articles]
    readers = {reader_name(view.reader) for view in recent}
    off = set(connection.scalars(sa.select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader.in_(readers))))
    wanted = [view for view in known if reader_name(view.reader) not in off]
    rows = looks(wanted, articles, now)
    for row in _there(connection, list(rows)):
        key = (row["reader"], row["article_id"])
        rows[key] = both(row, rows[key])
    upsert(connection, VIEWS, [{"reader": reader, "article_id": id, **row} for (reader, id), row in rows.items()], update=LOOKED)
    old, unknown = len(views) - len(recent), len(recent) - len(known)
    return {"taken": len(wanted), "unknown": unknown, "old": old, "off": len(known) - len(wanted)}


def _there(connection: sa.Connection, keys: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The views of these readers and articles that are stored."""
    if not keys:
        return []
    filled = [*keys, *[keys[-1]] * (AT_ONCE - len(keys))]
    values = {
        f"{name}_{number}": value for number, key in enumerate(filled) for name, value in zip(("reader", "article"), key, strict=True)
    }
    return [dict(row) for row in connection.execute(_of_keys(), values).mappings()]


@cache
def _of_keys() -> sa.Select[Any]:
    """Looks up :data:`AT_ONCE` views by their keys. ``(reader, article_id) IN (…)`` would make SQLite read the whole table."""
    keys = (
        (VIEWS.c.reader == sa.bindparam(f"reader_{number}")) & (VIEWS.c.article_id == sa.bindparam(f"article_{number}"))
        for number in range(AT_ONCE)
    )
    return sa.select(VIEWS).where(sa.or_(*keys))


@dataclass(frozen=True, slots=True)
class Month:
    """A month of reading (paper C, figures 3 and 4). ``start``: its first moment (UTC).

    ``views`` and ``pictures`` count what was looked at for the first time in it; of ``offered`` recommendations ``opened`` were opened, and
    ``liked`` of those read to the share α or more (formula 4: precision = liked / offered). Where
    most stories are articles α is 1, and what was read whole is liked.
    """

    start: datetime
    views: int
    pictures: int
    readers: int
    offered: int
    opened: int
    liked: int


FIGURES: Final = ("views", "pictures", "readers", "offered", "opened", "liked")  # the columns of a month


def month_of(moment: datetime) -> datetime:
    """The first moment of its month (UTC)."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


MONTHS = sa.Table(
    "reading_months",
    METADATA,
    sa.Column("start", Moment, primary_key=True),
    *(sa.Column(name, sa.Integer, nullable=False) for name in FIGURES),
)
"""Figures of months whose views and offers were let go."""


def months(connection: sa.Connection, alpha: float) -> list[Month]:
    kept = {row["start"]: Month(**row) for row in connection.execute(sa.select(MONTHS)).mappings()}
    counted = {start: _count(connection, start, end, alpha) for start, end in _spans(connection) if start not in kept}
    return [month for _, month in sorted((kept | counted).items())]


def _spans(connection: sa.Connection) -> Iterator[tuple[datetime, datetime]]:
    """The months from the first view or offer to the last, as (start, end)."""
    ends = [
        (connection.scalar(sa.select(sa.func.min(column))), connection.scalar(sa.select(sa.func.max(column))))
        for column in (VIEWS.c.first, OFFERS.c.day)
    ]
    lows, highs = ([end for end in some if end] for some in zip(*ends, strict=True))
    if not lows:
        return
    start, last = month_of(min(lows)), max(highs)
    while start <= last:
        end = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        yield start, end
        start = end


def _count(connection: sa.Connection, start: datetime, end: datetime, alpha: float) -> Month:
    within = _between(VIEWS.c.first, start, end)
    views, pictures, readers = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(VIEWS.c.seen), sa.func.count(sa.distinct(VIEWS.c.reader))).where(within)
    ).one()
    shown = _between(OFFERS.c.day, start, end)
    offered, opened = connection.execute(sa.select(sa.func.count(), sa.func.count(OFFERS.c.opened)).where(shown)).one()
    past = (VIEWS.c.reader == OFFERS.c.reader) & (VIEWS.c.article_id == OFFERS.c.opened) & (VIEWS.c.seen >= alpha * VIEWS.c.pictures)
    liked = connection.scalar(sa.select(sa.func.count()).select_from(OFFERS).join(VIEWS, past).where(shown, OFFERS.c.opened.is_not(None)))
    return Month(start, views, int(pictures or 0), readers, offered, opened, liked or 0)


def _between(column: sa.ColumnElement[datetime], start: datetime, end: datetime) -> sa.ColumnElement[bool]:
    return (column >= start) & (column < end)
