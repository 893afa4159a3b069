"""Readers in a SQL database: each method is one transaction; long ones are read in pages, so that a slow reader blocks nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from itertools import groupby, islice
from typing import Any, Final

from sqlalchemy import Connection, Engine, RowMapping, and_, delete, distinct, func, insert, or_, select, tuple_, update

from newsportal.recommend.base import Recommendation, View
from newsportal.storage import readers_rows
from newsportal.storage.paging import chunks
from newsportal.storage.readers import Brought, Fit, Month, Told
from newsportal.storage.readers_rows import added, by_story, offer_rows, reader_name, view_of
from newsportal.storage.sql import readers_months, readers_seen, readers_told
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.reader_tables import FITS, OFFERS, SWITCHED_OFF, VIEWS
from newsportal.storage.sql.tables import ARTICLES

LOOKS: Final = select(VIEWS, ARTICLES.c.story_id).join(ARTICLES, ARTICLES.c.id == VIEWS.c.article_id)


class SqlReaders:
    """The :class:`~newsportal.storage.readers.Readers` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def saw(self, reader: str, article_id: str, places: Collection[int], *, pictures: int, now: datetime) -> bool:
        with write(self._engine) as connection:
            return readers_seen.saw(connection, reader_name(reader), article_id, places, pictures, now)

    def history(self, reader: str, *, limit: int = 500) -> list[View]:
        wanted = LOOKS.where(VIEWS.c.reader == reader_name(reader)).order_by(VIEWS.c.at.desc(), VIEWS.c.article_id).limit(limit)
        with read(self._engine) as connection:
            return by_story(map(_view, connection.execute(wanted).mappings()))

    def forget(self, reader: str, story: str | None = None) -> None:
        with write(self._engine) as connection:
            _forget(connection, reader_name(reader), story)

    def switch(self, reader: str, on: bool, *, now: datetime) -> None:
        name = reader_name(reader)
        with write(self._engine) as connection:
            if on:
                connection.execute(delete(SWITCHED_OFF).where(SWITCHED_OFF.c.reader == name))
            else:
                _forget(connection, name, None)
                upsert(connection, SWITCHED_OFF, [{"reader": name, "since": now}])

    def is_on(self, reader: str) -> bool:
        with read(self._engine) as connection:
            wanted = select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader == reader_name(reader))
            return connection.execute(wanted).first() is None

    def views(self, *, since: datetime | None = None, after: str = "", until: str | None = None) -> Iterator[View]:
        rows = self._looks(since, after, until)
        for _, views in groupby(rows, key=lambda view: view.reader):
            yield from sorted(by_story(views), key=lambda view: view.story)

    def _looks(self, since: datetime | None, after: str, until: str | None) -> Iterator[View]:
        among = [VIEWS.c.reader > after]
        among += [VIEWS.c.at >= since] if since else []
        among += [VIEWS.c.reader <= until] if until is not None else []
        here = and_(*among)
        while True:
            with read(self._engine) as connection:
                wanted = LOOKS.where(here).order_by(VIEWS.c.reader, VIEWS.c.article_id).limit(readers_rows.VIEWS_AT_ONCE)
                page = connection.execute(wanted).mappings().all()
            yield from map(_view, page)
            if len(page) < readers_rows.VIEWS_AT_ONCE:
                return
            last = (page[-1]["reader"], page[-1]["article_id"])
            here = and_(tuple_(VIEWS.c.reader, VIEWS.c.article_id) > last, *among[1:])

    def recent(self, since: datetime, *, limit: int = 50_000) -> list[View]:
        wanted = LOOKS.where(VIEWS.c.at >= since).order_by(VIEWS.c.at.desc(), VIEWS.c.reader, VIEWS.c.article_id).limit(limit)
        with read(self._engine) as connection:
            return by_story(map(_view, connection.execute(wanted).mappings()))

    def stories(self, since: datetime, *, found: datetime | None = None, looked_at: bool = True) -> Iterator[Told]:
        last = ""
        while True:
            with read(self._engine) as connection:
                page = readers_told.recent_page(connection, last, since, found)
            yield from page
            if len(page) < readers_rows.STORIES_AT_ONCE:
                break
            last = page[-1].story
        if looked_at:
            yield from self._older(since)

    def _older(self, since: datetime) -> Iterator[Told]:
        with read(self._engine) as connection:
            articles = readers_told.looked_at(connection)
        told: set[str] = set()
        for chunk in chunks(articles):
            with read(self._engine) as connection:
                page = [one for one in readers_told.older(connection, chunk, since) if one.story not in told]
            told.update(one.story for one in page)
            yield from page

    def parts(self, number: int) -> list[str]:
        with read(self._engine) as connection:
            total = connection.scalar(select(func.count()).select_from(VIEWS)) or 0
            places = [total * cut // number for cut in range(1, number)]
            in_order = select(VIEWS.c.reader).order_by(VIEWS.c.reader, VIEWS.c.article_id)
            found = [connection.scalar(in_order.offset(place).limit(1)) for place in places]
        return sorted({name for name in found if name is not None})

    def counts(self) -> tuple[int, int]:
        with read(self._engine) as connection:
            views, readers = connection.execute(select(func.count(), func.count(distinct(VIEWS.c.reader)))).one()
        return views, readers

    def ages(self, *, hours: int) -> list[int]:
        with read(self._engine) as connection:
            return readers_months.ages(connection, hours)

    def offer(self, reader: str, recommended: Sequence[Recommendation], *, now: datetime) -> None:
        name = reader_name(reader)
        with write(self._engine) as connection:
            if not connection.execute(select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader == name)).first():
                upsert(connection, OFFERS, offer_rows(name, recommended, now))

    def months(self, *, alpha: float) -> list[Month]:
        with read(self._engine) as connection:
            return readers_months.months(connection, alpha)

    def bring(self, views: Iterable[View], *, now: datetime) -> Brought:
        done = Brought(0)
        rest = iter(views)
        while batch := list(islice(rest, readers_rows.WRITTEN_AT_ONCE)):
            pieces = [batch[start : start + readers_seen.AT_ONCE] for start in range(0, len(batch), readers_seen.AT_ONCE)]
            with write(self._engine) as connection:
                done = reduce(added, (readers_seen.bring(connection, piece, now) for piece in pieces), done)
        return done

    def let_go(self, *, alpha: float, now: datetime) -> int:
        with write(self._engine) as connection:
            return readers_months.let_go(connection, alpha, now)

    def save_fit(self, fit: Fit) -> None:
        with write(self._engine) as connection:
            connection.execute(update(FITS).where(FITS.c.packed.is_not(None)).values(packed=None))
            connection.execute(insert(FITS), {"made": fit.made, "facts": dict(fit.facts), "packed": fit.packed})
            numbers = select(FITS.c.number).order_by(FITS.c.number.desc()).offset(readers_rows.FITS_KEPT).limit(1)
            oldest = connection.scalar(numbers)
            if oldest is not None:
                connection.execute(delete(FITS).where(FITS.c.number <= oldest))

    def fit(self, *, newer_than: datetime | None = None) -> Fit | None:
        with read(self._engine) as connection:
            made = connection.execute(select(FITS.c.number, FITS.c.made).order_by(FITS.c.number.desc()).limit(1)).first()
            if made is None or (newer_than is not None and made.made <= newer_than):
                return None
            row = connection.execute(select(FITS.c.made, FITS.c.facts, FITS.c.packed).where(FITS.c.number == made.number)).one()
        return Fit(row.made, row.facts, row.packed or b"")

    def fits(self) -> list[tuple[datetime, Mapping[str, Any]]]:
        with read(self._engine) as connection:
            return [(row.made, row.facts) for row in connection.execute(select(FITS.c.made, FITS.c.facts).order_by(FITS.c.number.desc()))]


def _view(row: RowMapping) -> View:
    return view_of(dict(row))


def _forget(connection: Connection, reader: str, story: str | None) -> None:
    views, offers = delete(VIEWS).where(VIEWS.c.reader == reader), delete(OFFERS).where(OFFERS.c.reader == reader)
    if story is not None:
        now_in = select(ARTICLES.c.story_id).where(ARTICLES.c.id == story).scalar_subquery()
        members = select(ARTICLES.c.id).where(or_(ARTICLES.c.story_id == story, ARTICLES.c.story_id == now_in))
        views = views.where(or_(VIEWS.c.article_id == story, VIEWS.c.article_id.in_(members)))
        offers = offers.where(or_(OFFERS.c.story_id == story, OFFERS.c.story_id.in_(members), OFFERS.c.story_id == now_in))
    connection.execute(views)
    connection.execute(offers)
