"""Queues of every backend with a clock set by the tests, so that none of them sleeps."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import queue_benches

from queue_benches import Bench, TableBench
from redis_bench import ClusterTableBench, RedisBench, RedisTableBench
from redis_masters import Masters, masters
from servers import OVER_SERVERS, Servers
from sqlalchemy import Engine

from newsportal.crawl.queues.redis_partition import PREFIXES

BENCHES: dict[str, Callable[[pytest.FixtureRequest], Bench]] = {
    "sqlite": lambda request: TableBench(*uri_at(request, "sqlite")),
    "redis and table": lambda request: RedisTableBench(request.getfixturevalue("redis_for_all").port, *uri_at(request, "sqlite")),
    "redis": lambda request: RedisBench(request.getfixturevalue("redis_for_all").port),
}
"""Functions that create an empty frontier, by name. A further backend is one line."""

SLOW_BENCHES: dict[str, Callable[[pytest.FixtureRequest], Bench]] = {
    "cluster and table": lambda request: ClusterTableBench(
        request.getfixturevalue("redis_masters"), *uri_at(request, "sqlite"), partitions_for(request)
    ),
    **{server: lambda request, server=server: TableBench(*uri_at(request, server)) for server in OVER_SERVERS},  # type: ignore[misc]
}

OF_ONE_PARTITION = {
    "test_hosts_are_shared_fairly",
    "test_later_worker_gets_a_share_of_hosts",
    "test_one_task_of_a_lane_is_in_flight",
    "test_priority_applies_within_a_lane",
    "test_clear_forgets_waiting_tasks_and_fingerprints",
}
"""Tests of order or of shares between hosts, which hold within one partition. For all partitions see test_redis_cluster.py."""


def partitions_for(request: pytest.FixtureRequest) -> int:
    return 1 if request.node.originalname in OF_ONE_PARTITION else len(PREFIXES)


def uri_at(request: pytest.FixtureRequest, database: str) -> tuple[str, list[Engine]]:
    """Arguments of a bench in the tests' SQLite file or on a server."""
    uri = request.getfixturevalue("sqlite_uri") if database == "sqlite" else request.getfixturevalue("server_uris")(database)
    return uri, request.getfixturevalue("engines")[uri]


@pytest.fixture(scope="session")
def engines() -> Iterator[dict[str, list[Engine]]]:
    """Unused engines by URI."""
    engines_by_uri: dict[str, list[Engine]] = defaultdict(list)
    yield engines_by_uri
    for engine in chain.from_iterable(engines_by_uri.values()):
        engine.dispose()


@pytest.fixture(scope="session")
def sqlite_uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file for all tests; its tables are emptied."""
    return f"sqlite:///{tmp_path_factory.mktemp('frontier')}/新闻 库.db"


@pytest.fixture(scope="session")
def redis_masters() -> Iterator[Masters]:
    """A Redis Cluster for all tests that empty it first and leave every node running."""
    with masters() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def server_uris(servers: Servers) -> Iterator[Callable[[str], str]]:
    """The URI of a database in each SQL server, shared by all tests: its tables are emptied."""
    with ExitStack() as stack:
        yield cache(lambda server: stack.enter_context(servers.database(server)).uri)


@pytest.fixture(params=[*BENCHES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_BENCHES)])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """An empty frontier of each backend."""
    frontier = {**BENCHES, **SLOW_BENCHES}[request.param](request)
    yield frontier
    frontier.close()
