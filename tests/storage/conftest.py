"""The stores that the contract test runs over. A later store is one line in ``STORES_UNDER_TEST``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from newsportal.storage import open_store
from newsportal.storage.base import Store

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import invented_articles

STORES_UNDER_TEST: dict[str, Callable[[Path], str]] = {
    "sqlite-file": lambda folder: f"sqlite:///{folder}/新闻 库/news portal.db",
    "sqlite-memory": lambda folder: "sqlite://",
}
"""Name -> the URI of an empty store, given an empty folder."""


@pytest.fixture(params=sorted(STORES_UNDER_TEST))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(STORES_UNDER_TEST[request.param](tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the same place once more, as another process does."""
    name = request.node.callspec.params["store"]
    if name == "sqlite-memory":
        pytest.skip("lives in its one connection")
    return lambda: open_store(STORES_UNDER_TEST[name](tmp_path))
