"""Programs of this machine, and the installation of further ones."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

UNPRIVILEGED = "nobody"
"""User that servers run as when root starts them: PostgreSQL and Elasticsearch refuse root, the others do not need it."""

MEMORY = Path("/dev/shm")
MEMORY_ROOM = 2 * 1024**3
"""Minimum free bytes of memory for using it as the servers' disk. In the tests all five write less than half a gigabyte."""


class Missing(Exception):
    """Raised for a server that is not available. The message is one line with the reason and a remedy."""


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def cache() -> Path:
    """Return the folder of built and downloaded servers. The servers' user cannot read root's own cache, so root uses the machine's."""
    if "XDG_CACHE_HOME" in os.environ:
        base = Path(os.environ["XDG_CACHE_HOME"])
    else:
        base = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
    return base / "newsportal" / "servers"


def scratch(name: str) -> Path:
    """Create a temporary folder for a server's data: in memory if there is room, as databases wait long for a disk.

    Folders of killed processes are removed.
    """
    free = shutil.disk_usage(MEMORY).free if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else 0
    parent = MEMORY if free >= MEMORY_ROOM else Path(tempfile.gettempdir())
    for old in parent.glob("newsportal-*-*-*"):
        owner = old.name.split("-")[2]
        if owner.isdigit() and not is_running(int(owner)):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"newsportal-{name}-{os.getpid()}-", dir=parent))
    folder.chmod(0o755)  # the server's user is another
    return folder


def is_running(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return sys.platform != "linux" and send_signal(pid, 0)


def send_signal(pid: int, number: int) -> bool:
    """Send a signal; return whether the process existed."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def program(*names: str, folders: Sequence[Path] = ()) -> str | None:
    """Return the first existing program of ``names``, in ``folders`` or on the path (and in administrators' directories)."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def output(*command: str) -> str:
    """Return a program's answer to the request for its version."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout or done.stderr).strip()


def run(task: str, *command: str, cwd: Path | None = None, seconds: float = 1800, **environment: str) -> None:
    """Run a program to its end, quietly. Raises :class:`Missing` with its last line if it fails."""
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=seconds, check=False, env={**os.environ, **environment}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{task} failed: {error}") from error
    if done.returncode != 0:
        lines = [line for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
        raise Missing(f"{task} failed: {lines[-1].strip()[:300] if lines else f'status {done.returncode}'}")


def apt(*packages: str) -> None:
    """Install packages of Debian or Ubuntu, as root; their services are not started if the system obeys the run level."""
    command = f"apt install {' '.join(packages)}"
    if program("apt-get") is None:
        raise Missing(f"install {' '.join(packages)} with this system's package manager")
    if os.geteuid() != 0:
        raise Missing(f"install it with: sudo {command}")
    say(f"installing {' '.join(packages)} ...")
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    run("apt-get update", "apt-get", "update", "-qq", **quiet)
    run(command, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, **quiet)


def sha512(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha512").hexdigest()


@contextmanager
def alone(folder: Path):
    """Lock ``folder``: one process at a time creates its content."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
