"""Which queue it is: in the Redis that the settings name, else the table of links in the record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from newsportal.frontier.queues.base import Queue, Terms
from newsportal.frontier.queues.table import TableQueue
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

    from newsportal.frontier.queues.shared import SharedQueue
    from newsportal.sources import Sources


RedisQueue = TypeVar("RedisQueue", bound="SharedQueue")


def open_queue(sources: Sources, settings: BaseSettings, name: str, links: Links | None = None) -> Queue:
    """The queue of spider ``name``, for one worker. ``links``: those of the store, where it is open already. Raises ``StoreError``."""

    terms = terms_of(sources)
    close: Callable[[], None] = _nothing
    if links is None:
        store = open_store(sources.store)
        links, close = store.links, store.close
    if is_shared(sources, settings):
        from newsportal.frontier.queues.redis_table import RedisTableQueue
        from newsportal.frontier.queues.shared import SharedQueue

        return RedisTableQueue(links, open_redis(settings, name, terms, sources.store, SharedQueue), close=close)
    return TableQueue(links, name, terms=terms, close=close)


def _nothing() -> None:
    """The store stays open: others use it."""


def open_redis(settings: BaseSettings, name: str, terms: Terms, owner: str, kind: type[RedisQueue]) -> RedisQueue:
    """The queue in the Redis that the settings name. ``owner``: the store whose links these are."""
    from newsportal.frontier import shared
    from newsportal.frontier.queues.shared import QUEUE_KEY, SEEN_KEY

    return kind(
        shared.connect(settings),
        name,
        terms,
        queue_key=settings.get("SCHEDULER_QUEUE_KEY") or QUEUE_KEY,
        seen_key=settings.get("SCHEDULER_DUPEFILTER_KEY") or SEEN_KEY,
        owner=content_id(owner),
        told=mask(owner),
        where=shared.where(settings),
    )


def open_plain(settings: BaseSettings, name: str) -> Queue:
    """For a project of Scrapy's without ``sources.yaml``: the table lies in the ``JOBDIR`` or in ``.scrapy``, unless a Redis is named."""
    from newsportal.frontier import shared
    from newsportal.frontier.queues.shared import UnbackedQueue

    if not shared.wanted(settings):
        return open_table(Path(settings.get("JOBDIR") or ".scrapy").absolute() / "links.db", name)
    return open_redis(settings, name, Terms(), "sqlite:///:memory:", UnbackedQueue)


def open_table(file: Path, name: str, terms: Terms | None = None) -> TableQueue:
    """A queue without a store: the table of links alone, in a file of its own."""
    engine = open_engine(sqlite_uri(file))
    write_ahead(engine)
    with writing(engine) as connection:
        METADATA.create_all(connection, QUEUE_TABLES)
    return TableQueue(Links(engine), name, terms=terms, close=engine.dispose)


def is_shared(sources: Sources, settings: BaseSettings) -> bool:
    """Whether Redis hands out: ``frontier.redis`` or the settings name one, and not for the filter of known addresses alone."""
    from newsportal.frontier import shared

    of_filter = sources.url_filter.redis
    for_filter = of_filter is not None and sources.frontier.redis is None and of_filter == settings.get("REDIS_URL")
    return shared.wanted(settings) and not for_filter


def place(sources: Sources, settings: BaseSettings) -> str:
    """Where the queue lies, for people (no password)."""
    from newsportal.frontier import shared

    return f"Redis at {shared.where(settings)}" if is_shared(sources, settings) else f"the store, {mask(sources.store)}"


def queue_names(sources: Sources, settings: BaseSettings) -> list[str]:
    """The queues that are there. Raises ``FrontierUnavailable``, ``FrontierRefused``, ``StoreError``; makes no store."""
    from newsportal.frontier import shared

    if not is_shared(sources, settings):
        file = sqlite_file(sources.store)
        if file is not None and not file.exists():
            return []
        store = open_store(sources.store, create=False)
        try:
            return store.links.queues()
        finally:
            store.close()
    from newsportal.frontier.queues.shared import QUEUE_KEY
    from newsportal.frontier.queues.shared_names import names

    key = settings.get("SCHEDULER_QUEUE_KEY") or QUEUE_KEY
    return names(shared.connect(settings), key, content_id(sources.store), shared.where(settings))


def terms_of(sources: Sources) -> Terms:
    """By which ``sources.yaml`` wants its queues to be run."""
    return Terms(lease=sources.frontier.lease, tries=sources.frontier.tries)
