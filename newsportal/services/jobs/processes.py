"""Processes of this machine, known by their number and by when they began."""

from __future__ import annotations

import os
import signal
from pathlib import Path

STARTED = 19
"""Where the start of a process stands in ``/proc/PID/stat``, counted from the end of its name (proc(5): the 22nd field)."""


def born(pid: int) -> str | None:
    """When the process began, in the kernel's own words; ``None`` if there is none, it is dead already, or the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[STARTED] if len(fields) > STARTED and fields[0] != "Z" else None


def alive(pid: int, since: str | None) -> bool:
    """Whether the process that began then still runs. Where the system does not tell, any of that number counts."""
    if since is not None:
        return born(pid) == since
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def interrupt(pid: int) -> bool:
    """Ask a process to end in order, as Ctrl-C does. False if it is gone."""
    try:
        os.kill(pid, signal.SIGINT)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_group(pid: int) -> bool:
    """End a process at once, and those it started: its session is its own. False if it is gone."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True
