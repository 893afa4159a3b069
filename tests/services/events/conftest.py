"""A separate store for each test of events."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.store.store import Store

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import event_texts


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(empty_store(tmp_path / "store.db")) as opened:
        yield opened
