"""A cache of pictures in a folder, with a limit in bytes: the least recently used are removed first.

Several processes may share a folder: files are written under a temporary name and renamed, so a killed process leaves no partial picture; a
file's mtime is its last use; any process that finds the folder too full evicts. A full disk only disables caching.
"""

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

EVICT_FROM, EVICT_TO = 0.9, 0.8
"""Fractions of the limit: eviction begins at the first and ends at the second, so that two processes together stay below the limit."""

RESCAN_AFTER: Final = 0.05  # of the limit: after writing this much, the folder is read again, because other processes write to it, too
MAX_SHARE: Final = 0.1  # of the limit: larger pictures are not cached
PART: Final = ".part"
ABANDONED: Final = 3600.0  # seconds after which an unfinished file is removed
TOUCHED: Final = 3600.0  # seconds: the mtime is updated at most this often


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the folder; ``used``: time of its last use (seconds since 1970)."""

    path: Path
    size: int
    used: float


class PictureCache:
    """Bytes by name (letters, digits, dots; the first two characters are the folder). Thread-safe."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._lock = Lock()
        self._size: float | None = None  # bytes in the folder when it was last read
        self._written = 0
        self._warned = False

    def get(self, name: str) -> bytes | None:
        """Return the bytes, ``None`` if they are not cached."""
        path = self._path(name)
        try:
            body = path.read_bytes()
            if time() - path.stat().st_mtime > TOUCHED:
                os.utime(path)
        except OSError:
            return None
        return body or None  # a power failure may leave an empty file

    def put(self, name: str, body: bytes) -> bool:
        """Cache ``body`` atomically; return whether it succeeded."""
        if len(body) > MAX_SHARE * self.limit:
            return False
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, body)
        except OSError as error:
            if not self._warned:
                self._warned = True
                logger.warning("%s: pictures are not cached (%s); they are fetched again each time", self.folder, error.strerror or error)
            return False
        with self._lock:
            self._written += len(body)
            size = self._size
            if size is None or self._written > RESCAN_AFTER * self.limit or size + self._written > EVICT_FROM * self.limit:
                self._size, self._written = float(self._evict()), 0
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
        """Remove the least recently used files until there is room; return the remaining bytes."""
        files = sorted(self.files(), key=lambda file: (file.used, file.path))
        total = sum(file.size for file in files)
        if total <= EVICT_FROM * self.limit:
            return total
        for file in files:
            if total <= EVICT_TO * self.limit:
                break
            with suppress(OSError):
                file.path.unlink(missing_ok=True)  # another process may be evicting, too
            total -= file.size
        return total

    def files(self) -> Iterator[CachedFile]:
        """Yield the cached files, and remove abandoned temporary files. Other files in the folder are ignored."""
        for path in self.folder.glob("??/*"):
            if not path.name.removeprefix(".").startswith(path.parent.name):
                continue
            try:
                status = path.stat()
                if path.name.endswith(PART) and time() - status.st_mtime > ABANDONED:
                    path.unlink(missing_ok=True)
                    continue
            except OSError:
                continue  # deleted meanwhile
            yield CachedFile(path, status.st_size, status.st_mtime)

    def clear(self) -> tuple[int, int]:
        """Remove all files; return their number and bytes. Raises ``OSError`` if one cannot be removed."""
        files = list(self.files())
        for file in files:
            file.path.unlink(missing_ok=True)
        with self._lock:
            self._size = None
        return len(files), sum(file.size for file in files)

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name
