"""``scripts/servers``: servers run as long as they are needed and leave nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from local_servers import KINDS, Missing, commands, elasticsearch, machine, mongodb, redis
from local_servers.machine import is_running
from servers import own_server, servers_of

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "servers"
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="no server: redis: install it with make tools")


def run_script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=600, check=False)


def wait_until(reached: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 600
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for the servers of a test, removed afterwards. Their user may not access the folders of pytest."""
    scratch = machine.scratch("test")
    yield scratch
    run_script("stop", "--folder", str(scratch))
    shutil.rmtree(scratch)


@pytest.mark.slow
@needs_redis
class TestLife:
    def started(self, folder: Path) -> dict[str, Any]:
        done = run_script("start", "redis", "--json", "--folder", str(folder))
        assert (done.returncode, done.stderr) == (0, "")
        server: dict[str, Any] = json.loads(done.stdout)["redis"]
        assert redis.answers(server["port"])
        return server

    def test_start_status_and_stop(self, folder: Path) -> None:
        server = self.started(folder)
        assert self.started(folder) == server, "it is already running"
        assert json.loads(run_script("status", "redis", "--json", "--folder", str(folder)).stdout)["redis"]["state"] == "running"
        assert run_script("env", "redis", "--folder", str(folder)).stdout == f"export NEWSPORTAL_REDIS={server['uri']}\n"
        assert run_script("stop", "redis", "--folder", str(folder)).stdout == "redis: stopped\n"
        assert not is_running(server["pid"])
        assert not is_running(server["keeper"])
        assert json.loads(run_script("status", "redis", "--json", "--folder", str(folder)).stdout)["redis"]["state"] == "installed"

    def test_server_ends_with_its_keeper(self, folder: Path) -> None:
        server = self.started(folder)
        os.kill(server["keeper"], signal.SIGKILL)
        wait_until(lambda: not is_running(server["pid"]))
        again = self.started(folder)
        assert again["keeper"] != server["keeper"]

    def test_foreground_server_ends_with_parent(self, folder: Path) -> None:
        words = [sys.executable, str(SCRIPT), "start", "redis", "--foreground", "--folder", str(folder)]
        code = f"import subprocess, time; subprocess.Popen({words!r}); time.sleep(600)"
        parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
        wait_until(lambda: (folder / "redis.json").exists())
        server = json.loads((folder / "redis.json").read_text())
        time.sleep(1.0)  # seconds, until the keeper watches
        parent.kill()
        parent.wait()
        wait_until(lambda: not is_running(server["pid"]))
        wait_until(lambda: not is_running(server["keeper"]))

    def test_killed_run_leaves_no_server(self, tmp_path: Path) -> None:
        code = (
            f"import sys, time; from pathlib import Path; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            "from servers import servers_of\n"
            f"with servers_of(Path({str(tmp_path)!r})) as servers:\n    print(servers.url('redis'), flush=True); time.sleep(600)"
        )
        runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        addresses = {run.stdout.readline() for run in runs if run.stdout is not None}
        assert len(addresses) == 1, "two processes of a run share one server"
        state = json.loads((tmp_path / "servers" / "redis.json").read_text())
        runs[0].kill()
        runs[0].communicate()
        time.sleep(1.0)  # seconds: five polls of the keeper
        assert redis.answers(state["port"]), "the other process still needs it"
        runs[1].kill()
        runs[1].communicate()
        wait_until(lambda: not is_running(state["pid"]))
        wait_until(lambda: not Path(state["folder"]).exists())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if name != "elasticsearch"])
def test_server_restarts_at_same_address(name: str) -> None:
    """Elasticsearch starts slowly; ``search/test_elastic.py`` tests the same for it."""
    with own_server(name) as server:
        address = server.url("somewhere")
        assert server.kind.answers(server.port)
        server.kill()
        with pytest.raises(OSError):
            server.kind.answers(server.port)
        server.start()
        assert server.kind.answers(server.port)
        assert server.url("somewhere") == address
        folder = server.place.folder
    assert not folder.exists()


@pytest.mark.slow
def test_failed_start_is_reported_with_log(servers: Any) -> None:
    with own_server("redis") as server:
        server.kill()
        with pytest.raises(Missing, match=r"redis ended at once; the end of its log[\s\S]*no-such-option"):
            server.start("--no-such-option", "1")


def test_leftovers_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    monkeypatch.setattr(machine, "MEMORY", tmp_path)
    monkeypatch.setattr(machine, "MEMORY_ROOM", 0)
    for owner in (ended.pid, os.getpid()):
        (tmp_path / f"newsportal-redis-{owner}-x").mkdir()
    created = machine.scratch("redis")
    assert {path.name for path in tmp_path.iterdir()} == {created.name, f"newsportal-redis-{os.getpid()}-x"}


class TestMissing:
    def test_remedy_is_one_line(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
        for kind in ("redis", "mariadb", "postgresql", "elasticsearch"):
            monkeypatch.setattr(f"local_servers.{kind}.program", lambda *_, **__: None)
        monkeypatch.setattr(mongodb, "program", lambda *_, **__: None)
        monkeypatch.setattr(machine, "program", lambda *_, **__: "/usr/bin/apt-get")
        monkeypatch.setattr(mongodb, "cache", lambda: Path("/nowhere"))
        monkeypatch.setattr(elasticsearch, "java", lambda: Path("/usr"))
        monkeypatch.setattr(elasticsearch, "fetched", lambda: machine.apt("maven"))
        monkeypatch.setattr(elasticsearch, "home", lambda: Path("/nowhere"))
        monkeypatch.setattr(elasticsearch, "cache", lambda: Path.cwd() / ".pytest_cache")
        assert commands.main(["install"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(":")[0] for line in lines] == list(KINDS)
        assert all("cannot be had, its tests will be skipped: install it with: sudo apt install " in line for line in lines), lines

    def test_unknown_server_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            commands.main(["start", "oracle"])
        assert "no server 'oracle'; supported: redis, postgresql" in capsys.readouterr().err

    def test_archive_with_wrong_checksum_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(elasticsearch, "cache", lambda: tmp_path)
        monkeypatch.setattr(elasticsearch, "program", lambda *_: "/bin/mvn")
        archive = tmp_path / f"elasticsearch-{elasticsearch.VERSION}.zip"
        monkeypatch.setattr(elasticsearch, "run", lambda *_, **__: archive.write_bytes(b"PK"))
        with pytest.raises(Missing, match="its checksum is another"):
            elasticsearch.fetched()
        assert not archive.exists()

    def test_missing_server_skips_test(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("servers.keeping.start", lambda *_, **__: {"error": "no redis-server;\ninstall it"})
        with servers_of(tmp_path) as shared, pytest.raises(pytest.skip.Exception, match=r"^no server: redis: no redis-server; install it$"):
            shared.url("redis")
