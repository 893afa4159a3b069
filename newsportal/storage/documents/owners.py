"""Who writes: a process, as others see it."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

PROC = Path("/proc")


@dataclass(frozen=True)
class Owner:
    """``home``: the running system whose process numbers ``pid`` is one of (empty where that cannot be told); ``started``: when the process
    began, in that system's own count; ``name``: which store of the process."""

    host: str
    home: str
    pid: int
    started: str
    name: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def here() -> Owner:
    """This process, and a store that is opened in it."""
    pid = os.getpid()
    return Owner(platform.node(), _home(), pid, _started(pid) or "", uuid4().hex)


def told(owner: Owner) -> str:
    return json.dumps(asdict(owner))


def heard(text: str) -> Owner:
    """The owner of :func:`told`."""
    return Owner(**json.loads(text))


def dead(owner: Owner) -> bool:
    """Whether its process is known to have ended. Of processes of other systems nothing is known."""
    if not owner.home or owner.home != _home():
        return False
    return _started(owner.pid) != owner.started


def _home() -> str:
    """The boot and the space of process numbers that we live in (containers have their own)."""
    try:
        return f"{(PROC / 'sys/kernel/random/boot_id').read_text().strip()} {(PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When a process began, in ticks since the boot (field 22 of ``stat``); ``None`` if there is no such process."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
