"""The command line itself: content and imports of ``--help``, refusals with a remedy, terminals of other encodings."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from forked import run

from newsportal.cli import COMMANDS, GROUPS, MODULES, main


def newsportal(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "newsportal", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, **environ}, capture_output=True, timeout=600, check=False)


@pytest.mark.slow
def test_refused_address_error_has_a_remedy(tmp_path: Path) -> None:
    result = run("extract", "http://127.0.0.1/", cwd=tmp_path)
    assert result.returncode == 1
    assert "loopback" in result.stderr
    assert "save the page" in result.stderr
    assert "allow_private" not in result.stderr, "extract reads no sources.yaml"
    (tmp_path / "sources.yaml").write_text('feeds: [{name: 甲, url: "https://a.example/rss"}]\n', "utf-8")
    result = run("source", "add", "http://127.0.0.1/", cwd=tmp_path)
    assert "could not be fetched: the URL is in a private or reserved network and must not be fetched (loopback)" in result.stderr
    assert "politeness.allow_private" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gbk", "ascii", "latin-1"])
def test_unprintable_character_does_not_end_a_command(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "sources.yaml").write_text('feeds: [{name: 甲✓, url: "https://a.example/rss"}]\n', "utf-8")
    result = newsportal(tmp_path, "source", "list", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (result.returncode, result.stderr) == (0, b"")
    assert rb"\u2713" in result.stdout


def test_invalid_log_level_error_lists_the_levels(tmp_path: Path) -> None:
    result = run("crawl", "--log-level", "loud", cwd=tmp_path, COLUMNS="200")
    assert result.returncode == 2
    assert all(level in result.stderr for level in ("debug", "info", "warning", "error"))
    assert "Traceback" not in result.stderr


def test_help_lists_every_command_and_imports_none() -> None:
    script = (
        "import sys, newsportal.cli as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('imported:', *(name for name in sys.modules if name.startswith('newsportal.cli.') or name in ('scrapy', 'sqlalchemy')))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "imported:"
    places = [result.stdout.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    assert all(f"│ {name} " in result.stdout for name in COMMANDS)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_full_disk_ends_any_command_with_one_line(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "newsportal", "source", "schema"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, timeout=600, check=False)
    assert (result.returncode, result.stderr) == (1, b"standard output: No space left on device\n")


def test_file_that_cannot_be_written_ends_any_command_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: [{name: 甲, url: 'https://a.example/'}]", "utf-8")
    (lock := tmp_path / ".sources.yaml.lock").mkdir()
    result = run("source", "interval", "5", "甲", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, f"{lock}: Is a directory\n")


def test_every_command_has_a_module() -> None:
    assert [name for name in COMMANDS if find_spec(MODULES.get(name, f"newsportal.cli.{name}").partition(":")[0]) is None] == []


def test_garbage_collection_resumes_after_a_failed_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "search", "newsportal.cli.nothing")
    with pytest.raises(ModuleNotFoundError):
        main(["search"])
    assert gc.isenabled()


def test_misspelt_command_error_suggests_a_command(tmp_path: Path) -> None:
    result = run("serch", cwd=tmp_path, COLUMNS="200")
    assert result.returncode == 2
    assert "Did you mean 'search'" in result.stderr
