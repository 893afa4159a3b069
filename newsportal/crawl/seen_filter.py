"""Bloom filters of the identities of stored articles, queried before the store: one per process, saved in a file, or one in Redis for all.

A filter may lag behind the store; this costs at most a second fetch. Identities missing from the filter are fetched; identities found in
it are verified in the store. Each filter records the change of the store up to which it is complete, so a start reads only later changes.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from newsportal.crawl.redis_connection import connect, faults, is_configured, masked_url
from newsportal.dedup.bloom import ERROR_RATE, INITIAL_CAPACITY, FillLevel, FilterUnusable, UrlBloom, pack, unpack
from newsportal.dedup.bloom_redis import KEY, FilterMissing, RedisBloom
from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.sources.editing import replace_file

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.sources import Sources
    from newsportal.store.store import Store

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

CATCH_UP = 30.0  # seconds between reads of identities that other processes stored; an article fetched twice meanwhile is stored once
RETRY_SECONDS = 5.0  # seconds without calls after Redis failed to answer, so that a crawl does not wait for it at every list page


class StoredUrls(ABC):
    """Identities stored in ``store``. They are entered only after their articles are stored: a crash costs a second fetch, never an
    article. Blocking, thread-safe; raises ``StoreError``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find_stored(self, identities: Collection[str]) -> set[str]:
        candidates = self.candidates(identities)
        return self._store.find_stored(candidates) if candidates else set()

    def add_aliases(self, names: Iterable[str], known: str) -> None:
        """Record ``names`` as further identities of the article stored as ``known``. Raises ``StoreError`` if there is no such article."""
        others = set(names) - {known}
        if others:
            self._store.add_aliases(others, known)
        self.add({known, *others})

    @abstractmethod
    def candidates(self, identities: Collection[str]) -> set[str]:
        """Return the identities that may be stored and have to be verified in the store; all others are unknown."""

    @abstractmethod
    def add(self, identities: Collection[str]) -> None:
        """Enter identities that have just been stored."""

    @abstractmethod
    def save(self) -> None:
        """Save the filter at the end of a crawl."""


class LocalFilter(StoredUrls):
    """A filter of this process, loaded from ``file`` (if any) and completed from the store."""

    def __init__(self, store: Store, file: Path | None = None, *, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        super().__init__(store)
        self._file = file
        self._bloom, self._position = load(file, capacity, error_rate)
        if self._position > store.last_seq():
            logger.warning("%s belongs to another store or to a later state of this one: refilled from the store", file)
            self._bloom, self._position = UrlBloom(capacity=capacity, error_rate=error_rate), 0
        self._lock = Lock()
        self._caught_up_at = 0.0
        self._catch_up()

    def candidates(self, identities: Collection[str]) -> set[str]:
        if monotonic() - self._caught_up_at > CATCH_UP:
            self._catch_up()
        return self._bloom.candidates(identities)

    def add(self, identities: Collection[str]) -> None:
        self._bloom.add(identities)

    def save(self) -> None:
        """Write the file atomically."""
        if self._file is None:
            return
        try:
            self._catch_up()
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._file, pack(self._bloom, self._position))
        except (OSError, StoreError) as error:
            logger.warning(
                "%s: the filter of known URLs could not be written; the next start refills it from the store: %s", self._file, error
            )

    def _catch_up(self) -> None:
        """Enter what was stored since the last call. The position is read first: identities stored meanwhile are entered twice."""
        with self._lock:
            position = self._store.last_seq()
            self._bloom.add(self._store.identities(after=self._position))
            self._position, self._caught_up_at = position, monotonic()


def load(file: Path | None, capacity: int, error_rate: float) -> tuple[UrlBloom, int]:
    """Return the filter in ``file`` and its position; an empty filter at position 0 if the file is missing or unusable."""
    if file is not None:
        try:
            return unpack(file.read_bytes(), capacity, error_rate)
        except FileNotFoundError:
            pass
        except (OSError, FilterUnusable) as error:
            logger.warning("%s is not used: %s. The filter of known URLs is refilled from the store", file, error)
    return UrlBloom(capacity=capacity, error_rate=error_rate), 0


