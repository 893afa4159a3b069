"""A folder of pictures, bounded in bytes: what was asked for longest ago goes first.

Several processes may use one folder: files are written beside their place and moved there whole, so a killed one leaves no half
picture; the time of each is when it was last asked for; whoever finds the folder too full makes room. A disk that is full costs
nothing but the keeping.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from threading import Lock
from time import time
from typing import Final

logger = logging.getLogger(__name__)

FILLED, LEFT = 0.9, 0.8
"""Of the limit: from the first on room is made, down to the second, so that two processes together stay below the whole."""

UNSEEN: Final = 0.05  # of the limit: after so much was written, the folder is looked through again, for others write there too
LARGEST: Final = 0.1  # of the limit: what is larger is not kept
PART: Final = ".part"
ABANDONED: Final = 3600.0  # seconds after which a file that was being written has nobody who writes it
TOUCHED: Final = 3600.0  # seconds: a picture asked for more often is not marked anew each time


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the folder; ``used``: when it was last asked for (seconds since 1970)."""

    path: Path
    size: int
    used: float


class PictureCache:
    """Bytes by name (letters, digits, dots; the first two are the folder). Thread-safe."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._lock = Lock()
        self._known: float | None = None  # bytes in the folder when it was last looked through
        self._written = 0
        self._told = False

    def get(self, name: str) -> bytes | None:
        """``None`` for what is not there."""
        path = self._path(name)
        try:
            body = path.read_bytes()
            if time() - path.stat().st_mtime > TOUCHED:
                os.utime(path)
        except OSError:
            return None
        return body or None  # a power cut may leave a name without content

    def put(self, name: str, body: bytes) -> bool:
        """Keep ``body``; whether that worked. It is there whole or not at all."""
        if len(body) > LARGEST * self.limit:
            return False
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, body)
        except OSError as error:
            if not self._told:
                self._told = True
                logger.warning("%s: pictures are not kept (%s); they are fetched anew each time", self.folder, error.strerror or error)
            return False
        with self._lock:
            self._written += len(body)
            known = self._known
            if known is None or self._written > UNSEEN * self.limit or known + self._written > FILLED * self.limit:
                self._known, self._written = float(self._evict()), 0
        return True

    def _write(self, path: Path, body: bytes) -> None:
        handle, name = mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise

    def _evict(self) -> int:
        """Remove what was used longest ago until there is room; answers the bytes that are left."""
        kept = sorted(self.files(), key=lambda one: (one.used, one.path))
        total = sum(one.size for one in kept)
        if total <= FILLED * self.limit:
            return total
        for one in kept:
            if total <= LEFT * self.limit:
                break
            with suppress(OSError):
                one.path.unlink(missing_ok=True)  # another process may be at it as well
            total -= one.size
        return total

    def files(self) -> Iterator[CachedFile]:
        """What is kept; files that nobody finished writing are removed on the way. What others keep in this folder is none of ours."""
        for path in self.folder.glob("??/*"):
            if not path.name.removeprefix(".").startswith(path.parent.name):
                continue
            try:
                found = path.stat()
                if path.name.endswith(PART) and time() - found.st_mtime > ABANDONED:
                    path.unlink(missing_ok=True)
                    continue
            except OSError:
                continue  # gone meanwhile
            yield CachedFile(path, found.st_size, found.st_mtime)

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers how many files of how many bytes. Raises ``OSError`` for what cannot be removed."""
        found = list(self.files())
        for one in found:
            one.path.unlink(missing_ok=True)
        with self._lock:
            self._known = None
        return len(found), sum(one.size for one in found)

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name
