"""``make release``: wheel and source archive are complete, install and run; the SBOM lists all locked packages."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from newsportal import __version__

ROOT = Path(__file__).resolve().parents[1]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "release"))
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks", "training", "build", "dist", "data", "*.egg-info")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Build source archive, wheel and SBOM from a copy of this folder."""
    copy = tmp_path_factory.mktemp("release") / "newsportal"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    archive, wheel, described = SCRIPT["release"](copy)
    return archive, wheel, described


def files_of(package: str) -> set[str]:
    return {str(file.relative_to(ROOT)) for file in (ROOT / package).rglob("*") if file.is_file() and file.suffix != ".pyc"}


@pytest.mark.slow
def test_archives_contain_all_package_files(built: tuple[Path, Path, Path]) -> None:
    expected = files_of("newsportal") | files_of("newsportal_lab")
    with zipfile.ZipFile(built[1]) as wheel:
        in_wheel = set(wheel.namelist())
    with tarfile.open(built[0]) as archive:
        in_archive = {name.partition("/")[2] for name in archive.getnames()}
    assert expected - in_wheel == set()
    assert {name.partition("/")[0] for name in in_wheel} == {"newsportal", "newsportal_lab", f"newsportal-{__version__}.dist-info"}
    other_files = {"pyproject.toml", "setup.py", "README.md", "LICENSE", "CHANGELOG.md", "sources.yaml", "scrapy.cfg", "docs/operations.md"}
    assert (expected | other_files | {"requirements/run.txt", "deploy/newsportal-up.service"}) - in_archive == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1], ids=["sdist", "wheel"])
def test_archive_installs_and_runs_in_empty_environment(built: tuple[Path, Path, Path], kind: int, tmp_path: Path) -> None:
    """Without a network: the locked requirements are borrowed from this environment, but not its newsportal."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-compile")
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *options, built[kind]], check=True, cwd=tmp_path)

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run(str(python), "-c", "import newsportal; print(newsportal.__file__)")).is_relative_to(packages)
    program = str(tmp_path / "venv" / "bin" / "newsportal")
    assert run(program, "--version") == f"newsportal {__version__}\n"
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    assert json.loads(run(program, "crawl", "--json"))["reason"] == "finished"  # uses store with migrations, settings and spiders


@pytest.mark.slow
def test_editable_install_is_a_path(built: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Type checkers and editors do not follow import hooks."""
    with tarfile.open(built[0]) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # newer than Debian 12's Python
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    program = f"from setuptools.build_meta import build_editable; build_editable({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=folder, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".pth"))
        assert wheel.read(name).decode().strip() == str(folder)


@pytest.mark.slow
def test_sbom_of_release_matches_locked_requirements(built: tuple[Path, Path, Path]) -> None:
    assert json.loads(built[2].read_text("utf-8")) == SCRIPT["sbom"]((ROOT / "requirements" / "run.txt").read_text("utf-8"), __version__)


def test_sbom_lists_locked_packages_and_dependencies() -> None:
    locked = (ROOT / "requirements" / "run.txt").read_text("utf-8")
    found = SCRIPT["sbom"](locked, __version__)
    expected = [tuple(pair) for pair in re.findall(r"^([^\s#=]+)==([^\s;\\]+)", locked, re.MULTILINE)]
    assert [(component["name"], component["version"]) for component in found["components"]] == expected
    assert len(expected) > 80
    references = [component["bom-ref"] for component in found["components"]]
    assert len(set(references)) == len(references)
    edges = {dependency["ref"]: dependency["dependsOn"] for dependency in found["dependencies"]}
    assert set(edges) == {found["metadata"]["component"]["bom-ref"], *references}
    needed = {reference for needs in edges.values() for reference in needs}
    assert needed == set(references), "every package is required by another"
    scrapy = next(reference for reference in references if reference.startswith("pkg:pypi/scrapy@"))
    assert scrapy in edges[f"pkg:pypi/newsportal@{__version__}"]
    assert any(reference.startswith("pkg:pypi/twisted@") for reference in edges[scrapy])


def test_version_is_consistent_and_in_changelog() -> None:
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", __version__]


def test_version_missing_in_changelog_is_not_released(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n", "utf-8")
    with pytest.raises(SystemExit, match=re.escape(f"no section {__version__}")):
        SCRIPT["release"](tmp_path)
