"""The command line itself: what ``--help`` lists and imports, refusals with a remedy, terminals of other encodings."""

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
def test_a_refused_address_is_told_with_what_may_be_done(tmp_path: Path) -> None:
    done = run("extract", "http://127.0.0.1/", cwd=tmp_path)
    assert done.returncode == 1
    assert "loopback" in done.stderr
    assert "save the page" in done.stderr
    assert "allow_private" not in done.stderr, "extract reads no sources.yaml"
    (tmp_path / "sources.yaml").write_text('feeds: [{name: 甲, url: "https://a.example/rss"}]\n', "utf-8")
    done = run("source", "add", "http://127.0.0.1/", cwd=tmp_path)
    assert "loopback" in done.stderr
    assert "politeness.allow_private" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["gbk", "ascii", "latin-1"])
def test_a_terminal_that_lacks_a_character_ends_no_command(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "sources.yaml").write_text('feeds: [{name: 甲✓, url: "https://a.example/rss"}]\n', "utf-8")
    done = newsportal(tmp_path, "source", "list", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u2713" in done.stdout


def test_a_log_level_that_is_none_is_told_with_those_there_are(tmp_path: Path) -> None:
    done = run("crawl", "--log-level", "loud", cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 2
    assert "DEBUG, INFO, WARNING, ERROR" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_lists_every_command_in_its_group_and_imports_none() -> None:
    script = (
        "import sys, newsportal.cli as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print('imported:', *(name for name in sys.modules if name.startswith('newsportal.cli.') or name in ('scrapy', 'sqlalchemy')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported:"
    places = [done.stdout.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    assert all(f"│ {name} " in done.stdout for name in COMMANDS)


def test_every_command_has_a_module() -> None:
    assert [name for name in COMMANDS if find_spec(MODULES.get(name, f"newsportal.cli.{name}").partition(":")[0]) is None] == []


def test_garbage_is_collected_after_an_import_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "search", "newsportal.cli.nothing")
    with pytest.raises(ModuleNotFoundError):
        main(["search"])
    assert gc.isenabled()


def test_a_misspelt_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = run("serch", cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 2
    assert "Did you mean 'search'" in done.stderr
