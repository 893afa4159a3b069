"""The short form of ``month.py``: one day of the troubles that need no extra crawl, and a quiet day."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.soak.month import Portal, faults, file_edited, source_dies, store_locked, world

pytestmark = pytest.mark.slow


@contextmanager
def several(portal: Portal) -> Iterator[None]:
    with ExitStack() as day:
        for trouble in (source_dies, file_edited, store_locked):
            day.enter_context(trouble(portal))
        yield


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for the memory")
def test_nothing_is_lost_during_troubles(tmp_path: Path) -> None:
    with world() as month_world:
        portal = Portal(month_world, tmp_path)
        try:
            portal.live(2, [several])
            assert portal.stop() == 0
        finally:
            if portal.process is not None:
                portal.process.kill()
        assert sorted(portal.stored()) == sorted(month_world.due())
    assert faults(portal) == []
