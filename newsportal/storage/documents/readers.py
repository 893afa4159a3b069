"""Readers in a database of documents: each method that writes is one transaction; long answers are read in pages."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby, islice
from time import sleep
from typing import Any, Final

from newsportal.errors import StoreUnavailable
from newsportal.recommend.base import Recommendation, View
from newsportal.storage import readers_rows
from newsportal.storage.documents import pieces, readers_months, readers_seen, readers_told
from newsportal.storage.documents.base import Condition, Documents, Is, Row, Within, moment_in, moment_out
from newsportal.storage.documents.plain import aware, in_pages, plain
from newsportal.storage.documents.room_tables import FITS, OFFERS, SWITCHED_OFF, VIEWS, row_id
from newsportal.storage.documents.tables import as_text
from newsportal.storage.readers import Brought, Fit, Month, Told
from newsportal.storage.readers_rows import added, by_story, offer_rows, reader_name, view_of

FIT_NUMBERS: Final = "fits"
"""The counter of ``fits.number``."""

LATEST: Final = "fit"
"""What the model of the latest fit is called in ``pieces``."""

LOOKS: Final = 40
"""How often a fit that is being written is looked at again: two seconds in all, hundreds of times what it takes."""

LOOK_SECONDS: Final = 0.05

SHOWN: Final = ("reader", "article_id", "seen", "pictures", "at")
"""What is asked of a view."""


class DocumentReaders:
    """The :class:`~newsportal.storage.readers.Readers` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def saw(self, reader: str, article_id: str, places: Collection[int], *, pictures: int, now: datetime) -> bool:
        with self._documents.writing() as transaction:
            return readers_seen.saw(transaction, reader_name(reader), article_id, places, pictures, now)

    def history(self, reader: str, *, limit: int = 500) -> list[View]:
        found = self._documents.find(VIEWS, Is("reader", reader_name(reader)), order=("-at", "article_id"), limit=limit, only=SHOWN)
        return by_story(self._views(found))

    def _views(self, rows: Sequence[Row]) -> Iterator[View]:
        stories = readers_seen.story_ids(self._documents, [row["article_id"] for row in rows])
        for row in rows:
            if row["article_id"] in stories:
                yield view_of({**aware(row, "at"), "story_id": stories[row["article_id"]]})

    def forget(self, reader: str, story: str | None = None) -> None:
        with self._documents.writing() as transaction:
            readers_seen.forget(transaction, reader_name(reader), story)

    def switch(self, reader: str, on: bool, *, now: datetime) -> None:
        name = reader_name(reader)
        with self._documents.writing() as transaction:
            if on:
                transaction.delete(SWITCHED_OFF, [row_id(name)])
                return
            readers_seen.forget(transaction, name, None)
            if not readers_seen.is_off(transaction, name):
                transaction.put(SWITCHED_OFF, {"id": row_id(name), "reader": name, "since": moment_in(now)})

    def is_on(self, reader: str) -> bool:
        return not readers_seen.is_off(self._documents, reader_name(reader))

    def views(self, *, since: datetime | None = None, after: str = "", until: str | None = None) -> Iterator[View]:
        among: list[Condition] = [Within("reader", low=after, above=True)] if after else []
        among += [Within("at", low=moment_in(since))] if since else []
        among += [Within("reader", high=until, upto=True)] if until is not None else []
        pages = in_pages(
            self._documents, VIEWS, *among, order=("reader", "article_id"), size=readers_rows.VIEWS_AT_ONCE, only=SHOWN
        )  # fmt: skip
        rows = (view for page in pages for view in self._views(page))
        for _, views in groupby(rows, key=lambda view: view.reader):
            yield from sorted(by_story(views), key=lambda view: view.story)

    def recent(self, since: datetime, *, limit: int = 50_000) -> list[View]:
        lately = Within("at", low=moment_in(since))
        order = ("-at", "reader", "article_id")
        pages = in_pages(self._documents, VIEWS, lately, order=order, size=readers_rows.VIEWS_AT_ONCE, only=SHOWN)
        rows = list(islice((row for page in pages for row in page), limit))
        return by_story(view for start in range(0, len(rows), 1000) for view in self._views(rows[start : start + 1000]))

    def stories(self, since: datetime, *, found: datetime | None = None, looked_at: bool = True) -> Iterator[Told]:
        yield from readers_told.since(self._documents, since, found)
        if looked_at:
            yield from readers_told.older(self._documents, since)

    def parts(self, number: int) -> list[str]:
        views = sorted(self._documents.count_by(VIEWS, "reader").items())
        total, passed, cuts = sum(count for _, count in views), 0, set()
        places = iter([total * cut // number for cut in range(1, number)])
        place = next(places, None)
        for reader, count in views:
            passed += count
            while place is not None and place < passed:
                cuts.add(reader)
                place = next(places, None)
        return sorted(cuts)

    def counts(self) -> tuple[int, int]:
        return self._documents.count(VIEWS), len(self._documents.count_by(VIEWS, "reader"))

    def ages(self, *, hours: int) -> list[int]:
        return readers_months.ages(self._documents, hours)

    def offer(self, reader: str, recommended: Sequence[Recommendation], *, now: datetime) -> None:
        name = reader_name(reader)
        offers = map(plain, offer_rows(name, recommended, now))
        rows = {row_id(name, row["story_id"], row["day"]): row for row in offers}
        with self._documents.writing() as transaction:
            if rows and not readers_seen.is_off(transaction, name):
                there = transaction.get(OFFERS, list(rows), only=("id",))
                for id, row in rows.items():
                    if id not in there:
                        transaction.put(OFFERS, {"id": id, **row})

    def months(self, *, alpha: float) -> list[Month]:
        with self._documents.together():
            return readers_months.months(self._documents, alpha)

    def bring(self, views: Iterable[View], *, now: datetime) -> Brought:
        done = Brought(0)
        rest = iter(views)
        while batch := list(islice(rest, readers_rows.WRITTEN_AT_ONCE)):
            with self._documents.writing() as transaction:
                brought = readers_seen.bring(transaction, batch, now)
            done = added(done, brought)
        return done

    def let_go(self, *, alpha: float, now: datetime) -> int:
        return readers_months.let_go(self._documents, alpha, now)

    def save_fit(self, fit: Fit) -> None:
        with self._documents.writing() as transaction:
            number = transaction.next(FIT_NUMBERS)
            row = {"number": number, "made": moment_in(fit.made), "facts": as_text(fit.facts), "digest": _digest(fit.packed)}
            transaction.put(FITS, {"id": row_id(number), **row})
            pieces.put(transaction, LATEST, fit.packed)
            old = transaction.find(FITS, Within("number", high=number - readers_rows.FITS_KEPT, upto=True), only=("id",))
            transaction.delete(FITS, [one["id"] for one in old])

    def fit(self, *, newer_than: datetime | None = None) -> Fit | None:
        for _ in range(LOOKS):
            latest = self._documents.find(FITS, order=("-number",), limit=1)
            made = moment_out(latest[0]["made"]) if latest else None
            if made is None or (newer_than is not None and made <= newer_than):
                return None
            packed = pieces.get(self._documents, LATEST)
            digest = latest[0].get("digest")  # a row that was brought from another store has none
            if digest is None or (packed is not None and digest == _digest(packed)):
                return Fit(made, json.loads(latest[0]["facts"]), packed or b"")
            sleep(LOOK_SECONDS)  # it is being written: the row may be there before the pieces
        raise StoreUnavailable(
            f"{self._documents.place}: the latest fit is not whole yet; try again, or fit anew: newsportal recommend fit"
        )

    def fits(self) -> list[tuple[datetime, Mapping[str, Any]]]:
        rows = self._documents.find(FITS, order=("-number",))
        return [(aware(row, "made")["made"], json.loads(row["facts"])) for row in rows]


def _digest(packed: bytes) -> str:
    return sha256(packed).hexdigest()
