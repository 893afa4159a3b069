"""The judge on many made and real reposts: floors a little below what was measured, they only rise."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsportal.commands.evaluate.dedup import read, row
from newsportal.dedup.judge import Judge


@pytest.mark.data
@pytest.mark.slow
def test_floors_on_made_reposts(data: Path) -> None:
    found = row(read(data / "text" / "reposts-synthetic"), Judge())
    assert found["f1"] >= 0.988
    assert found["precision"] >= 0.983
    assert found["recall"] >= 0.99


@pytest.mark.data
@pytest.mark.slow
def test_floors_on_real_reposts(data: Path) -> None:
    found = row(read(data / "text" / "reposts-real"), Judge())
    assert found["f1"] >= 0.88
    assert found["subsets"] >= 0.95
