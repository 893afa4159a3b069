"""Chromium is found, or what is missing is reported; its processes are recognised."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from newsportal.errors import RenderFailed
from newsportal.net.rendering import Chromium, Limits, find_chromium, missing_parts
from newsportal.net.rendering import chromium as rendering
from newsportal.net.rendering.chromium import MemoryMonitor, Setup, process_tree


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only entry of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("NEWSPORTAL_CHROMIUM", raising=False)
    return tmp_path


def _program(folder: Path, name: str) -> str:
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o700)
    return str(file)


def test_browser_from_environment_then_file_then_system(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_chromium() is None
    chrome, chromium, configured = (_program(programs, name) for name in ("google-chrome", "chromium", "own"))
    assert find_chromium() == chromium
    assert find_chromium(configured) == configured
    assert find_chromium("google-chrome") == chrome
    monkeypatch.setenv("NEWSPORTAL_CHROMIUM", chrome)
    assert find_chromium(configured) == chrome


def test_named_browser_that_is_missing_is_not_replaced(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(programs, "chromium")
    assert find_chromium("/nowhere/chromium") is None
    assert "fix NEWSPORTAL_CHROMIUM or rendering.browser" in str(missing_parts("/nowhere/chromium"))


def test_missing_parts_are_reported_with_commands(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sudo apt install chromium" in str(missing_parts())
    monkeypatch.setattr(rendering, "find_spec", lambda name: None)
    assert "'.[render]'" in str(missing_parts())
    _program(programs, "chromium")
    assert "apt install" not in str(missing_parts())
    monkeypatch.setattr(rendering, "find_spec", lambda name: object())
    assert missing_parts() is None


def test_browser_that_cannot_start_is_tried_once(programs: Path) -> None:
    async def start() -> list[str]:
        chromium = Chromium(Setup(Limits()))
        reasons = []
        for _ in range(2):
            with pytest.raises(RenderFailed) as caught:
                await chromium.ensure_started()
            reasons.append(caught.value.reason)
        assert caught.value is chromium._failure
        await chromium.close()
        return reasons

    assert asyncio.run(start()) == ["no-browser"] * 2


def test_javascript_heap_is_a_part_of_the_memory_limit() -> None:
    assert Limits(memory=1 << 30).heap_megabytes == 512
    assert Limits(memory=200 << 20).heap_megabytes == 100
    assert Limits(memory=1 << 20).heap_megabytes == 64


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_watch_finds_processes_and_kills_a_large_page() -> None:
    page = "import sys; kept = bytearray(80_000_000); print('ready', flush=True); sys.stdin.read()"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {page!r}, '--type=renderer'])"
    with subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        found = process_tree(process.pid)
        assert len(found) == 2
        assert os.getpid() not in found
        watch = MemoryMonitor(1 << 40)
        assert not watch.check()
        watch.start(process.pid)
        assert not watch.check()
        assert watch.peak > 80_000_000
        small = MemoryMonitor(50_000_000)
        small.start(process.pid)
        assert small.check()
        assert process.wait(600) == 0  # its page was killed, and it ended by itself
        assert small.stop() == process.pid
        assert small.stop() is None
