"""A replacement of the link tracker outside a crawl: without requests and waiting links."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from newsportal.classify.topics import corpus_of
from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.record import LoadedModel, Models, SiteMemory
from newsportal.crawl.seen_filter import LocalFilter
from newsportal.errors import NotApplicable
from newsportal.extractors.article.site import SiteKnowledge
from newsportal.items import Link
from newsportal.messages import Message
from newsportal.sources import Sources
from newsportal.store.labels import CATEGORIES
from newsportal.store.store import Store


@dataclass(frozen=True, slots=True)
class Shared:
    """Data shared by all processes: the sources, and the active models or their errors."""

    sources: Sources
    models: Mapping[str, LoadedModel] = field(default_factory=dict)
    load_errors: Mapping[str, Message] = field(default_factory=dict)

    def active(self, corpus: str) -> LoadedModel | None:
        return self.models.get(corpus)

    def load_error(self, corpus: str) -> Message | None:
        return self.load_errors.get(corpus)


def share(sources: Sources, store: Store | None) -> Shared:
    """Return the sources with their active models from ``store``."""
    if store is None:
        return Shared(sources)
    models = Models(store)
    names = (CATEGORIES, *(corpus_of(topic.name) for topic in sources.topics if topic.enabled))
    active = {name: model for name in names if (model := models.active(name)) is not None}
    return Shared(sources, active, {name: trouble for name in names if (trouble := models.load_error(name)) is not None})


class _NoStore:
    """An empty store that ignores writes."""

    def find_stored(self, identities: Any) -> set[str]:
        return set()

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        return MappingProxyType({})

    def learnt(self, method: str) -> None:
        return None


class ArchiveTracker:
    """Replaces :class:`LinkTracker`. ``outcomes``: of the articles settled by the stages. Without a store nothing is known."""

    def __init__(self, shared: Shared, store: Store | None = None) -> None:
        self.sources, self.models = shared.sources, shared
        self.store = cast(Store, _NoStore()) if store is None else store
        self.stored_urls = self.store if store is None else LocalFilter(store)
        self.sites = SiteMemory(self.store, SiteKnowledge())
        self.readers = self.visit_counts = self
        self.outcomes: Counter[str] = Counter()

    def as_of_crawl(self) -> LinkTracker:
        return cast(LinkTracker, self)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run ``function`` in place: this process serves for reading."""
        return function(*args)

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    async def settle(self, link: Link, column: str, **about: bool) -> None:
        self.outcomes[column] += 1

    async def fail(self, link: Link, reason: str, *, later: bool = False) -> None:
        """Raises ``NotApplicable`` with the reason."""
        raise NotApplicable(reason)

    def count(self, *about: Any, **more: Any) -> None:
        """No-op: visits are not counted."""

    note = record_published = count
