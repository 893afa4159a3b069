"""Start URLs that people push into Redis, as with scrapy-redis: ``LPUSH rss:start_urls https://…``; list, set or sorted set, plain or JSON.

scrapy-redis pops them when a spider is idle, and a crash loses what was popped. Here they are read while the crawl runs, become tasks of
the queue, and leave the list only then; one worker reads at a time (a job of the queue). Dying in between costs a second fetch at most.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import FrontierUnavailable
from newsportal.frontier.redis_connection import as_text, connect, is_named

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from newsportal.frontier.queues.base import Queue

KEY: Final = "%(name)s:start_urls"
"""scrapy-redis' default of ``REDIS_START_URLS_KEY``."""

EVERY: Final = 0.5
"""Seconds between two looks."""

BATCH: Final = 100
JOB_SECONDS: Final = 30.0
"""For which one worker has the list; it gives it back at once."""


class StartUrls:
    """The start URLs of one spider. Blocking; called in the queue's thread. Raises ``FrontierUnavailable``."""

    def __init__(self, client: Any, key: str) -> None:
        self._client = client
        self._key = key
        self._kind = "none"

    def read(self, queue: Queue) -> list[bytes]:
        """What was pushed, some of it; it stays where it is until :meth:`drop`, and so long nobody else reads it. Empty: nothing is there,
        or another worker reads."""
        found: list[bytes] = self._asked(lambda: self._peek(queue))
        return found

    def drop(self, queue: Queue, values: Sequence[bytes]) -> None:
        """These have become tasks."""
        self._asked(lambda: self._remove(values))
        queue.release(self._job)

    @property
    def _job(self) -> str:
        return f"starts:{self._key}"

    def _peek(self, queue: Queue) -> list[bytes]:
        self._kind = as_text(self._client.type(self._key))
        if self._kind == "none" or not queue.claim(self._job, JOB_SECONDS):
            return []
        values = _PEEK[self._kind](self._client, self._key) if self._kind in _PEEK else []
        if not values:
            queue.release(self._job)
        return [value if isinstance(value, bytes) else str(value).encode() for value in values]

    def _remove(self, values: Sequence[bytes]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for value in values:
                _DROP[self._kind](pipe, self._key, value)
            pipe.execute()

    def _asked(self, ask: Any) -> Any:
        from redis.exceptions import RedisError

        try:
            return ask()
        except (RedisError, OSError) as error:
            raise FrontierUnavailable(f"the start URLs in {self._key} cannot be read: {error}") from error


_PEEK: Final[Mapping[str, Any]] = {
    "list": lambda client, key: client.lrange(key, 0, BATCH - 1),
    "set": lambda client, key: client.srandmember(key, BATCH),
    "zset": lambda client, key: client.zrevrange(key, 0, BATCH - 1),
}
_DROP: Final[Mapping[str, Any]] = {
    "list": lambda pipe, key, value: pipe.lrem(key, 1, value),
    "set": lambda pipe, key, value: pipe.srem(key, value),
    "zset": lambda pipe, key, value: pipe.zrem(key, value),
}


def open_start_urls(settings: BaseSettings, spider: Spider) -> StartUrls | None:
    """The start URLs of a spider that knows what to do with them; ``None`` without Redis. Nothing is sent yet. Raises ``StoreError``."""
    if not is_named(settings) or not (hasattr(spider, "pushed") or hasattr(spider, "make_request_from_data")):
        return None
    written = getattr(spider, "redis_key", None) or settings.get("REDIS_START_URLS_KEY") or KEY
    return StartUrls(connect(settings), written % {"name": spider.name, "spider": spider.name})


def parse_pushed(value: bytes) -> dict[str, Any]:
    """A pushed value: a plain address, or JSON as scrapy-redis has it. Raises ``ValueError`` or ``KeyError`` for what is neither."""
    text = value.decode("utf-8").strip()
    if not text.startswith("{"):
        return {"url": text}
    found: dict[str, Any] = json.loads(text)
    return {**found, "url": str(found["url"])}
