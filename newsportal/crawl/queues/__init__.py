"""Queues of requests: in the link table of the store, or in Redis as the settings say."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from newsportal.crawl.queues.base import Queue, Terms
from newsportal.crawl.queues.table import TableQueue
from newsportal.crawl.redis_connection import connect, is_cluster, is_configured, masked_url, queue_names_in
from newsportal.items import content_id
from newsportal.sources.uris import mask
from newsportal.store import open_store
from newsportal.store.columns import METADATA
from newsportal.store.dialect_sqlite import sqlite_file, sqlite_uri
from newsportal.store.dialects import open_engine, write_ahead, writing
from newsportal.store.link_tables import QUEUE_TABLES
from newsportal.store.links import Links

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.crawl.queues.redis_queue import RedisQueue
    from newsportal.sources import Sources

Kind = TypeVar("Kind", bound="RedisQueue")


def open_queue(sources: Sources, settings: BaseSettings, name: str, links: Links | None = None) -> Queue:
    """Open the queue of a spider for one worker. ``links``: those of the store, if it is open already. Raises ``StoreError``."""
    terms = Terms(lease=sources.frontier.lease, tries=sources.frontier.tries)
    options: dict[str, Any] = {"links": links}
    if links is None:  # otherwise the store stays open for its other users
        store = open_store(sources.store)
        options = {"links": store.links, "close": store.close}
    if is_shared(sources, settings):
        from newsportal.crawl.queues.redis_table import RedisTableQueue

        return _in_redis(RedisTableQueue, settings, name, terms, sources.store, **options)
    return TableQueue(name=name, terms=terms, **options)


def open_plain(settings: BaseSettings, name: str) -> Queue:
    """Open the queue of a project without ``sources.yaml``: in Redis if configured, else a file in ``JOBDIR`` or ``.scrapy``."""
    from newsportal.crawl.queues.redis_queue import UnbackedQueue

    if not is_configured(settings):
        return open_table(Path(settings.get("JOBDIR") or ".scrapy").absolute() / "links.db", name)
    return _in_redis(UnbackedQueue, settings, name, Terms(), "sqlite:///:memory:")


def open_table(file: Path, name: str, terms: Terms | None = None) -> TableQueue:
    """Open a queue without a store: the link table alone, in a file."""
    engine = open_engine(sqlite_uri(file))
    write_ahead(engine)
    with writing(engine) as connection:
        METADATA.create_all(connection, QUEUE_TABLES)
    return TableQueue(Links(engine), name, terms=terms, close=engine.dispose)


def _in_redis(kind: type[Kind], settings: BaseSettings, name: str, terms: Terms, owner: str, **options: Any) -> Kind:
    """``owner``: the store that the links belong to."""
    from newsportal.crawl.requests import configured_class

    kind = configured_class(settings, "SCHEDULER_QUEUE_CLASS", kind)  # scrapy-redis' queues pop: requests in flight are lost
    keys = {"queue_key": settings.get("SCHEDULER_QUEUE_KEY"), "seen_key": settings.get("SCHEDULER_DUPEFILTER_KEY")}
    options |= {parameter: key for parameter, key in keys.items() if key}
    options |= {"owner": content_id(owner), "owner_name": mask(owner), "where": masked_url(settings), "prefixes": _prefixes(settings)}
    return kind(connect(settings), name, terms, **options)


def _prefixes(settings: BaseSettings) -> list[str]:
    from newsportal.crawl.queues.redis_partition import PREFIXES

    return [*PREFIXES] if is_cluster(settings) else [""]


def is_shared(sources: Sources, settings: BaseSettings) -> bool:
    """Return whether the queue is in Redis, which may instead hold only the filter of known URLs."""
    of_filter = sources.url_filter.redis
    for_filter = of_filter is not None and sources.frontier.redis is None and of_filter == settings.get("REDIS_URL")
    return is_configured(settings) and not for_filter


def place(sources: Sources, settings: BaseSettings) -> str:
    """Return the URI of the queue's Redis or store for display, without password."""
    return masked_url(settings) if is_shared(sources, settings) else mask(sources.store)


def queue_names(sources: Sources, settings: BaseSettings) -> list[str]:
    """Return the names of existing queues. Raises ``FrontierUnavailable``, ``FrontierRefused``, ``StoreError``; creates no store."""
    if is_shared(sources, settings):
        key, parts = settings.get("SCHEDULER_QUEUE_KEY"), _prefixes(settings)
        return queue_names_in(connect(settings), key, content_id(sources.store), masked_url(settings), parts)
    file = sqlite_file(sources.store)
    if file is not None and not file.exists():
        return []
    with closing(open_store(sources.store, create=False)) as store:
        return store.links.queues()
