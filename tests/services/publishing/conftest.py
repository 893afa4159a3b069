"""A store with articles, and targets to publish them to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from newsportal.store.store import Store

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import cms
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "store"))  # import filled_store, killed_writers
from cms import Cms
from factories import NOW, article, invented


@pytest.fixture
def add(store: Store) -> Callable[..., str]:
    """Function that stores an article with a unique text and returns its id."""
    count = iter(range(1, 10_000))

    def added(name: str = "", *, now: datetime = NOW, **changes: Any) -> str:
        number = next(count)
        values = {"text": invented(number), "category": "旅游", "site": "青河网", "author": "林秀文", **changes}
        return store.add(article(name or f"n{number}", **values), now=now).id

    return added


@pytest.fixture
def cms(tmp_path: Path) -> Iterator[Cms]:
    """A foreign news site with a SQLite database."""
    site = Cms(f"sqlite:///{tmp_path}/cms.db")
    yield site
    site.close()
