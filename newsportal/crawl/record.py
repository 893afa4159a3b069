"""The store and caches shared by the crawls of a process: known URLs, learned lines of sites, active models, and the network state."""

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
from newsportal.crawl.visit_counters import NetworkReach
from newsportal.errors import LibraryError, ModelError, StoreError, StoreUnavailable
from newsportal.extractors import Extract, PersistentLearner, extractor
from newsportal.extractors.article.best import Best
from newsportal.extractors.article.site import MAX_PAGES, MAX_SITES, PageLines, SiteKnowledge, pack_page, site_of, unpack_page
from newsportal.items.visits import MAX_CLOCK_SKEW
from newsportal.logs import warned
from newsportal.messages import Message
from newsportal.store import open_store
from newsportal.store.columns import EPOCH

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.classify.base import Classifier
    from newsportal.sources import Sources
    from newsportal.store.store import Store

logger = logging.getLogger(__name__)

RECHECK: Final = 15.0  # seconds between checks for another active version. A check reads one row.


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded version of a corpus's model, and its macro-F1 on held-out texts (``None``: not measured)."""

    version: int
    classifier: Classifier = field(repr=False)
    macro_f1: float | None = None

    @property
    def name(self) -> str:
        """The name of the model as stored with articles."""
        return f"model {self.version}"


@dataclass(slots=True)
class _Cached:
    checked: float
    version: int | None = None
    loaded: LoadedModel | None = None
    trouble: Message | None = None


class Models:
    """Active models, loaded once for all spiders of a process. Blocking, thread-safe."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._cached: dict[str, _Cached] = {}
        self._lock = Lock()

    def active(self, corpus: str) -> LoadedModel | None:
        """Return the active model of ``corpus``; ``None`` if there is none or it cannot be loaded (:meth:`load_error`)."""
        with self._lock:
            now = self._clock()
            cached = self._cached.setdefault(corpus, _Cached(now - RECHECK))
            if now - cached.checked >= RECHECK:
                cached.checked = now
                self._refresh(corpus, cached)
            return cached.loaded

    def load_error(self, corpus: str) -> Message | None:
        cached = self._cached.get(corpus)
        return cached.trouble if cached else None

    def _refresh(self, corpus: str, cached: _Cached) -> None:
        with warned(logger, "the model of %s could not be loaded", corpus):  # on failure keep the loaded model; the next check retries
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

    def _load(self, corpus: str, version: int) -> LoadedModel:
        facts = self._store.corpora.model(corpus, version).facts
        report = facts.get("report")
        figure = report.get("macro_f1") if isinstance(report, dict) else None
        return LoadedModel(version, base.restore(self._store.corpora.blob(corpus, version)), float(figure) if figure is not None else None)


def merge_learned(method: str, learner: PersistentLearner, saved: str | None) -> str:
    """Return the learned state of ``learner`` merged with ``saved``, the state that other crawls saved."""
    try:
        if saved is not None:
            learner.restore(saved)
    except LibraryError as error:
        logger.warning("what was learned about %s in earlier crawls is not used: %s", method, error)
    return learner.dump()


class SiteMemory:
    """Load and save what a crawl learns of sites. Blocking, thread-safe."""

    def __init__(self, store: Store, knowledge: SiteKnowledge) -> None:
        self.knowledge = knowledge
        self._store = store
        self._recalled: set[str] = set()
        self._unread: set[str] = set()
        self._lock = Lock()
        self._extractors: dict[tuple[str, tuple[tuple[str, float], ...]], Extract] = {}

    def extractor(self, method: str, options: Mapping[str, Any]) -> Extract:
        """Return the extractor shared by all readers with this choice, restored from earlier crawls if it learns."""
        key = (method, tuple(sorted(options.items())))
        with self._lock:
            if key not in self._extractors:
                extract: Extract = Best(self.knowledge) if method == "best" else extractor(method, **options)
                if isinstance(extract, PersistentLearner) and not isinstance(extract, Best):
                    with warned(logger, "what was learned about %s in earlier crawls is not used", method):
                        merge_learned(method, extract, self._store.learned_state(method))
                self._extractors[key] = extract
            return self._extractors[key]

    def recall(self, url: str) -> None:
        """Load the stored lines of a page's site before the page is read."""
        site = site_of(url)
        if site is None:
            return
        with self._lock:
            if site in self._unread or (site in self._recalled and self.knowledge.knows(site)):
                return
            self._recalled.add(site)
            try:
                for page, lines in self._stored(site).items():
                    self.knowledge.remember(page, lines)
            except StoreError as error:
                self._unread.add(site)
                logger.warning("the stored knowledge of %s cannot be read: %s", site, error)
            except ValueError as error:
                logger.warning("the stored knowledge of %s is damaged and is learnt again: %s", site, error)

    def save(self, now: datetime) -> None:
        """Save the lines of the sites met in this crawl, and the state of learning extractors."""
        with warned(logger, "the knowledge learned about sites could not be saved"):
            self._store.save_site_lines(self._packed_sites(), now=now, max_sites=MAX_SITES)
            for (method, _), extract in list(self._extractors.items()):
                if isinstance(extract, PersistentLearner) and not isinstance(extract, Best):
                    self._store.change_learned_state(method, partial(merge_learned, method, extract), now=now)

    def _packed_sites(self) -> Mapping[str, Mapping[str, bytes]]:
        sites: dict[str, dict[str, PageLines]] = {}
        with self._lock:
            visited = set(self._recalled)
        for url, lines in self.knowledge.pages():
            site = site_of(url)
            if site in visited:
                sites.setdefault(site, {})[url] = lines
        return {site: {url: pack_page(lines) for url, lines in self._joined(site, pages).items()} for site, pages in sites.items()}

    def _joined(self, site: str, pages: Mapping[str, PageLines]) -> Mapping[str, PageLines]:
        """Return ``pages`` preceded by as many other stored pages as the limit per site allows."""
        free = MAX_PAGES - len(pages)
        if free <= 0:
            return pages
        try:
            others = [(url, lines) for url, lines in self._stored(site).items() if url not in pages]
        except ValueError:  # logged when it was recalled
            return pages
        return {**dict(others[-free:]), **pages}

    def _stored(self, site: str) -> Mapping[str, PageLines]:
        """Raises ``StoreError``, and ``ValueError`` for unreadable lines."""
        return {url: unpack_page(lines) for url, lines in self._store.site_lines(site).items()}


