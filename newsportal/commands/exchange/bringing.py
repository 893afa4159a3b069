"""What files bring, into a store: in batches, each article once, folded as a crawl folds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from newsportal.commands.exchange.form import Incoming, incoming
from newsportal.dedup import title_evidence
from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import Article, FoldKey, Gallery, Thread, content_id
from newsportal.store.columns import storable
from newsportal.store.dialects import chunks
from newsportal.store.store import Store

BATCH: Final = 200
"""Rows that are looked at together, and written in one transaction where that can be."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: what it says, or in a ``ValueError`` why it says nothing. ``line`` counts from 1."""

    file: str
    line: int
    said: Any


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a row. ``stored``, ``folded``, ``revised``, ``same`` as ``Store.add`` says, ``grown`` of a thread or photo story,
    ``older``: the store has a later state of it; or ``failed``, with the ``error``."""

    row: Row
    outcome: str
    id: str | None = None
    error: str | None = None


def bring(rows: Iterable[Row], store: Store, now: datetime) -> Iterator[Fate]:
    """Store the rows in their order. Raises ``StoreUnavailable``: the store is away, and what was told so far is stored."""
    for batch in chunks(rows, BATCH):
        read = list(_newest([(row, _incoming(row, now)) for row in batch]))
        later = _later(store, [one for _, one in read if isinstance(one, Incoming)])
        for plain, group in groupby(read, key=lambda pair: _when(pair[1], later)):
            yield from _written(list(group), plain, store)


def _incoming(row: Row, now: datetime) -> Incoming | Fate:
    try:
        if isinstance(row.said, ValueError):
            return Fate(row, "failed", error=str(row.said))
        return incoming(row.said, now)
    except ValueError as error:
        return Fate(row, "failed", error=str(error))


def _newest(read: Iterable[tuple[Row, Incoming | Fate]]) -> Iterator[tuple[Row, Incoming | Fate]]:
    """The same rows; a state of an article is ``older`` that stands behind a later one, which the store does not have yet."""
    newest: dict[str, datetime] = {}
    for row, one in read:
        if isinstance(one, Fate) or not isinstance(one.item, Article):
            yield row, one
            continue
        name = storable(one.item.identity or "")
        if name in newest and one.item.fetched < newest[name]:
            yield row, Fate(row, "older", content_id(name))
        else:
            newest[name] = one.item.fetched
            yield row, one


def _later(store: Store, items: Sequence[Incoming]) -> set[str]:
    """The identities of articles that the store has in a later state than these."""
    fetched = {one.item.identity: one.item.fetched for one in items if isinstance(one.item, Article) and one.item.identity}
    there = store.articles([content_id(storable(name)) for name in store.known(list(fetched))])
    return {one.identity for one in there if one.identity in fetched and one.fetched > fetched[one.identity]}


def _when(one: Incoming | Fate, later: set[str]) -> datetime | str | int:
    """Articles that were first seen at one moment are written together; all else by itself."""
    if isinstance(one, Fate):
        return "failed"
    if isinstance(one.item, Article):
        return "older" if storable(one.item.identity or "") in later else one.first_seen
    return id(one)


def _written(pairs: Sequence[tuple[Row, Incoming | Fate]], when: datetime | str | int, store: Store) -> Iterator[Fate]:
    if isinstance(when, datetime):
        articles = [(row, one.item) for row, one in pairs if isinstance(one, Incoming) and isinstance(one.item, Article)]
        yield from _articles(articles, store, when)
        return
    for row, one in pairs:
        if isinstance(one, Fate):
            yield one
        elif isinstance(one.item, Article):
            yield Fate(row, "older", content_id(storable(one.item.identity or "")))
        else:
            yield _story(row, one.item, store, one.first_seen)


def _articles(pairs: Sequence[tuple[Row, Article]], store: Store, now: datetime) -> Iterator[Fate]:
    """All in one transaction; if one of them cannot be stored, each by itself."""
    ready: list[tuple[Article, Sequence[FoldKey]]] = [(article, title_evidence.keys(article.title, article.text)) for _, article in pairs]
    try:
        added = store.add_all(ready, now=now)
    except StoreUnavailable:
        raise
    except StoreError as error:
        if len(pairs) == 1:
            yield Fate(pairs[0][0], "failed", error=str(error))
            return
        for pair in pairs:
            yield from _articles([pair], store, now)
        return
    for (row, _), one in zip(pairs, added, strict=True):
        yield Fate(row, one.outcome, one.id)


def _story(row: Row, item: Thread | Gallery, store: Store, now: datetime) -> Fate:
    try:
        saved = store.threads.save(item, now=now) if isinstance(item, Thread) else store.galleries.save(item, now=now)
        return Fate(row, saved.outcome, saved.id)
    except StoreUnavailable:
        raise
    except StoreError as error:
        return Fate(row, "failed", error=str(error))
