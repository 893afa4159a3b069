"""A store opened once a process, and what its crawls share: known URLs, lines of sites, models in use, and whether there is a network."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary, finalize

from newsportal.classify import base
from newsportal.crawl.reader_pool import ReaderPool
from newsportal.crawl.seen_filter import open_filter
from newsportal.crawl.visit_counters import Reach
from newsportal.errors import LibraryError, ModelError, StoreError
from newsportal.extractors import Extract, Keeper, extractor
from newsportal.extractors.article.best import Best
from newsportal.extractors.article.site import MAX_PAGES, MAX_SITES, PageLines, SiteKnowledge, packed, site_of, unpacked
from newsportal.logs import warned
from newsportal.messages import Message
from newsportal.store import open_store

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.classify.base import Classifier
    from newsportal.sources import Sources
    from newsportal.store.store import Store

logger = logging.getLogger(__name__)

RECHECK: Final = 15.0  # seconds between two looks whether another version is in use. A look reads one row.


@dataclass(frozen=True, slots=True)
class Loaded:
    """A version of a corpus' model, and its macro-F1 on texts it has not seen (``None``: it was not measured)."""

    version: int
    classifier: Classifier = field(repr=False)
    macro_f1: float | None = None

    @property
    def name(self) -> str:
        """As articles name it."""
        return f"model {self.version}"


@dataclass(slots=True)
class _Cached:
    checked: float
    version: int | None = None
    loaded: Loaded | None = None
    trouble: Message | None = None


