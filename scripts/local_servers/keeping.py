"""Servers shared by many processes. Each has a keeper: a process that starts it, writes its state to a file, and stops it on a signal, when
no process holds the lock file any more, and when the keeper itself is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local_servers import KINDS
from local_servers.machine import Missing, is_running, scratch, send_signal
from local_servers.running import START_SECONDS, STOP_SECONDS, Server

SCRIPT = Path(__file__).resolve().parents[1] / "servers"
LOOK_SECONDS = 0.2
"""Seconds between two checks whether a server is alive and needed."""

State = dict[str, Any]
"""``name``, ``keeper`` and ``pid`` (processes), ``port``, ``uri``, ``version``, ``folder``; or ``error``, in one line or more."""


def state_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def state(folder: Path, name: str) -> State | None:
    """Return what the keeper of ``name`` wrote, while it is alive."""
    try:
        saved: State = json.loads(state_file(folder, name).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return saved if "error" in saved or is_running(saved["keeper"]) else None


def write_state(folder: Path, name: str, content: State) -> None:
    part = state_file(folder, name).with_suffix(".part")
    part.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
    os.replace(part, state_file(folder, name))


def keep(name: str, folder: Path, held: Path | None) -> int:
    """Run the server ``name`` until a signal stops it or, with ``held``, until no other process holds that file's lock.

    With ``held`` the server's data are deleted afterwards.
    """
    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: ended.append(number))
    data = scratch(name) if held else folder / name
    data.mkdir(exist_ok=True)
    server = Server(KINDS[name], data)
    try:
        server.start()
        facts = {"name": name, "keeper": os.getpid(), "pid": server.process.pid if server.process else 0, "port": server.port}
        write_state(folder, name, {**facts, "uri": server.url(), "version": server.kind.version(), "folder": str(data)})
        with watch_lock(held) as still:
            while server.alive and not ended and still():
                time.sleep(LOOK_SECONDS)
            state_file(folder, name).unlink(missing_ok=True)
        if not server.alive:
            write_state(folder, name, {"error": f"{name} ended by itself; the end of its log:\n{server.place.tail}"})
    except Missing as error:
        write_state(folder, name, {"error": str(error)})
    finally:
        server.stop()
        if held:
            shutil.rmtree(data, ignore_errors=True)
    return 0


@contextmanager
def watch_lock(held: Path | None):
    """Yield a function that returns whether another process holds the lock; once free, it stays locked until the server has stopped."""
    if held is None:
        yield lambda: True
        return
    with held.open("a") as file:

        def still() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

        yield still


def start(name: str, folder: Path, held: Path | None = None) -> State:
    """Start ``name`` unless it runs; return its state, ``{"error": ...}`` if it is not available. Safe for concurrent calls."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (running := state(folder, name)) is not None and (held or "error" not in running):
            return running
        state_file(folder, name).unlink(missing_ok=True)
        command = [sys.executable, str(SCRIPT), "keep", name, "--folder", str(folder), *(("--held", str(held)) if held else ())]
        with (folder / f"{name}.keeper.log").open("ab") as log:
            keeper = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return wait_for_state(keeper, folder, name)


def wait_for_state(keeper: subprocess.Popen[bytes], folder: Path, name: str) -> State:
    until = time.monotonic() + 2 * START_SECONDS
    while (found := state(folder, name)) is None:
        if keeper.poll() is not None and state(folder, name) is None:
            return {"error": f"{name} could not be started: {(folder / f'{name}.keeper.log').read_text('utf-8', 'replace')[-500:]}"}
        if time.monotonic() > until:
            keeper.terminate()
            return {"error": f"{name} did not start within {2 * START_SECONDS} s"}
        time.sleep(0.05)
    keeper.returncode = 0  # nobody waits for it: it outlives this process
    return found


def stop(name: str, folder: Path) -> bool:
    """Stop ``name`` and wait for its end; return whether it ran."""
    running = state(folder, name)
    if running is None or "error" in running:
        state_file(folder, name).unlink(missing_ok=True)
        return False
    send_signal(running["keeper"], signal.SIGTERM)
    until = time.monotonic() + 2 * STOP_SECONDS
    while is_running(running["keeper"]) and time.monotonic() < until:
        time.sleep(0.05)
    if is_running(running["keeper"]):
        send_signal(running["keeper"], signal.SIGKILL)  # its server goes with it
    state_file(folder, name).unlink(missing_ok=True)
    return True
