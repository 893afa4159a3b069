"""Any number of workers store exactly the articles of one crawl, also with a store on a server or a queue in Redis, and leave nothing that
waits without a reason and a time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from servers import OVER_SERVERS, Servers

from tests.crawl_workers import Crawled, compare, one_crawl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def single_crawl(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    found = one_crawl(web, with_readers(web.sources(tmp_path_factory.mktemp("alone") / "sources.yaml"), 2))
    assert len(found.articles) > 50
    return found


def with_readers(sources: Path, processes: int) -> Path:
    sources.write_text(f"{sources.read_text('utf-8')}\nextraction: {{processes: {processes}}}\n", "utf-8")
    return sources


@pytest.mark.parametrize(("number", "kills"), [(3, 0), (2, 3)])
def test_workers_store_the_same_as_one_crawl(web: Any, tmp_path: Path, single_crawl: Crawled, number: int, kills: int) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", number, single_crawl, kills)


def test_worker_without_reader_processes_stores_the_same(web: Any, tmp_path: Path, single_crawl: Crawled) -> None:
    sources = with_readers(web.sources(tmp_path / "sources.yaml"), 0)
    found = compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", 1, single_crawl)
    assert found.articles == single_crawl.articles, "also the same titles"


@pytest.mark.parametrize("server", OVER_SERVERS)
def test_workers_of_a_store_on_a_server(web: Any, tmp_path: Path, single_crawl: Crawled, server: str, servers: Servers) -> None:
    with servers.database(server) as database:
        sources = web.sources(tmp_path / "sources.yaml")
        sources.write_text(re.sub(r"(?m)^store: .*$", f"store: {database.uri}", sources.read_text("utf-8")), "utf-8")
        compare(web, sources, database.uri, 2, single_crawl)


def test_workers_with_redis(web: Any, tmp_path: Path, single_crawl: Crawled, redis_server: Any) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    sources.write_text(f"{sources.read_text('utf-8')}\nfrontier: {{redis: '{redis_server.url}'}}\n", "utf-8")
    compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", 2, single_crawl)
