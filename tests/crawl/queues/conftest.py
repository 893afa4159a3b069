"""Queues of every backend on a clock that the tests turn, so that none of them sleeps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import queue_benches

from queue_benches import Bench, TableBench
from redis_bench import RedisBench, RedisTableBench
from servers import OVER_SERVERS, Servers

BENCHES: dict[str, Callable[[pytest.FixtureRequest], Bench]] = {
    "sqlite": lambda request: TableBench(f"sqlite:///{request.getfixturevalue('tmp_path')}/新闻 库.db"),
    "redis and table": lambda request: RedisTableBench(
        request.getfixturevalue("redis_for_all").port, f"sqlite:///{request.getfixturevalue('tmp_path')}/库.db"
    ),
    "redis": lambda request: RedisBench(request.getfixturevalue("redis_for_all").port),
}
"""Name -> an empty frontier. A later backend is one line."""


@pytest.fixture(scope="session")
def server_uris(servers: Servers) -> Iterator[Callable[[str], str]]:
    """The URI of a database in each SQL server, the same for all tests: their tables are made anew."""
    with ExitStack() as stack:
        yield cache(lambda server: stack.enter_context(servers.database(server)).uri)


@pytest.fixture(params=[*BENCHES, *(pytest.param(server, marks=pytest.mark.slow) for server in OVER_SERVERS)])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """An empty frontier of each backend."""
    if request.param in OVER_SERVERS:
        made: Bench = TableBench(request.getfixturevalue("server_uris")(request.param))
    else:
        made = BENCHES[request.param](request)
    yield made
    made.close()
