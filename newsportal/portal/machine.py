"""What the portal takes of its machine: memory, disk, the files of store, index and caches."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from newsportal.sources import Sources
from newsportal.sources.parts import Alerting
from newsportal.store.dialect_sqlite import sqlite_file

BESIDE: Final = ("-wal", "-shm")
"""What SQLite keeps beside a file."""

MANY: Final = 20_000
"""Files of a folder that are added up; a cache of more is told as "at least"."""


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes on disk of a part; ``None``: it lies on a server."""

    name: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of the disk on which the store lies. ``low``: less is free than ``alerts.disk_free`` says."""

    free: int
    total: int
    low: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """Bytes. ``disk_free``, ``disk_total``: of the disk on which the store lies. ``low``: less is free than ``alerts.disk_free`` says.
    ``beside``: memory of processes that this one has started (crawls, trainings). ``load``: processes that wanted a processor, on average
    over the last minute, by processor; 1 is all of them busy."""

    memory: int
    beside: int
    load: float
    machine_memory: int
    machine_available: int
    threads: int
    disk_free: int
    disk_total: int
    low: bool
    sizes: tuple[Size, ...]

    @property
    def free_share(self) -> float:
        return self.disk_free / self.disk_total if self.disk_total else 1.0


def machine(sources: Sources | None) -> Machine:
    """As it is now. Raises ``OSError`` where the disk does not tell."""
    process, memory = psutil.Process(), psutil.virtual_memory()
    parts = files(sources) if sources is not None else []
    found = disk(sources)
    return Machine(
        process.memory_info().rss,
        _beside(process),
        psutil.getloadavg()[0] / (psutil.cpu_count() or 1),
        memory.total,
        memory.available,
        process.num_threads(),
        found.free,
        found.total,
        found.low,
        tuple(Size(name, size_of(file) if file is not None else None) for name, file in parts),
    )


def _beside(process: psutil.Process) -> int:
    found = 0
    for child in process.children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            found += child.memory_info().rss
    return found


def disk(sources: Sources | None) -> Disk:
    """How full it is now. Raises ``OSError`` where the disk does not tell."""
    parts = files(sources) if sources is not None else []
    folder = next((file.parent for _, file in parts if file is not None and file.parent.is_dir()), Path.cwd())
    found = psutil.disk_usage(str(folder))
    least = sources.alerts.disk_free if sources is not None else Alerting().disk_free
    return Disk(found.free, found.total, found.total > 0 and 100 * found.free / found.total < least)


def files(sources: Sources) -> list[tuple[str, Path | None]]:
    """The parts that lie on disk, by what they are."""
    return [
        ("store", sqlite_file(sources.store)),
        ("index", sqlite_file(sources.index_uri)),
        ("accounts", sqlite_file(sources.accounts_uri)),
        ("known", sources.known_file),
        ("archive", sources.archive),
    ]


def size_of(file: Path) -> int:
    """A file with what SQLite keeps beside it, or all files of a folder; what is not there has none."""
    if file.is_dir():
        return sum(_bytes(path) for path in _some(file))
    return _bytes(file) + sum(_bytes(Path(f"{file}{ending}")) for ending in BESIDE)


def _bytes(file: Path | str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:  # gone meanwhile, or never there
        return 0


def _some(folder: Path) -> Iterable[str]:
    seen = 0
    for place, _, names in os.walk(folder):
        for name in names:
            seen += 1
            if seen > MANY:
                return
            yield os.path.join(place, name)
