"""What the contract test needs of the queue in Redis."""

from __future__ import annotations

import redis
from queue_benches import TERMS, Bench

from newsportal.frontier.queues.shared import SharedQueue


class RedisBench(Bench):
    """Each worker with a connection of its own, at an empty database of a running server."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port
        with redis.Redis(port=port) as client:
            client.flushdb()

    def worker(self, name: str) -> SharedQueue:
        return SharedQueue(redis.Redis(port=self.port), name, TERMS, clock=lambda: self.now)

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock of Redis' machine: no time goes by."""
        self.now += seconds
