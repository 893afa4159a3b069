"""Tables of words and numbers, created once per machine: a file in the user's cache folder, which every process maps into memory.

The table of the dictionary's 349,000 words takes a second to create and 50 MB as a ``dict``; mapped it is available at once, and processes
share its 5 MB. If the folder is not writable, each process creates the table for itself.

    "newsportal words 2 little\\n" padded to 32 bytes   entries n: Q   BLAKE2b of the rest: 24 bytes   n keys, ascending: Q   n numbers: d
"""

import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct
from tempfile import NamedTemporaryFile
from typing import Final

HEAD: Final = Struct("32sQ24s")
MAGIC: Final = f"newsportal words 2 {sys.byteorder}\n".encode()

MAX_CACHED: Final = 50_000  # words cached without a search: those of a few hundred articles


class WordTable:
    """Word → number. Words of up to four characters are their own key, others have a 64-bit hash: 2 of 10¹⁴ unknown words match."""

    def __init__(self, packed: bytes | mmap) -> None:
        """Raises ``ValueError`` for invalid or damaged data."""
        view = memoryview(packed)
        if len(view) < HEAD.size:
            raise ValueError("no table of words")
        magic, entries, digest = HEAD.unpack_from(view)
        body = view[HEAD.size :]
        if magic.rstrip(b"\0") != MAGIC or len(body) != 16 * entries or digest != _digest(body):
            raise ValueError("not a table of words, or damaged")
        self._keys, self._numbers = body[: 8 * entries].cast("Q"), body[8 * entries :].cast("d")
        self.get: Callable[[str], float | None] = lru_cache(maxsize=MAX_CACHED)(self._find)

    def __len__(self) -> int:
        return len(self._keys)

    def _find(self, word: str) -> float | None:
        key = _key(word)
        place = bisect_left(self._keys, key)
        return self._numbers[place] if place < len(self._keys) and self._keys[place] == key else None


def pack(numbers: Mapping[str, float]) -> bytes:
    """Return ``numbers`` as bytes for :class:`WordTable`."""
    entries = sorted((_key(word), number) for word, number in numbers.items())
    body = array("Q", [key for key, _ in entries]).tobytes() + array("d", [number for _, number in entries]).tobytes()
    return HEAD.pack(MAGIC, len(entries), _digest(body)) + body


def cached_table(name: str, made_from: object, make: Callable[[], Mapping[str, float]]) -> WordTable:
    """Return the table of what ``make`` returns, from the cache if present. ``made_from``: all that it depends on (by its ``repr``)."""
    version = blake2b(repr((MAGIC, made_from)).encode(), digest_size=8).hexdigest()
    file_name = f"{name}-{version}.words"
    with (
        suppress(RuntimeError, OSError, ValueError),  # no home folder, no file yet, or a damaged one
        (cache_folder() / file_name).open("rb") as file,
    ):
        return WordTable(mmap(file.fileno(), 0, access=ACCESS_READ))
    packed = pack(make())
    with suppress(RuntimeError, OSError):  # otherwise it is created again next time
        _write(cache_folder() / file_name, packed)
    return WordTable(packed)


def cache_folder() -> Path:
    """Return ``newsportal`` in the user's cache folder (XDG Base Directory). Raises ``RuntimeError`` for a user without a home."""
    folder = os.environ.get("XDG_CACHE_HOME")
    return (Path(folder) if folder else Path.home() / ".cache") / "newsportal"


def _write(path: Path, data: bytes) -> None:
    """Write atomically: other processes may be reading and writing the same table."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.replace(file.name, path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _key(word: str) -> int:
    data = word.encode("utf-16-le", "surrogatepass")
    return int.from_bytes(data if len(data) <= 8 else blake2b(data, digest_size=8).digest(), "little")


def _digest(body: bytes | memoryview) -> bytes:
    return blake2b(body, digest_size=24).digest()
