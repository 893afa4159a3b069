"""A store opened once a process, and what all ledgers that write to it share: its known URLs, what is known of sites, its models, and
whether there is a network."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from newsportal.extractors.site import SiteKnowledge
from newsportal.frontier.models import Models
from newsportal.frontier.seen_filter import KnownUrls, open_filter
from newsportal.frontier.sites import SiteMemory
from newsportal.frontier.visit_counters import Reach
from newsportal.store import open_store

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.sources import Sources
    from newsportal.store.store import Store


class Record:
    """See the module. It lives as long as a ledger has it."""

    def __init__(self, sources: Sources, settings: BaseSettings) -> None:
        self.store: Store = open_store(sources.store)
        self.known = KnownUrls(self.store, open_filter(sources, settings, self.store))
        self.sites = SiteMemory(self.store, SiteKnowledge())
        self.models = Models(self.store)
        self.reach = Reach()


_RECORDS: WeakValueDictionary[str, Record] = WeakValueDictionary()


def record_of(sources: Sources, settings: BaseSettings) -> Record:
    """The record of the sources' store, opened at the first call. Raises ``StoreError``."""
    record = _RECORDS.get(sources.store)
    if record is None:
        record = _RECORDS[sources.store] = Record(sources, settings)
    return record
