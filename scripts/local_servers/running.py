"""One server: started, waited for, killed, started again."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_servers.machine import UNPRIVILEGED, Missing, is_running, send_signal

TIED = Path(__file__).with_name("tied.py")

PORTS = range(12_000, 22_000)
"""Below the ports that outgoing connections get (32768 and up): a server that was killed finds its own still free; so do nodes of a Redis
Cluster, which listen at the port 10,000 above, too."""

START_SECONDS = 180
"""Seconds within which a server must answer. Elasticsearch takes 12 s on two idle cores; a loaded machine several times as long."""

STOP_SECONDS = 20
TAIL_LINES = 12


@dataclass(frozen=True)
class Place:
    """The folder and port of a server."""

    folder: Path
    port: int

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def tail(self) -> str:
        """Return the last lines of the server's log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-TAIL_LINES:])


def free_port() -> int:
    for port in random.SystemRandom().sample(PORTS, 200):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Missing("no free port on 127.0.0.1")


def user() -> str | None:
    """Return the user that servers run as: another one only for root."""
    return UNPRIVILEGED if os.geteuid() == 0 else None


def own(folder: Path) -> None:
    """Give ``folder`` with its content to the servers' user, who must be able to reach it."""
    name = user()
    if name is None:
        return
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, pwd.getpwnam(name).pw_uid, pwd.getpwnam(name).pw_gid)


def tied(*command: str) -> list[str]:
    """Return ``command`` run by the servers' user, ending with this process."""
    return [sys.executable, "-I", "-S", str(TIED), str(os.getpid()), user() or "-", *command]


def prepared(task: str, place: Place, *command: str) -> None:
    """Run a program that creates a server's data, as the servers' user."""
    options = {"cwd": place.folder, "env": server_environment(place)}
    done = subprocess.run(tied(*command), capture_output=True, text=True, timeout=300, check=False, **options)
    if done.returncode != 0:
        raise Missing(f"{task} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def server_environment(place: Place) -> dict[str, str]:
    """Return the environment of a server: this process's, with a home of the server's own."""
    return {**os.environ, "HOME": str(place.folder), "LC_ALL": "C.UTF-8"}


class Server:
    """A server of ``kind`` in ``folder``, which is made. ``kill`` and ``start`` may be called as often as wished; data and port stay."""

    def __init__(self, kind: Any, folder: Path) -> None:
        self.kind = kind
        folder.mkdir(parents=True, exist_ok=True)
        self.place = Place(folder, free_port())
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return str(self.kind.NAME)

    @property
    def port(self) -> int:
        return self.place.port

    def url(self, database: str = "newsportal") -> str:
        return str(self.kind.uri(self.port, database))

    def start(self, *options: str) -> None:
        """Start the server and wait until it answers. Raises ``Missing`` with the end of its log."""
        if self.process is not None:
            return
        self.kind.programs()
        self._prepare()
        with self.place.log.open("ab") as log:
            self.process = subprocess.Popen(
                tied(*self.kind.command(self.place), *options), cwd=self.place.folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, env={**server_environment(self.place), **getattr(self.kind, "environment", dict)()},
                start_new_session=True,
            )  # fmt: skip
        self._wait()

    def _prepare(self) -> None:
        """Create its data unless that is done; incomplete data are deleted."""
        done = self.place.folder / "prepared"
        if done.exists():
            return
        for path in self.place.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.place.data.mkdir(mode=0o700)
        own(self.place.folder)
        self.kind.prepare(self.place)
        done.touch()

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.alive or time.monotonic() > until:
                reason = "does not answer" if self.alive else "ended at once"
                self.kill()
                raise Missing(f"{self.name} {reason}; the end of its log ({self.place.log}):\n{self.place.tail}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return bool(self.kind.answers(self.port))
        except (OSError, ValueError):
            return False

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """Kill the server with all its processes (SIGKILL), without any shutdown."""
        if self.process is None:
            return
        pids = [self.process.pid, *descendants(self.process.pid)]
        for pid in pids:
            send_signal(pid, signal.SIGKILL)
        self.process.wait()
        wait_for_exit(pids)
        self.process = None

    def stop(self) -> None:
        """Shut it down; if that takes too long, kill it."""
        if self.process is None:
            return
        send_signal(self.process.pid, self.kind.STOP)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def remove(self) -> None:
        """Stop it and delete its files."""
        self.stop()
        shutil.rmtree(self.place.folder, ignore_errors=True)


def wait_for_exit(pids: list[int], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while any(is_running(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """Return all descendants of the process ``pid``."""
    children: dict[int, list[int]] = {}
    for child, parent in parents():
        children.setdefault(parent, []).append(child)
    pids = [pid]
    for process in pids:
        pids.extend(children.get(process, ()))
    return pids[1:]


def parents() -> list[tuple[int, int]]:
    """Return (process, its parent) of all processes."""
    if sys.platform != "linux":
        output = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
        return [(int(pid), int(parent)) for pid, parent in (line.split() for line in output.splitlines())]
    pairs = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        pairs.append((int(path.parent.name), int(fields[1])))
    return pairs
