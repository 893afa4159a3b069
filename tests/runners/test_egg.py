"""The egg holds the package whole, with the sources file that was asked for, and comes before an installed newsportal."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

import newsportal
from newsportal.runners.egg import ENTRY, SOURCES_NAME, build, is_egg

PACKAGE = Path(newsportal.__file__).parent


@pytest.mark.slow
def test_every_file_of_the_package_is_in_it_and_nothing_else() -> None:
    names = {name for name in ZipFile(BytesIO(build())).namelist() if name.startswith("newsportal/")}
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert names == {f"newsportal/{path.relative_to(PACKAGE).as_posix()}" for path in files}
    assert SOURCES_NAME in names


@pytest.mark.slow
def test_the_same_package_makes_the_same_bytes() -> None:
    made = build(b"a")
    assert made == build(b"a")
    assert is_egg(made)
    assert not is_egg(b"newsportal")


@pytest.mark.slow
def test_it_comes_before_an_installed_newsportal_and_reads_its_own_sources(tmp_path: Path) -> None:
    egg = tmp_path / "it.egg"
    egg.write_bytes(build("feeds:\n  - {name: 只在蛋里, url: 'https://news.example.org/rss'}\n".encode()))
    asking = (
        f"import sys; sys.path.append({str(egg)!r}); import {ENTRY}; import newsportal, os; os.chdir({str(tmp_path)!r});"
        "from newsportal.sources.loading import packaged; print(newsportal.__file__); print(packaged({}).feeds[0].name);"
        "from newsportal.storage import open_store; open_store('sqlite:///here.db').close()"
    )
    environment = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{egg}/newsportal/__init__.py", "只在蛋里"]
    assert (tmp_path / "here.db").exists()
