"""Which queue it is: in the Redis that the settings name, else on this machine's disk, beside the store."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from newsportal.frontier.queues.base import Queue, Terms
from newsportal.frontier.queues.disk import DiskQueue
from newsportal.frontier.queues.disk_file import MEMORY, QueueFile
from newsportal.items import content_id
from newsportal.sources.uris import mask

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from newsportal.sources import Sources

_files: WeakValueDictionary[str, QueueFile] = WeakValueDictionary()
_lock = Lock()


def open_queue(sources: Sources, settings: BaseSettings, name: str) -> Queue:
    """The queue of spider ``name``, for one worker. Nothing is opened or sent yet. Raises ``StoreError`` for an address that is none."""
    from newsportal.frontier import shared

    terms = terms_of(sources)
    if is_shared(sources, settings):
        from newsportal.frontier.queues.shared import QUEUE_KEY, SEEN_KEY, SharedQueue

        return SharedQueue(
            shared.connect(settings),
            name,
            terms,
            queue_key=settings.get("SCHEDULER_QUEUE_KEY") or QUEUE_KEY,
            seen_key=settings.get("SCHEDULER_DUPEFILTER_KEY") or SEEN_KEY,
            owner=content_id(sources.store),
            told=mask(sources.store),
            where=shared.where(settings),
        )
    return DiskQueue(queue_file(sources), name, terms=terms)


def is_shared(sources: Sources, settings: BaseSettings) -> bool:
    """Whether the queue lies in Redis: ``frontier.redis`` or the settings name one, and not for the filter of known addresses alone."""
    from newsportal.frontier import shared

    of_filter = sources.url_filter.redis
    for_filter = of_filter is not None and sources.frontier.redis is None and of_filter == settings.get("REDIS_URL")
    return shared.wanted(settings) and not for_filter


def place(sources: Sources, settings: BaseSettings) -> str:
    """Where the queue lies, for people (no password)."""
    from newsportal.frontier import shared

    if is_shared(sources, settings):
        return f"Redis at {shared.where(settings)}"
    return str(sources.queue_file or "the memory of the process that crawls")


def queue_names(sources: Sources, settings: BaseSettings) -> list[str]:
    """The queues that are there. Raises ``FrontierUnavailable``, ``FrontierRefused``, ``StoreError``; makes no file."""
    from newsportal.frontier import shared

    if not is_shared(sources, settings):
        file = queue_file(sources)
        return sorted(file.read(lambda sql: [name for (name,) in sql.execute("SELECT name FROM queues")])) if file.exists() else []
    from newsportal.frontier.queues.shared import QUEUE_KEY
    from newsportal.frontier.queues.shared_names import names

    key = settings.get("SCHEDULER_QUEUE_KEY") or QUEUE_KEY
    return names(shared.connect(settings), key, content_id(sources.store), shared.where(settings))


def terms_of(sources: Sources) -> Terms:
    """By which ``sources.yaml`` wants its queues to be run."""
    return Terms(lease=sources.frontier.lease, tries=sources.frontier.tries)


def queue_file(sources: Sources) -> QueueFile:
    """The file beside the SQLite store; for a store without a file, memory, which the queues of this process share.

    One object for a process, so that its spiders take turns by themselves and not by waiting for a lock of the file.
    """
    path = sources.queue_file
    key = str(path.absolute()) if path else f"{MEMORY}{sources.folder}"
    with _lock:
        found = _files.get(key)
        if found is None:
            found = _files[key] = QueueFile(Path(key) if path else MEMORY)
        return found
