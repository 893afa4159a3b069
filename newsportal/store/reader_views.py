"""Views of readers: tables, recording, and figures by month, which are kept when the views themselves are deleted.

A reader is a random name in a cookie, without account or IP address. Nothing is recorded of readers who switched the profile off. Views
refer to articles, recommendations to stories: ``saw`` takes an article, all results give the story it is in today. So a story counts as
seen after one of its versions was, and two stories folded into one count once.
"""

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
"""How long a view is kept after the reader last opened the story. Chosen: the promise of the portal's privacy page."""

OFFERS_KEPT: Final = timedelta(days=396)
"""How long an offer is kept: 13 months, so that a month can be compared with the same one of the previous year."""

OPENED_WITHIN: Final = timedelta(hours=24)  # an offer counts as opened if the reader first opens the story within this time


@dataclass(frozen=True, slots=True)
class ImportedViews:
    """Result of importing views. ``unknown``: views of articles that are not in the store; ``old``: views older than :data:`VIEWS_KEPT`;
    ``off``: views of readers who switched their profile off."""

    taken: int
    unknown: int = 0
    old: int = 0
    off: int = 0


READER_CHARS: Final = 64  # a reader's name is a random one of the portal, or of another system; a longer one is stored as its hash
MAX_PICTURES: Final = 2000  # pictures of a story that are distinguished; further ones count as the last
VIEW_COLUMNS: Final = ("pictures_seen", "pictures", "seen_bitmap", "first_viewed", "last_viewed")  # columns of a view
IMPORT_BATCH: Final = 2000  # imported views per transaction: about a tenth of a second, in which the portal cannot write


def reader_name(reader: str) -> str:
    name = storable(reader)
    return name if len(name) <= READER_CHARS else content_id(name)


def bits(places: Collection[int], pictures: int) -> int:
    """Return the pictures seen as the bits of a number; numbers that the story does not have are ignored."""
    if pictures < 1:
        return 1
    return sum(1 << (min(place, MAX_PICTURES) - 1) for place in set(places) if 1 <= place <= min(pictures, MAX_PICTURES))


def view_columns(seen: int, pictures: int, now: datetime) -> dict[str, Any]:
    """Return the columns :data:`VIEW_COLUMNS` of one view; ``seen`` is a result of :func:`bits`."""
    return {"pictures": max(pictures, 1), "first_viewed": now, "last_viewed": now, **_places(seen)}


