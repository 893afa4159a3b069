"""The short form of ``month.py``: each trouble once, and a quiet day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.month import TROUBLES, Life, faults, world

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for the memory")
def test_nothing_is_lost_while_the_world_breaks(tmp_path: Path) -> None:
    with world() as told:
        life = Life(told, tmp_path)
        try:
            life.live(len(TROUBLES) + 1)
            assert life.stop() == 0
        finally:
            if life.process is not None:
                life.process.kill()
        assert sorted(life.stored()) == sorted(told.due())
    assert faults(life) == []