class RedisFilter(StoredUrls):
    """A filter in Redis; the store is asked while Redis is unreachable. ``faults``: the errors of the Redis client; ``where``: its URL."""

    def __init__(self, store: Store, bloom: RedisBloom, where: str, faults: tuple[type[Exception], ...]) -> None:
        super().__init__(store)
        self._bloom, self._where = bloom, where
        self._faults: tuple[type[Exception], ...] = (*faults, FilterMissing)
        self._lock = Lock()
        self._caught_up_at: float | None = None
        self._away_until = 0.0
        self._is_away = False
        self._call(lambda: None, None)

    def candidates(self, identities: Collection[str]) -> set[str]:
        everything = set(identities)
        return self._call(lambda: self._bloom.candidates(everything), everything)

    def add(self, identities: Collection[str]) -> None:
        none: set[str] = set()
        try:
            self._call(lambda: self._bloom.add(identities), none)
        except StoreError:  # the articles are stored; the next catch-up enters them
            self._caught_up_at = None

    def save(self) -> None:
        self._caught_up_at, self._away_until = None, 0.0  # what was stored while Redis was unreachable is entered by the worker that ends
        self._call(lambda: None, None)

    def _call(self, ask: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return the result of ``ask``, or ``otherwise`` while Redis is unreachable."""
        if monotonic() < self._away_until:
            return otherwise
        try:
            self._catch_up()
            try:
                answer = ask()
            except FilterMissing:
                logger.warning("the filter of known URLs is missing in Redis at %s: refilled from the store", self._where)
                self._caught_up_at = None
                self._catch_up()
                answer = ask()
        except self._faults as error:
            self._away_until, self._caught_up_at = monotonic() + RETRY_SECONDS, None
            if not self._is_away:
                self._is_away = True
                logger.warning("Redis at %s is unavailable (%s): URLs are looked up in the store until it is available", self._where, error)
            return otherwise
        if self._is_away:
            self._is_away = False
            logger.warning("Redis at %s is available again", self._where)
        return answer

    def _catch_up(self) -> None:
        """Enter what was stored since the position. It is kept in Redis beside the filter, so that restoring Redis restores both."""
        with self._lock:
            if self._caught_up_at is not None and monotonic() - self._caught_up_at < CATCH_UP:
                return
            position, since = self._store.last_seq(), self._bloom.open()
            if since > position:  # another store, or an earlier state of this one
                self._bloom.clear()
                since = self._bloom.open()
            self._bloom.add(self._store.identities(after=since))
            self._bloom.set_position(position)
            self._caught_up_at = monotonic()


def filter_settings(sources: Sources, settings: BaseSettings) -> BaseSettings:
    """Return the settings with the Redis URL of the filter, which may differ from that of the queue."""
    url = sources.url_filter.redis
    if url is None or settings.get("REDIS_URL") != sources.frontier.redis:
        return settings
    copy = settings.copy()
    copy.frozen = False
    copy.set("REDIS_URL", url, priority="cmdline")
    return copy


def shared_bloom(sources: Sources, settings: BaseSettings) -> RedisBloom:
    """Return the filter of this store in Redis. The key contains the store, so several portals may share one Redis."""
    options = sources.url_filter
    key = f"{KEY}:{content_id(sources.store)}"
    return RedisBloom(connect(settings), key=key, capacity=options.capacity, error_rate=options.error_rate)


def open_filter(sources: Sources, settings: BaseSettings, store: Store) -> StoredUrls:
    """Open the filter that the settings name. Raises ``StoreError``."""
    options = sources.url_filter
    if not is_configured(settings):
        return LocalFilter(store, sources.seen_file, capacity=options.capacity, error_rate=options.error_rate)
    settings = filter_settings(sources, settings)
    return RedisFilter(store, shared_bloom(sources, settings), masked_url(settings), faults())


@dataclass(frozen=True, slots=True)
class FilterStatus:
    """The status in words, and the fill level (None: no filter exists yet)."""

    says: str
    fill: FillLevel | None = None


def filter_status(sources: Sources) -> FilterStatus:
    """Return the status of the filter. Raises ``StoreError`` if Redis does not answer."""
    from scrapy.settings import Settings

    from newsportal.crawl.addon import scrapy_settings

    settings = filter_settings(sources, Settings(scrapy_settings(sources)))
    if is_configured(settings):
        try:
            fill = shared_bloom(sources, settings).fill()
        except faults() as error:
            raise StoreError(f"Redis at {masked_url(settings)} is unavailable: {error}") from error
        return FilterStatus(f"Redis at {masked_url(settings)} answers; {_described(fill)}", fill)
    file, options = sources.seen_file, sources.url_filter
    if file is None or not file.exists():
        return FilterStatus("no filter yet; the first crawl fills it from the store")
    try:
        bloom, position = unpack(file.read_bytes(), options.capacity, options.error_rate)
    except (OSError, FilterUnusable) as error:
        return FilterStatus(f"{file} is not used: {error}; the next crawl rebuilds it from the store")
    return FilterStatus(f"{file}: {_described(bloom.fill())}; includes the store up to change {position}", bloom.fill())


def _described(fill: FillLevel) -> str:
    size = f"{fill.bytes / 1e6:.1f} MB in {fill.filters} filter{'s' if fill.filters != 1 else ''}"
    return f"{fill.entered:,} of {fill.capacity:,} entered, {size}, false positives expected: {fill.error:.1e}"
