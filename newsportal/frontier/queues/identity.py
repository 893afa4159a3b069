"""Who a worker is, so that its death is seen: its name for people, and its process for this machine."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

_numbers = count(1)

STARTED = 19
"""Where the start of a process stands in ``/proc/PID/stat``, counted from the end of its name (proc(5): the 22nd field)."""


@dataclass(frozen=True, slots=True)
class Identity:
    """``machine``: where ``pid`` means something (host and process namespace). ``started``: when that process began, in the kernel's own
    words, so that another one with its number is not taken for it; ``None`` where the system does not tell."""

    name: str
    machine: str
    pid: int
    started: str | None


def identity() -> Identity:
    """A worker of this process, with a number of its own: HOST:PID:NUMBER."""
    pid = os.getpid()
    return Identity(f"{platform.node() or 'localhost'}:{pid}:{next(_numbers)}", machine(), pid, started(pid))


@cache
def machine() -> str:
    """The host's name and, in Linux, its process namespace: containers may share a name and count processes apart."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()}|{space}"


def started(pid: int) -> str | None:
    """When process ``pid`` began; ``None`` if there is none, or the system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[STARTED]
    except (OSError, IndexError):
        return None


def gone(worker: Identity) -> bool:
    """Whether its process is known to be no more. False for one of another machine: there only silence tells."""
    if worker.machine != machine() or os.name == "nt":  # Windows has no harmless question: os.kill ends the process
        return False
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's process: it is there
        pass
    return worker.started is not None and started(worker.pid) != worker.started
