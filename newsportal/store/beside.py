"""A backup beside its place until it is whole, and what killed backups left there.

Who writes holds the file's lock, which ends with the process, however it ends. So what nobody holds was left by one that is gone; numbers
of processes would not tell: in containers all have the same.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

try:
    import fcntl
except ImportError:  # Windows: what killed backups left stays there
    fcntl = None  # type: ignore[assignment]

DATED: Final = re.compile(r"newsportal-\d{8}-\d{6}\.tar\.zst")
"""How a backup is called in a folder of backups."""

PART: Final = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.part", re.DOTALL)
"""How ``name`` is called until it is whole; the eight characters are those of ``tempfile``."""


@contextmanager
def beside(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file beside ``path``, which its owner alone may read: backups hold passwords. Afterwards it is gone, or in its place.

    What killed backups of this name, or of a folder's dated names, left there is deleted first. Raises ``OSError``.
    """
    for left in leavings(path):
        _let_go(left)
    part, file = _made(path)
    try:
        with file:
            yield part, file
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def leavings(path: Path) -> list[Path]:
    """Files beside ``path`` that are, by their names, such backups before they were whole; some may be written right now."""
    found = ((part, PART.fullmatch(part.name)) for part in path.parent.iterdir())
    return sorted(part for part, told in found if told and (told["name"] == path.name or DATED.fullmatch(told["name"])))


def _let_go(part: Path) -> None:
    """Delete ``part`` unless a process that lives writes it. Where a disk knows no locks, or this user may not, it stays."""
    with suppress(OSError), part.open("rb") as file:  # gone by now, held, or somebody else's: none of it keeps a backup from being made
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _made(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file and its lock. One that another process took for left, before it was locked, is made anew."""
    while True:
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        file = open(number, "wb")  # noqa: SIM115  closed by the caller
        if fcntl is not None:
            with suppress(OSError):  # a disk without locks: nobody deletes it either
                fcntl.flock(file, fcntl.LOCK_EX)
        if Path(name).exists():
            return Path(name), file
        file.close()