class Models:
    """Models in use, loaded once for all spiders of a process. Blocking; may be called from several threads."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._cached: dict[str, _Cached] = {}
        self._lock = Lock()

    def active(self, corpus: str) -> Loaded | None:
        """The model of ``corpus`` in use; ``None`` if there is none, or none that works (:meth:`trouble`)."""
        with self._lock:
            now = self._clock()
            cached = self._cached.setdefault(corpus, _Cached(now - RECHECK))
            if now - cached.checked >= RECHECK:
                cached.checked = now
                self._refresh(corpus, cached)
            return cached.loaded

    def trouble(self, corpus: str) -> Message | None:
        cached = self._cached.get(corpus)
        return cached.trouble if cached else None

    def _refresh(self, corpus: str, cached: _Cached) -> None:
        with warned(logger, "the model of %s was not asked for", corpus):  # what was loaded goes on, and the next look asks again
            version = self._store.corpora.active(corpus)
            if version == cached.version:
                return
            loaded, trouble = None, None
            try:
                loaded = None if version is None else self._load(corpus, version)
            except ModelError as error:
                trouble = Message("note.model-broken", version=version or 0, corpus=corpus, why=error.message)
                logger.error("%s; activate another one (newsportal model list %s)", trouble, corpus)
            cached.version, cached.loaded, cached.trouble = version, loaded, trouble

    def _load(self, corpus: str, version: int) -> Loaded:
        facts = self._store.corpora.model(corpus, version).facts
        report = facts.get("report")
        figure = report.get("macro_f1") if isinstance(report, dict) else None
        return Loaded(version, base.restore(self._store.corpora.blob(corpus, version)), float(figure) if figure is not None else None)


def join(method: str, made: Keeper, kept: str | None) -> str:
    """What ``made`` learnt, after ``kept``, which other crawls learnt, was added to it."""
    try:
        if kept is not None:
            made.restore(kept)
    except LibraryError as error:
        logger.warning("what %s learnt in earlier crawls is not used: %s", method, error)
    return made.saved()


class SiteMemory:
    """Joins a crawl's knowledge and the store. Blocking; may be called from several threads."""

    def __init__(self, store: Store, knowledge: SiteKnowledge) -> None:
        self.knowledge = knowledge
        self._store = store
        self._met: set[str] = set()
        self._unread: set[str] = set()
        self._lock = Lock()
        self._extractors: dict[tuple[str, tuple[tuple[str, float], ...]], Extract] = {}

    def extractor(self, method: str, options: Mapping[str, Any]) -> Extract:
        """The one that all readers of a choice share. What a method of a paper learnt in earlier crawls is read first."""
        key = (method, tuple(sorted(options.items())))
        with self._lock:
            if key not in self._extractors:
                made: Extract = Best(self.knowledge) if method == "best" else extractor(method, **options)
                if isinstance(made, Keeper) and not isinstance(made, Best):
                    with warned(logger, "what %s learnt in earlier crawls is not used", method):
                        join(method, made, self._store.learnt(method))
                self._extractors[key] = made
            return self._extractors[key]

    def recall(self, url: str) -> None:
        """Load what the store knows of a page's site, before the page is read."""
        site = site_of(url)
        if site is None:
            return
        with self._lock:
            if site in self._unread or (site in self._met and self.knowledge.holds(site)):
                return
            self._met.add(site)
            try:
                for known, lines in self._stored(site).items():
                    self.knowledge.remember(known, lines)
            except StoreError as error:
                self._unread.add(site)
                logger.warning("what is known of %s stays unread: %s", site, error)
            except ValueError as error:
                logger.warning("what is known of %s is broken, and learnt anew: %s", site, error)

    def keep(self, now: datetime) -> None:
        """Save what is known of the sites that were met, at the end of the crawl."""
        with warned(logger, "what was learnt of sites is lost"):
            self._store.save_site_lines(self._packed_sites(), now=now, most=MAX_SITES)
            for (method, _), made in list(self._extractors.items()):
                if isinstance(made, Keeper) and not isinstance(made, Best):
                    self._store.change_learnt(method, partial(join, method, made), now=now)

    def _packed_sites(self) -> Mapping[str, Mapping[str, bytes]]:
        sites: dict[str, dict[str, PageLines]] = {}
        with self._lock:
            met = set(self._met)
        for url, known in self.knowledge.pages():
            site = site_of(url)
            if site in met:
                sites.setdefault(site, {})[url] = known
        return {site: {url: packed(known) for url, known in self._joined(site, pages).items()} for site, pages in sites.items()}

    def _joined(self, site: str, pages: Mapping[str, PageLines]) -> Mapping[str, PageLines]:
        """``pages``, and before them as many others of the store's as a site may have."""
        free = MAX_PAGES - len(pages)
        if free <= 0:
            return pages
        try:
            others = [(url, known) for url, known in self._stored(site).items() if url not in pages]
        except ValueError:  # said when it was recalled
            return pages
        return {**dict(others[-free:]), **pages}

    def _stored(self, site: str) -> Mapping[str, PageLines]:
        """Raises ``StoreError``, and ``ValueError`` for what cannot be read."""
        return {url: unpacked(lines) for url, lines in self._store.site_lines(site).items()}


class Record:
    """The store and the caches that the link trackers of one process share."""

    def __init__(self, sources: Sources, settings: BaseSettings) -> None:
        self.store: Store = open_store(sources.store)
        self.stored_urls = open_filter(sources, settings, self.store)
        self.sites = SiteMemory(self.store, SiteKnowledge())
        self.models = Models(self.store)
        self.reach = Reach()
        self.readers = ReaderPool()


_RECORDS: WeakValueDictionary[str, Record] = WeakValueDictionary()


def record_of(sources: Sources, settings: BaseSettings) -> Record:
    """The record of the sources' store, opened at the first call. Raises ``StoreError``."""
    record = _RECORDS.get(sources.store)
    if record is None:
        record = _RECORDS[sources.store] = Record(sources, settings)
        finalize(record, record.readers.close)
        finalize(record, record.store.close)  # at the process's end at the latest: SQLite takes its log into the file
    chosen = sources.duplicates
    record.store.fold_by(chosen.method, theta=chosen.theta, days=chosen.days)
    return record
