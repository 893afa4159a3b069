"""What every test may use. Real pages with gold answers are looked for beside the project and never copied into it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from madeup import MadeUpWeb

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("NEWSPORTAL_DATA", ROOT.parent / "shared" / "data"))
sys.path.insert(0, str(ROOT / "tests" / "site"))  # the made-up Web: import madeup
sys.path.insert(0, str(ROOT))  # training is no part of the installed package


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"needs the real pages in {DATA} (set NEWSPORTAL_DATA)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real pages with gold answers."""
    return DATA


@pytest.fixture(scope="session")
def web() -> Iterator[MadeUpWeb]:
    """The made-up Web on free loopback ports, one for all tests; ``web.reset()`` makes it forget."""
    from madeup import MadeUpWeb

    with MadeUpWeb(hosts=True) as web:
        yield web