def _places(seen: int) -> dict[str, Any]:
    return {"pictures_seen": seen.bit_count(), "seen_bitmap": seen.to_bytes((seen.bit_length() + 7) // 8, "little")}


def merge_views(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two views of one story. The later one determines the number of pictures, because stories grow."""
    later = max(new, old, key=lambda view: view["last_viewed"])
    pictures = later["pictures"]
    seen = int.from_bytes(old["seen_bitmap"], "little") | int.from_bytes(new["seen_bitmap"], "little")
    seen &= (1 << max(pictures, 1)) - 1
    first = min(old["first_viewed"], new["first_viewed"])
    return {"pictures": pictures, "first_viewed": first, "last_viewed": later["last_viewed"], **_places(seen)}


def view_rows(views: Iterable[View], articles: Mapping[str, str], now: datetime) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (reader, article) → columns of imported views; ``articles``: ``View.story`` → the article's id."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for view in views:
        key = (reader_name(view.reader), articles[view.story])
        seen = (1 << min(max(view.seen, 0), view.pictures, MAX_PICTURES)) - 1 if view.pictures > 0 else 1
        new = view_columns(seen, view.pictures, min(view.at, now))
        rows[key] = merge_views(rows[key], new) if key in rows else new
    return rows


def view_of(row: Mapping[Any, Any]) -> View:
    """Build a view from a row of ``views`` with the ``story_id`` of its article."""
    return View(row["reader"], row["story_id"], row["pictures_seen"], row["pictures"], row["last_viewed"])


def by_story(views: Iterable[View]) -> list[View]:
    """Return one view per reader and story: the most complete one of its versions, with the latest time."""
    found: dict[tuple[str, str], View] = {}
    for view in views:
        key = (view.reader, view.story)
        other = found.get(key, view)
        most = max(other, view, key=lambda view: (view.seen / view.pictures, view.pictures))
        found[key] = replace(most, at=max(other.at, view.at))
    return list(found.values())


def offer_rows(reader: str, recommended: Iterable[Recommendation], now: datetime) -> list[dict[str, Any]]:
    """Return the rows of ``offers``; ``reader`` as stored."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        {"reader": reader, "story_id": offer.story[:ID_CHARS], "day": day, "at": now, "method": offer.by[:16], "opened_article_id": None}
        for offer in recommended
    ]  # fmt: skip


SWITCHED_OFF = sa.Table(
    "opted_out_readers",
    METADATA,
    sa.Column("reader", sa.String(READER_CHARS), primary_key=True),
    sa.Column("since", Moment, nullable=False),
)
"""Readers who switched their profile off; no other data of them is stored."""

VIEWS = sa.Table(
    "views",
    METADATA,
    sa.Column("reader", sa.String(READER_CHARS), primary_key=True),
    sa.Column("article_id", sa.String(ID_CHARS), sa.ForeignKey("articles.id"), primary_key=True),
    sa.Column("pictures_seen", sa.Integer, nullable=False),
    sa.Column("pictures", sa.Integer, nullable=False),
    sa.Column("seen_bitmap", sa.LargeBinary, nullable=False),
    sa.Column("first_viewed", Moment, nullable=False),
    sa.Column("last_viewed", Moment, nullable=False),
    sa.Index(None, "first_viewed", "reader", "pictures_seen"),  # covers the queries that count a month
    sa.Index(None, "last_viewed"),
)
"""``seen_bitmap``: one bit per picture (the lowest bit of the first byte is the first picture), ``pictures_seen`` of them set;
``first_viewed`` and ``last_viewed``: when the reader opened the story."""

OFFERS = sa.Table(
    "recommendations",
    METADATA,
    sa.Column("reader", sa.String(READER_CHARS), primary_key=True),
    sa.Column("story_id", sa.String(ID_CHARS), primary_key=True),
    sa.Column("day", Moment, primary_key=True),
    sa.Column("at", Moment, nullable=False),
    sa.Column("method", sa.String(16), nullable=False),
    sa.Column("opened_article_id", sa.String(ID_CHARS)),
    sa.Index(None, "day"),
)
"""Recommendations, one row per day; ``at``: first time. ``opened_article_id``: by which the reader opened the story. No foreign keys:
a story disappears when it is folded into another."""

AT_ONCE: Final = 200  # maximum number of views given to :func:`insert_views`: one statement looks up all of them, two values each

SITUATION: Final = (
    sa.select(ARTICLES.c.story_id, SWITCHED_OFF.c.reader.label("off"), *(VIEWS.c[name] for name in VIEW_COLUMNS[1:]))
    .select_from(ARTICLES)
    .outerjoin(SWITCHED_OFF, SWITCHED_OFF.c.reader == sa.bindparam("reader"))
    .outerjoin(VIEWS, (VIEWS.c.reader == sa.bindparam("reader")) & (VIEWS.c.article_id == ARTICLES.c.id))
    .where(ARTICLES.c.id == sa.bindparam("article"))
)
"""Reads all that recording one view needs, in one statement."""


def save_view(connection: sa.Connection, reader: str, article_id: str, places: Collection[int], pictures: int, now: datetime) -> bool:
    found = connection.execute(SITUATION, {"reader": reader, "article": article_id}).mappings().first()
    if found is None or found["off"] is not None:
        return False
    new = view_columns(bits(places, pictures), pictures, now)
    row = new if found["seen_bitmap"] is None else merge_views(dict(found), new)
    upsert(connection, VIEWS, [{"reader": reader, "article_id": article_id, **row}], update=VIEW_COLUMNS)
    if found["seen_bitmap"] is None:
        story_id = found["story_id"]
        unopened = (OFFERS.c.reader == reader) & OFFERS.c.story_id.in_((story_id, article_id)) & OFFERS.c.opened_article_id.is_(None)
        query = sa.select(OFFERS.c.story_id, OFFERS.c.day).where(unopened, OFFERS.c.at.between(now - OPENED_WITHIN, now))
        offered = connection.execute(query.order_by(OFFERS.c.day.desc()).limit(1)).first()
        if offered is not None:
            condition = unopened & (OFFERS.c.story_id == offered.story_id) & (OFFERS.c.day == offered.day)
            connection.execute(sa.update(OFFERS).where(condition).values(opened_article_id=article_id))
    return True


def insert_views(connection: sa.Connection, views: Sequence[View], now: datetime) -> dict[str, int]:
    """Import some of the views (``Readers.import_views``). Return the counts of :class:`ImportedViews`."""
    recent = [view for view in views if view.at >= now - VIEWS_KEPT]
    names = {view.story for view in recent}  # of articles, by id or by identity
    by_id = connection.scalars(sa.select(ARTICLES.c.id).where(ARTICLES.c.id.in_(names)))
    articles = find_stored(connection, names) | {id: id for id in by_id}
    stored = [view for view in recent if view.story in articles]
    readers = {reader_name(view.reader) for view in recent}
    off = set(connection.scalars(sa.select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader.in_(readers))))
    imported = [view for view in stored if reader_name(view.reader) not in off]
    rows = view_rows(imported, articles, now)
    for row in _stored_views(connection, list(rows)):
        key = (row["reader"], row["article_id"])
        rows[key] = merge_views(row, rows[key])
    upsert(connection, VIEWS, [{"reader": reader, "article_id": id, **row} for (reader, id), row in rows.items()], update=VIEW_COLUMNS)
    old, unknown = len(views) - len(recent), len(recent) - len(stored)
    return {"taken": len(imported), "unknown": unknown, "old": old, "off": len(stored) - len(imported)}


def _stored_views(connection: sa.Connection, keys: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    if not keys:
        return []
    filled = [*keys, *[keys[-1]] * (AT_ONCE - len(keys))]
    values = {
        f"{name}_{number}": value for number, key in enumerate(filled) for name, value in zip(("reader", "article"), key, strict=True)
    }
    return [dict(row) for row in connection.execute(_views_by_key(), values).mappings()]


@cache
def _views_by_key() -> sa.Select[Any]:
    """Return a query for :data:`AT_ONCE` views by key. With ``(reader, article_id) IN (…)`` SQLite would scan the table."""
    keys = (
        (VIEWS.c.reader == sa.bindparam(f"reader_{number}")) & (VIEWS.c.article_id == sa.bindparam(f"article_{number}"))
        for number in range(AT_ONCE)
    )
    return sa.select(VIEWS).where(sa.or_(*keys))


@dataclass(frozen=True, slots=True)
class Month:
    """Figures of a month of reading (paper C, figures 3 and 4). ``start``: its beginning (UTC).

    ``views`` and ``pictures`` count those seen for the first time; of ``offered`` recommendations ``opened`` were opened, and ``liked`` of
    those read to the share α or more (formula 4: precision = liked / offered). For articles α is 1: read completely is liked.
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
    """Return the beginning of the month (UTC)."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


MONTHS = sa.Table(
    "reading_months",
    METADATA,
    sa.Column("start", Moment, primary_key=True),
    *(sa.Column(name, sa.Integer, nullable=False) for name in FIGURES),
)
"""Figures of months whose views and offers were deleted."""


def months(connection: sa.Connection, alpha: float) -> list[Month]:
    stored = {row["start"]: Month(**row) for row in connection.execute(sa.select(MONTHS)).mappings()}
    counted = {start: _count(connection, start, end, alpha) for start, end in _spans(connection) if start not in stored}
    return [month for _, month in sorted((stored | counted).items())]


def _spans(connection: sa.Connection) -> Iterator[tuple[datetime, datetime]]:
    """Yield the months from the first view or offer to the last, as (start, end)."""
    ends = [
        (connection.scalar(sa.select(sa.func.min(column))), connection.scalar(sa.select(sa.func.max(column))))
        for column in (VIEWS.c.first_viewed, OFFERS.c.day)
    ]
    lows, highs = ([end for end in bounds if end] for bounds in zip(*ends, strict=True))
    if not lows:
        return
    start, last = month_of(min(lows)), max(highs)
    while start <= last:
        end = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        yield start, end
        start = end


def _count(connection: sa.Connection, start: datetime, end: datetime, alpha: float) -> Month:
    within = _between(VIEWS.c.first_viewed, start, end)
    views, pictures, readers = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(VIEWS.c.pictures_seen), sa.func.count(sa.distinct(VIEWS.c.reader))).where(within)
    ).one()
    month = _between(OFFERS.c.day, start, end)
    offered, opened = connection.execute(sa.select(sa.func.count(), sa.func.count(OFFERS.c.opened_article_id)).where(month)).one()
    view, opened_id = VIEWS.c, OFFERS.c.opened_article_id
    read = (view.reader == OFFERS.c.reader) & (view.article_id == opened_id) & (view.pictures_seen >= alpha * view.pictures)
    liked = connection.scalar(sa.select(sa.func.count()).select_from(OFFERS).join(VIEWS, read).where(month, opened_id.is_not(None)))
    return Month(start, views, int(pictures or 0), readers, offered, opened, liked or 0)


def _between(column: sa.ColumnElement[datetime], start: datetime, end: datetime) -> sa.ColumnElement[bool]:
    return (column >= start) & (column < end)
