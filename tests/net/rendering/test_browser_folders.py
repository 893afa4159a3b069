"""The browser's temporary folder: a place where programs may run; leftovers of killed crawls are deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from newsportal.net.rendering import chromium


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path]]:
    """Create folders with these names and make them the only candidates."""

    def make(*names: str) -> list[Path]:
        folders = [tmp_path / name for name in names]
        monkeypatch.setattr(chromium, "folder_candidates", lambda: iter(folders))
        return folders

    return make


def test_folder_without_execute_permission_is_skipped(places: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    (bare, other) = places("bare", "other")
    monkeypatch.setattr(chromium, "runs_programs", lambda place: place != bare)
    found = chromium.new_folder()
    assert found.parent == other
    assert found.stat().st_mode & 0o777 == 0o700
    assert list(bare.iterdir()) == []


def test_error_without_usable_folder_names_tmpdir(places: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    (blocked, bare) = places("blocked", "bare")
    blocked.write_text("a file in its place")
    monkeypatch.setattr(chromium, "runs_programs", lambda place: False)
    with pytest.raises(OSError, match="name a folder in TMPDIR") as caught:
        chromium.new_folder()
    assert str(bare) in str(caught.value)


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="needs a file system mounted noexec")
def test_noexec_file_system_is_detected(tmp_path: Path) -> None:
    noexec = "noexec" in next(line for line in Path("/proc/mounts").read_text().splitlines() if line.split()[1] == "/proc")
    assert chromium.runs_programs(Path("/proc")) is not noexec
    assert not chromium.runs_programs(tmp_path / "nowhere")


def test_system_temporary_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chromium.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert list(chromium.folder_candidates())[:2] == [tmp_path, tmp_path / "cache"]


def test_folders_of_dead_browsers_are_deleted(places: Callable[..., list[Path]]) -> None:
    (place,) = places("place")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    for name, pid in {"dead": f"{ended.pid} 1", "alive": f"{os.getpid()} 1", "starting": None, "never": None, "torn": ""}.items():
        folder = place / f"newsportal-browser-{name}"
        folder.mkdir(parents=True)
        if pid is not None:
            (folder / "pid").write_text(pid)
    for name in ("never", "torn"):
        os.utime(place / f"newsportal-browser-{name}", (1, 1))
    (place / "newsportal-else").mkdir()
    chromium.remove_abandoned_folders()
    assert sorted(folder.name for folder in place.iterdir()) == [
        "newsportal-browser-alive",
        "newsportal-browser-starting",
        "newsportal-else",
    ]