class Record:
    """The store and the caches shared by the link trackers of a process."""

    def __init__(self, sources: Sources, settings: BaseSettings) -> None:
        self.store: Store = open_store(sources.store)
        self.stored_urls = open_filter(sources, settings, self.store)
        self.sites = SiteMemory(self.store, SiteKnowledge())
        self.models = Models(self.store)
        self.reach = NetworkReach()
        self.readers = ReaderPool()


_RECORDS: WeakValueDictionary[str, Record] = WeakValueDictionary()


def record_of(sources: Sources, settings: BaseSettings) -> Record:
    """Return the record of the sources' store, opened by the first call. Raises ``StoreError``."""
    record = _RECORDS.get(sources.store)
    if record is None:
        record = _RECORDS[sources.store] = Record(sources, settings)
        finalize(record, record.readers.close)
        finalize(record, record.store.close)  # at exit at the latest: SQLite merges its write-ahead log into the file
        record.store.visits.forget(EPOCH)  # deletes nothing, but fails now if the store is on a read-only disk
        if abs(ahead := record.store.links.clock_ahead()) > MAX_CLOCK_SKEW:  # two such machines visit each source in turn, at once
            text = f"the clocks of this machine and of the store's server differ by {abs(ahead)}; correct the wrong one"
            raise StoreUnavailable(f"{text}, or times and visits are wrong, too")
    duplicates = sources.duplicates
    record.store.fold_by(duplicates.method, theta=duplicates.theta, days=duplicates.days)
    return record
