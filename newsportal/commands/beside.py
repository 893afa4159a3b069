"""A newsportal command as a process of its own beside ``newsportal up``: ended when its time is over, or with the portal."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended. ``failure``: its last line of errors, or that it took too long (``late``); ``None`` if it did its work."""

    output: str
    failure: str | None = None
    late: bool = False


class Beside:
    """One command at a time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._stopped = False

    @property
    def stopped(self) -> bool:
        return self._stopped

    def run(self, command: list[str], most: float) -> Done | None:
        """Run a command for ``most`` seconds at most and wait for it. ``None``: :meth:`stop` ended it."""
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        self._child = subprocess.Popen(command, start_new_session=True, **streams)
        if self._stopped:
            self._child.kill()
        try:
            output, errors = self._child.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()
            return None if self._stopped else Done("", "it took too long", late=True)
        if self._stopped:
            return None
        if not self._child.returncode:
            return Done(output)
        return Done(output, next(iter(errors.strip().splitlines()[-1:]), f"status {self._child.returncode}"))

    def stop(self) -> None:
        """End a command that runs, and let no other begin."""
        self._stopped = True
        if self._child is not None and self._child.poll() is None:
            self._child.kill()


def command(sources: Path | None, *words: str) -> list[str]:
    """``newsportal WORDS`` with the same Python and the same sources."""
    return [sys.executable, "-m", "newsportal", *words, *(() if sources is None else ("--sources", str(sources)))]
