"""Any number of workers end with exactly the articles of one crawl, and leave nothing that waits without a reason and a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawl_workers import Crawled, compare, one_crawl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def alone(web: Any, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return one_crawl(web, web.sources(tmp_path_factory.mktemp("alone") / "sources.yaml"))


@pytest.mark.parametrize(("number", "kills"), [(1, 0), (3, 0), (2, 3)])
def test_workers_store_what_one_crawl_stores(web: Any, tmp_path: Path, alone: Crawled, number: int, kills: int) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", number, alone, kills)
