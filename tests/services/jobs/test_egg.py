"""The egg contains the complete package with its sources file and precedes an installed newsportal; versions sort as intended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from argparse import Namespace
from datetime import UTC, datetime, timedelta, timezone
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from zipfile import ZipFile
from zipimport import zipimporter

import pytest
from scrapyd.eggstorage import sorted_versions
from scrapyd_client.deploy import _get_version

import newsportal
from newsportal.cli.deploy import ENTRY_MODULE, SOURCES_NAME, build_egg, compile_module, sortable_version, stamp, stored_version
from newsportal.net.rendering.chromium import find_chromium

PACKAGE = Path(newsportal.__file__).parent
SOURCES = "feeds:\n  - {name: 只在蛋里, url: 'https://news.example.org/rss'}\n".encode()


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("egg") / "it.egg"
    file.write_bytes(build_egg(SOURCES))
    return file


@pytest.mark.slow
def test_egg_contains_exactly_the_package(egg: Path) -> None:
    names = {name for name in ZipFile(egg).namelist() if name.startswith("newsportal/")}
    paths = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    files = {f"newsportal/{path.relative_to(PACKAGE).as_posix()}" for path in paths}
    assert names == files | {f"{name}c" for name in files if name.endswith(".py")}
    assert SOURCES_NAME in names


@pytest.mark.slow
def test_egg_of_scrapyd_deploy_has_the_same_files(egg: Path, tmp_path: Path) -> None:
    """So its jobs run like those of our egg, and its settings like those of the installed package (``test_scrapyd.py``)."""
    project = tmp_path / "project"
    shutil.copytree(PACKAGE, project / "newsportal", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("scrapy.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PACKAGE.parent / name, project)
    (project / "sources.yaml").write_bytes(SOURCES)
    script = "import sys; from scrapyd_client.deploy import main; sys.argv = ['scrapyd-deploy', '--build-egg', sys.argv[1]]; main()"
    theirs = tmp_path / "theirs.egg"
    command = [sys.executable, "-c", script, str(theirs)]
    built = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=600, check=False)
    assert built.returncode == 0, built.stderr
    with ZipFile(theirs) as archive:
        contents = {name: archive.read(name) for name in archive.namelist() if name.startswith("newsportal/") and not name.endswith(".pyc")}
        assert archive.read("EGG-INFO/entry_points.txt").decode().split("[scrapy]")[1].split() == ["settings", "=", "newsportal.settings"]
    with ZipFile(egg) as archive:
        names = {name for name in archive.namelist() if name.startswith("newsportal/") and not name.endswith(".pyc")}
        assert contents == {name: archive.read(name) for name in names}


@pytest.mark.slow
def test_build_is_reproducible(egg: Path) -> None:
    assert egg.read_bytes() == build_egg(SOURCES)


def test_other_python_version_uses_the_source_files(tmp_path: Path) -> None:
    source = (PACKAGE / "errors.py").read_bytes()
    for magic, file in ((MAGIC_NUMBER, "errors.pyc"), (b"\0\0\r\n", "errors.py")):
        with ZipFile(tmp_path / file, "w") as archive:
            archive.writestr("errors.py", source)
            archive.writestr("errors.pyc", magic + compile_module("errors.py", source)[len(magic) :])
        loader = zipimporter(str(tmp_path / file))
        assert Path(loader.get_filename("errors")).name == file
        assert loader.get_code("errors").co_names == compile(source, "errors.py", "exec").co_names


@pytest.mark.slow
def test_egg_precedes_installed_package_and_reads_its_own_sources(egg: Path, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.append({str(egg)!r}); import {ENTRY_MODULE}; import newsportal, os; os.chdir({str(tmp_path)!r});"
        "from newsportal.sources.loading import packaged; print(newsportal.__file__); print(packaged({}).feeds[0].name);"
        "from newsportal.store import open_store; open_store('sqlite:///here.db').close()"
    )
    environment = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "utf-8"}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=False, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"{egg}/newsportal/__init__.pyc", "只在蛋里"]
    assert (tmp_path / "here.db").exists()


@pytest.mark.slow
@pytest.mark.skipif(not find_chromium(), reason="needs Chromium: apt-get install chromium")
def test_browser_starts_from_the_egg(egg: Path) -> None:
    program = (
        "from newsportal.net.rendering import standalone; from newsportal.net.rendering.chromium import Setup;"
        "from newsportal.net.rendering.exchange import Limits; print(standalone.__file__, standalone.check_browser(Setup(Limits())))"
    )
    environment = {**os.environ, "PYTHONPATH": str(egg)}
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=egg.parent)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(egg))


def test_sortable_versions_sort_correctly_in_scrapyd() -> None:
    releases = ["1.2", "1.9", "1.10", "1.10.1", "2.0", "10.0"]
    assert sorted_versions([stored_version(release) for release in releases]) != [stored_version(release) for release in releases]
    assert sorted_versions([sortable_version(release) for release in reversed(releases)]) == [
        sortable_version(release) for release in releases
    ]


def test_later_deployment_is_run_whoever_built_it(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [datetime(2026, 3, 5, 8, 30, second, tzinfo=UTC) for second in (0, 9, 10, 11)]

    def scrapyd_version(moment: datetime) -> str:
        monkeypatch.setattr(time, "time", moment.timestamp)
        return str(_get_version({}, Namespace(version=None)))

    names = [stamp(moments[0]), scrapyd_version(moments[1]), stamp(moments[2]), scrapyd_version(moments[3])]
    assert sorted_versions(reversed(names)) == sorted(names) == names


def test_stamp_is_independent_of_time_zone() -> None:
    assert stamp(datetime(2026, 3, 5, 8, 30, tzinfo=timezone(timedelta(hours=8)))) == "1772670600"


@pytest.mark.parametrize(("version", "sent"), [("r12-main", "r12-main"), ("v1.2", "v1_2"), ("20260305083000", "20260305083000")])
def test_other_versions_are_named_as_in_scrapyd(version: str, sent: str) -> None:
    assert sortable_version(version) == stored_version(version) == sent
