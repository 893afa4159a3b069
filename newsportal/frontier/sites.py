"""What is known of sites, over many crawls: taken from the store when a site is met, given back when the crawl ends.

A crawl fetches a page or two of most sites; what earlier crawls saw of them tells the site's own lines from the article's
(:mod:`newsportal.extractors.site`). Losing it costs nothing but that, so a store that is away is noted in the log alone. The spiders of
one process that write to one store share it (:class:`newsportal.frontier.record.Record`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from newsportal.errors import StoreError
from newsportal.extractors.site import MAX_PAGES, MAX_SITES, Known, SiteKnowledge, packed, site_of, unpacked

if TYPE_CHECKING:
    from newsportal.store.store import Store

logger = logging.getLogger(__name__)


class SiteMemory:
    """Joins a crawl's knowledge and the store. Blocking; may be called from several threads."""

    def __init__(self, store: Store, knowledge: SiteKnowledge) -> None:
        self.knowledge = knowledge
        self._store = store
        self._met: set[str] = set()
        self._unread: set[str] = set()
        self._lock = Lock()

    def recall(self, url: str) -> None:
        """Before a page is read: what the store knows of its site, unless it is known. A crawl of very many sites forgets some."""
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
        """At the end of the crawl: what is known of the sites it met. The store's pages of a site stay where there is room for them."""
        try:
            self._store.save_site_lines(self._kept(), now=now, most=MAX_SITES)
        except StoreError as error:
            logger.warning("what was learnt of sites is lost: %s", error)

    def _kept(self) -> Mapping[str, Mapping[str, bytes]]:
        sites: dict[str, dict[str, Known]] = {}
        with self._lock:
            met = set(self._met)
        for url, known in self.knowledge.pages():
            site = site_of(url)
            if site in met:
                sites.setdefault(site, {})[url] = known
        return {site: {url: packed(known) for url, known in self._joined(site, pages).items()} for site, pages in sites.items()}

    def _joined(self, site: str, pages: Mapping[str, Known]) -> Mapping[str, Known]:
        """``pages``, and before them the store's that are not among them, as many as a site may have. Raises ``StoreError``."""
        room = MAX_PAGES - len(pages)
        if room <= 0:
            return pages
        try:
            others = [(url, known) for url, known in self._stored(site).items() if url not in pages]
        except ValueError:  # said when it was recalled
            return pages
        return {**dict(others[-room:]), **pages}

    def _stored(self, site: str) -> Mapping[str, Known]:
        """Raises ``StoreError``, and ``ValueError`` for what nobody can read."""
        return {url: unpacked(lines) for url, lines in self._store.site_lines(site).items()}
