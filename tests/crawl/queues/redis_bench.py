"""Test benches for the queue in Redis."""

from __future__ import annotations

import redis
from queue_benches import TERMS, Bench, TableBench
from redis_masters import Masters
from sqlalchemy import Engine

from newsportal.crawl.queues.redis_partition import PREFIXES
from newsportal.crawl.queues.redis_queue import RedisQueue
from newsportal.crawl.queues.redis_table import RedisTableQueue


class RedisBench(Bench):
    """Each worker has its own connection to an empty database of a running server."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port
        with redis.Redis(port=port) as client:
            client.flushdb()

    def worker(self, name: str) -> RedisQueue:
        return RedisQueue(redis.Redis(port=self.port), name, TERMS, clock=lambda: self.now)

    def jump(self, seconds: float) -> None:
        """Set the clock of Redis' machine: no time passes."""
        self.now += seconds


class RedisTableBench(RedisBench):
    """The same, backed by a table of links."""

    def __init__(self, port: int, uri: str, engines: list[Engine] | None = None) -> None:
        super().__init__(port)
        self._table = TableBench(uri, engines)

    def worker(self, name: str) -> RedisTableQueue:
        self._table.now = self.now
        return RedisTableQueue(redis.Redis(port=self.port), name, TERMS, clock=lambda: self.now, links=self._table.links())

    def pass_by(self, seconds: float) -> None:
        super().pass_by(seconds)
        self._table.now = self.now

    def close(self) -> None:
        super().close()
        self._table.close()


class ClusterTableBench(RedisTableBench):
    """The same on an empty cluster."""

    def __init__(self, masters: Masters, uri: str, engines: list[Engine] | None = None, partitions: int = len(PREFIXES)) -> None:
        Bench.__init__(self)
        self.masters, self.partitions, self._table = masters, partitions, TableBench(uri, engines)
        masters.empty()

    def worker(self, name: str) -> RedisTableQueue:
        self._table.now = self.now
        more = {"links": self._table.links(), "prefixes": PREFIXES[: self.partitions]}
        return RedisTableQueue(self.masters.connect(), name, TERMS, clock=lambda: self.now, **more)
