"""A Redis Cluster of three masters on loopback: each has a third of the slots and no replica."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.exceptions import RedisError
from redis.retry import Retry
from servers import own_server

MASTERS = 3
SLOTS = 16384
OPTIONS = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
SECONDS = 600
"""Seconds until the nodes must know each other; it takes two."""


@dataclass
class Masters:
    servers: list[Any]

    def connect(self) -> RedisCluster:
        return RedisCluster(host="127.0.0.1", port=self.servers[0].port, retry=Retry(NoBackoff(), 1))

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{server.port}" for server in self.servers)

    def start(self, number: int) -> None:
        self.servers[number].start(*OPTIONS)
        self.wait()

    def empty(self) -> None:
        for server in self.servers:
            with redis.Redis(port=server.port) as node:
                node.flushall()

    def meet(self) -> None:
        for number, server in enumerate(self.servers):
            with redis.Redis(port=server.port) as node:
                first, after = SLOTS * number // MASTERS, SLOTS * (number + 1) // MASTERS
                node.execute_command("CLUSTER ADDSLOTS", *range(first, after))
                node.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
                if number:
                    node.execute_command("CLUSTER MEET", "127.0.0.1", self.servers[0].port)
        self.wait()

    def wait(self) -> None:
        """Wait until each node reports that all slots are served."""
        until = monotonic() + SECONDS
        while not all(map(serves, self.servers)):
            assert monotonic() < until, "the nodes did not connect"
            sleep(0.05)


def serves(server: Any) -> bool:
    with redis.Redis(port=server.port, decode_responses=True) as node:
        try:
            info = node.execute_command("CLUSTER INFO")
        except RedisError:
            return False
    found = info if isinstance(info, dict) else dict(line.split(":") for line in info.split())
    return found["cluster_state"] == "ok" and int(found["cluster_slots_ok"]) == SLOTS


@contextmanager
def masters() -> Iterator[Masters]:
    with ExitStack() as stack:
        cluster = Masters([stack.enter_context(own_server("redis")) for _ in range(MASTERS)])
        for server in cluster.servers:
            server.kill()
            server.start(*OPTIONS)
        cluster.meet()
        yield cluster
