"""What the browser's processes hold, and the end of the largest page when it is too much.

V8 limits the objects of one page's scripts; pictures, buffers and the tree of elements have no limit but this one.
"""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
RENDERER: Final = b"--type=renderer"  # In the command line of the process of a page


class Watch:
    """Of one browser, by its process number; where there is no ``/proc``, nothing is measured and nothing closed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pid: int | None = None
        self.peak = 0
        self.closed = 0

    def begin(self, pid: int) -> None:
        self._pid = pid

    def end(self) -> int | None:
        pid, self._pid = self._pid, None
        return pid

    def look(self) -> bool:
        """Close the largest page if all together hold too much; whether one was closed."""
        if self._pid is None:
            return False
        held = {pid: _held(pid) for pid in family(self._pid)}
        total = sum(held.values())
        self.peak = max(self.peak, total)
        pages = [pid for pid in held if RENDERER in _command(pid)]
        if total <= self._most or not pages:
            return False
        with suppress(ProcessLookupError):
            os.kill(max(pages, key=lambda pid: held[pid]), signal.SIGKILL)
        self.closed += 1
        return True


def family(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for entry in PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            children[int(entry.read_text().rpartition(")")[2].split()[1])].append(int(entry.parent.name))
    found = [pid]
    for one in found:
        found.extend(children[one])
    return found


def _held(pid: int) -> int:
    """Bytes of its own: not those of files and libraries that processes share."""
    with suppress(OSError, ValueError, IndexError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes()
    return b""
