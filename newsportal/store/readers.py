"""Readers' views, recommendations made to them, and the models fitted to both; long results are read in pages."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Column, Connection, Select, Table, delete, func, insert, or_, select, tuple_, update

from newsportal.recommend.base import Recommendation, View
from newsportal.store import reader_views
from newsportal.store.columns import LONG_BINARY, METADATA, SEQUENCE, Moment
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.reader_views import (
    FIGURES,
    MONTHS,
    OFFERS,
    SWITCHED_OFF,
    VIEWS,
    ImportedViews,
    Month,
    by_story,
    month_of,
    months,
    offer_rows,
    reader_name,
    view_of,
)
from newsportal.store.tables import ARTICLES, LABELS, STORIES

FITS_KEPT: Final = 400  # fits whose figures are kept (more than a year of nights); the model is only kept of the latest


@dataclass(frozen=True, slots=True)
class Fit:
    """Result of a fit: ``model`` is packed, ``facts`` its figures (α, λ, numbers of views and stories, seconds, author)."""

    created: datetime
    facts: Mapping[str, Any]
    model: bytes


@dataclass(frozen=True, slots=True)
class StoryOffer:
    """Input of recommendation: a story, by its head. ``text``: its beginning; ``labels``: ``topic:…``, ``category:…``, ``source:…``."""

    story: str
    published: datetime
    title: str
    text: str
    labels: tuple[str, ...]


VIEWS_AT_ONCE: Final = 5000
STORIES_AT_ONCE: Final = 1000  # rows read at once
BEGINNING: Final = 300  # characters of a text given to recommendation, enough for its first sentence
KINDS: Final = ("topic", "category", "source")  # labels of a story given to recommendation, in order

FITS = Table(
    "recommendation_models",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("created", Moment, nullable=False, index=True),
    Column("facts", JSON, nullable=False),
    Column("model", LONG_BINARY),
    sqlite_autoincrement=True,
)
"""``model`` is NULL except for the latest fit."""

LOOKS: Final = select(VIEWS, ARTICLES.c.story_id).join(ARTICLES, ARTICLES.c.id == VIEWS.c.article_id)


class Readers(Part):
    def record_view(self, reader: str, article_id: str, places: Collection[int], *, pictures: int, now: datetime) -> bool:
        """Record that the reader saw these pictures (from 1) of a story, in addition to earlier ones. An article without pictures
        (``pictures`` 0) counts as one with one.

        Return whether it was recorded: not for a reader whose profile is off, nor for an unknown article.
        """
        with self._write() as connection:
            return reader_views.save_view(connection, reader_name(reader), article_id, places, pictures, now)

    def history(self, reader: str, *, limit: int = 500) -> list[View]:
        """Return the stories that a reader viewed, latest first."""
        query = LOOKS.where(VIEWS.c.reader == reader_name(reader)).order_by(VIEWS.c.last_viewed.desc(), VIEWS.c.article_id).limit(limit)
        return by_story(map(view_of, self._mappings(query)))

    def forget(self, reader: str, story: str | None = None) -> None:
        """Delete a reader's views and recommendations, or those of one story (given by its id or an article's)."""
        with self._write() as connection:
            _forget(connection, reader_name(reader), story)

    def set_recording(self, reader: str, on: bool, *, now: datetime) -> None:
        """Switch a reader's profile off (its data are deleted) or on again."""
        name = reader_name(reader)
        with self._write() as connection:
            if on:
                connection.execute(delete(SWITCHED_OFF).where(SWITCHED_OFF.c.reader == name))
            else:
                _forget(connection, name, None)
                upsert(connection, SWITCHED_OFF, [{"reader": name, "since": now}])

    def views(self, *, since: datetime | None = None, after: str = "", until: str | None = None) -> Iterator[View]:
        """Yield all views, streamed, by reader and story. ``after`` and ``until``: only readers whose names are greater than ``after``, up
        to ``until`` (see ``split_readers``)."""
        conditions = [VIEWS.c.last_viewed >= since] if since else []
        conditions += [VIEWS.c.reader <= until] if until is not None else []
        key = tuple_(VIEWS.c.reader, VIEWS.c.article_id)
        query = LOOKS.where(*conditions).order_by(VIEWS.c.reader, VIEWS.c.article_id).limit(VIEWS_AT_ONCE)

        def read(connection: Connection, last: tuple[str, str] | None) -> Sequence[Any]:
            return connection.execute(query.where(VIEWS.c.reader > after if last is None else key > last)).mappings().all()

        rows = self._pages(read, lambda row: (row["reader"], row["article_id"]), None)
        for _, views in groupby(map(view_of, rows), key=lambda view: view.reader):
            yield from sorted(by_story(views), key=lambda view: view.story)

    def recent(self, since: datetime, *, limit: int = 50_000) -> list[View]:
        """Return views since a time, latest first: those that the latest fit does not include."""
        query = LOOKS.where(VIEWS.c.last_viewed >= since).order_by(VIEWS.c.last_viewed.desc(), VIEWS.c.reader, VIEWS.c.article_id)
        return by_story(map(view_of, self._mappings(query.limit(limit))))

    def stories(self, since: datetime, *, found: datetime | None = None, looked_at: bool = True) -> Iterator[StoryOffer]:
        """Yield stories from ``since`` on, streamed, as candidates for recommendation. ``found``: only those stored at that time or later.
        ``looked_at``: also older ones with views."""
        conditions = [STORIES.c.first_seen >= found] if found is not None else []
        query = HEADS.where(STORIES.c.moment >= since, *conditions).order_by(STORIES.c.id).limit(STORIES_AT_ONCE)
        yield from self._pages(
            lambda connection, last: _read_offers(connection, query.where(STORIES.c.id > last)), lambda offer: offer.story, ""
        )
        articles = select(VIEWS.c.article_id).distinct().order_by(VIEWS.c.article_id)
        yielded: set[str] = set()
        for chunk in chunks(self._scalars(articles) if looked_at else ()):
            viewed = STORIES.c.id.in_(select(ARTICLES.c.story_id).where(ARTICLES.c.id.in_(chunk)))
            older = HEADS.where(viewed, STORIES.c.moment < since).order_by(STORIES.c.id)
            with self._read() as connection:
                page = [offer for offer in _read_offers(connection, older) if offer.story not in yielded]
            yielded.update(offer.story for offer in page)
            yield from page

    def split_readers(self, number: int) -> list[str]:
        """Return names that split all readers into at most ``number`` parts with about equally many views; the last part is open."""
        with self._read() as connection:
            total = connection.scalar(select(func.count()).select_from(VIEWS)) or 0
            places = [total * cut // number for cut in range(1, number)]
            in_order = select(VIEWS.c.reader).order_by(VIEWS.c.reader, VIEWS.c.article_id)
            found = [connection.scalar(in_order.offset(place).limit(1)) for place in places]
        return sorted({name for name in found if name is not None})

    def counts(self) -> tuple[int, int]:
        ((views, readers),) = self._rows(select(func.count(), func.count(VIEWS.c.reader.distinct())))
        return views, readers

    def ages(self, *, hours: int) -> list[int]:
        """Return how many stories were first viewed in each of the first hours after their publication."""
        age = VIEWS.c.first_viewed.cast(BigInteger) - ARTICLES.c.moment.cast(BigInteger)
        hour = (age // HOUR).label("hour")
        query = select(hour, func.count()).join(ARTICLES, ARTICLES.c.id == VIEWS.c.article_id)
        rows = self._rows(query.where(age >= 0, age < hours * HOUR).group_by(hour))
        found = {int(number): views for number, views in rows}
        return [found.get(number, 0) for number in range(hours)]

    def record_offer(self, reader: str, recommended: Sequence[Recommendation], *, now: datetime) -> None:
        """Record recommendations shown to the reader. A story counts once per day."""
        name = reader_name(reader)
        with self._write() as connection:
            if not connection.execute(select(SWITCHED_OFF.c.reader).where(SWITCHED_OFF.c.reader == name)).first():
                upsert(connection, OFFERS, offer_rows(name, recommended, now))

    def months(self, *, alpha: float) -> list[Month]:
        """Return figures by month, earliest first."""
        with self._read() as connection:
            return months(connection, alpha)

    def import_views(self, views: Iterable[View], *, now: datetime) -> ImportedViews:
        """Import views from elsewhere; ``View.story`` is an article's id or one of its identities. Idempotent. Uses small transactions, so
        that readers do not wait."""
        counts = Counter(taken=0)
        for batch in chunks(views, reader_views.IMPORT_BATCH):
            with self._write() as connection:
                for chunk in chunks(batch, reader_views.AT_ONCE):
                    counts.update(reader_views.insert_views(connection, chunk, now))
        return ImportedViews(**counts)

    def count_outdated(self, before: datetime) -> int:
        return self._scalar(select(func.count()).select_from(VIEWS).where(VIEWS.c.last_viewed < before)) or 0

    def prune_views(self, *, alpha: float, now: datetime, keep: timedelta = reader_views.VIEWS_KEPT, closing: bool = False) -> int:
        """Delete views and offers older than promised, keeping the figures of their months. Return the number of deleted rows.

        ``closing``: store the figures of all past months now, because articles with views will be deleted next.
        """
        with self._write() as connection:
            oldest = now - keep
            ending = [month for month in months(connection, alpha) if month.start < (month_of(now) if closing else oldest)]
            upsert(connection, MONTHS, [{"start": month.start, **{name: getattr(month, name) for name in FIGURES}} for month in ending])
            views = connection.execute(delete(VIEWS).where(VIEWS.c.last_viewed < oldest)).rowcount
            return views + connection.execute(delete(OFFERS).where(OFFERS.c.day < now - reader_views.OFFERS_KEPT)).rowcount

    def save_fit(self, fit: Fit) -> None:
        """Store a fit in place of the previous one."""
        with self._write() as connection:
            connection.execute(update(FITS).where(FITS.c.model.is_not(None)).values(model=None))
            connection.execute(insert(FITS), {"created": fit.created, "facts": dict(fit.facts), "model": fit.model})
            numbers = select(FITS.c.number).order_by(FITS.c.number.desc()).offset(FITS_KEPT).limit(1)
            oldest = connection.scalar(numbers)
            if oldest is not None:
                connection.execute(delete(FITS).where(FITS.c.number <= oldest))

    def fit(self, *, newer_than: datetime | None = None) -> Fit | None:
        """Return the latest fit, if it was made after ``newer_than``; cheap enough for polling."""
        with self._read() as connection:
            latest = connection.execute(select(FITS.c.number, FITS.c.created).order_by(FITS.c.number.desc()).limit(1)).first()
            if latest is None or (newer_than is not None and latest.created <= newer_than):
                return None
            row = connection.execute(select(FITS.c.created, FITS.c.facts, FITS.c.model).where(FITS.c.number == latest.number)).one()
        return Fit(row.created, row.facts, row.model or b"")

    def fits(self) -> list[tuple[datetime, Mapping[str, Any]]]:
        return [(row.created, row.facts) for row in self._rows(select(FITS.c.created, FITS.c.facts).order_by(FITS.c.number.desc()))]


def _forget(connection: Connection, reader: str, story: str | None) -> None:
    views, offers = delete(VIEWS).where(VIEWS.c.reader == reader), delete(OFFERS).where(OFFERS.c.reader == reader)
    if story is not None:
        current_story = select(ARTICLES.c.story_id).where(ARTICLES.c.id == story).scalar_subquery()
        members = select(ARTICLES.c.id).where(or_(ARTICLES.c.story_id == story, ARTICLES.c.story_id == current_story))
        views = views.where(or_(VIEWS.c.article_id == story, VIEWS.c.article_id.in_(members)))
        offers = offers.where(or_(OFFERS.c.story_id == story, OFFERS.c.story_id.in_(members), OFFERS.c.story_id == current_story))
    connection.execute(views)
    connection.execute(offers)


HOUR: Final = 3_600_000_000  # in microseconds

HEADS: Final = select(
    STORIES.c.id, STORIES.c.moment, ARTICLES.c.title, func.substr(ARTICLES.c.text, 1, BEGINNING).label("beginning")
).join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(STORIES.c.count > 0)  # fmt: skip


def _read_offers(connection: Connection, query: Select[Any]) -> list[StoryOffer]:
    rows = connection.execute(query).all()
    labels = defaultdict[str, list[tuple[int, str]]](list)  # by kind and value
    label_query = select(LABELS.c.story_id, LABELS.c.kind, LABELS.c.value).where(LABELS.c.kind.in_(KINDS))
    for label in select_in(connection, label_query, LABELS.c.story_id, [row.id for row in rows]):
        labels[label["story_id"]].append((KINDS.index(label["kind"]), label["value"]))
    story_labels = {id: tuple(f"{KINDS[kind]}:{value}" for kind, value in sorted(found)) for id, found in labels.items()}
    return [StoryOffer(row.id, row.moment, row.title, row.beginning, story_labels.get(row.id, ())) for row in rows]
