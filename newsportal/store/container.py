"""The files of a backup in one file: a zip, or a tar packed with zstd, written beside its place until it is whole. Nothing is ever unpacked
to a disk.

What is read comes from anywhere: a name that could lead out of a folder, a link, a device, a second file of one name, a file that is longer
than it may be, and bytes without end are refused before they are looked at. A tar's headers are read here and not by ``tarfile``, which
takes as much memory as they ask for.

The writing process holds the file's lock, which ends with it, however it ends. So what nobody holds was left by a killed backup; numbers
of processes would not tell: in containers all have the same.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from newsportal.errors import BackupError

try:
    import fcntl
except ImportError:  # Windows: what killed backups left stays there
    fcntl = None  # type: ignore[assignment]

DATED: Final = re.compile(r"newsportal-\d{8}-\d{6}\.tar\.zst")  # how a backup is called in a folder of backups
PART: Final = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.part", re.DOTALL)
"""How ``name`` is called until it is whole; the eight characters are those of ``tempfile``."""


@contextmanager
def new_file(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file beside ``path``, which its owner alone may read: backups hold passwords. Afterwards it is gone, or in its place.

    What killed backups of this name, or of a folder's dated names, left there is deleted first. Raises ``OSError``.
    """
    for left in leavings(path):  # unless a process that lives writes it. Where a disk knows no locks, or this user may not, it stays
        with suppress(OSError), left.open("rb") as held:  # gone by now, held, or somebody else's: none of it keeps a backup from being made
            if fcntl is not None:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
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
    return sorted(part for part, match in found if match and (match["name"] == path.name or DATED.fullmatch(match["name"])))


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


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAME: Final = re.compile(r"manifest\.json|sources\.yaml|records/[a-z_]{1,60}/\d{6}\.jsonl")  # every name that a backup may hold
PIECE: Final = 8 * 1024 * 1024  # bytes of rows after which the next file begins
LONGEST: Final = 256 * 1024 * 1024
"""Bytes of the longest file: rows up to :data:`PIECE`, and one more that may be long. An article has at most 16 MB of text."""

UNPACKED: Final = 1024
"""Times the size of the backup that all of its files may have: texts pack to a fifth, the same row again and again to a thousandth."""

SMALL: Final = 64 * 1024 * 1024  # bytes that any backup may unpack to, however small it is
MOST: Final = 100_000  # files of one backup: 800 GB of rows
BLOCK: Final = 512  # bytes of a tar's header, and of what its files are filled up to
PACKING: Final[Mapping[int, int]] = {zstd.CompressionParameter.compression_level: 6, zstd.CompressionParameter.checksum_flag: 1}
"""Of zstd: as small as a zip, five times as fast; its checksum finds a changed byte wherever it is."""

MOST_VALUES: Final = 1_000_000
"""Values of one row: those that hold lists (a run's report, a site's lines) have thousands. In memory a value takes up to thirty times its
bytes."""

STRINGS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')

Put = Callable[[str, bytes], None]  # adds a file: its name, and what is in it
DAMAGED = (zipfile.BadZipFile, zlib.error, zstd.ZstdError, EOFError, NotImplementedError, tarfile.TarError)
"""What the libraries raise over bytes that are no such file, or not all of it."""


@contextmanager
def writing(path: Path, into: IO[bytes]) -> Iterator[Put]:
    """Write the files of a backup into an open file, packed as the name of ``path`` says."""
    if is_zip(path):
        with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
            yield packed.writestr
        return
    with zstd.ZstdFile(into, "w", options=PACKING) as stream:

        def put(name: str, content: bytes) -> None:
            header = tarfile.TarInfo(name)
            header.size, header.mode = len(content), 0o600
            stream.write(header.tobuf(tarfile.USTAR_FORMAT))
            stream.write(content)
            stream.write(bytes(-len(content) % BLOCK))

        yield put
        stream.write(bytes(2 * BLOCK))


def is_zip(path: Path) -> bool:
    """Whether a backup of this name is a zip. Raises ``BackupError`` for a name that says neither."""
    if path.name.endswith(".zip"):
        return True
    if path.name.endswith((".tar.zst", ".tzst")):
        return False
    raise BackupError(f"{path}: what kind of file? end its name in .tar.zst or .zip")


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of a backup, in its order. Raises ``BackupError``."""
    try:
        with path.open("rb") as file:
            most = max(SMALL, path.stat().st_size * UNPACKED)
            found = _of_zip(file) if file.read(4) == b"PK\x03\x04" else _of_tar(file)
            names: set[str] = set()
            total = 0
            for name, size, is_file, content in found:
                total += size
                if not is_file or not NAME.fullmatch(name):
                    raise BackupError(
                        f"{path}: holds {name[:100]!r}, which no backup does (a link, or a place elsewhere); nothing was restored"
                    )
                if name in names:
                    raise BackupError(f"{path}: holds {name!r} twice; nothing was restored")
                if not 0 <= size <= LONGEST or total > most or len(names) >= MOST:
                    raise BackupError(f"{path}: {name} would unpack to more than a backup of this size holds; nothing was restored")
                names.add(name)
                yield name, content()
    except DAMAGED as error:
        raise BackupError(f"{path}: damaged, or no backup ({error}); nothing was restored") from error
    except OSError as error:
        raise BackupError(f"{path}: cannot be read: {error.strerror or error}") from error


def _of_zip(file: IO[bytes]) -> Iterator[tuple[str, int, bool, Callable[[], bytes]]]:
    with zipfile.ZipFile(file) as packed:
        for entry in packed.infolist():
            plain = not entry.is_dir() and (entry.external_attr >> 16) & 0o170000 in (0, 0o100000) and not entry.flag_bits & 1

            def content(entry: zipfile.ZipInfo = entry) -> bytes:
                with packed.open(entry) as stream:
                    return _whole(stream, entry.file_size)

            yield entry.orig_filename, entry.file_size, plain, content


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, int, bool, Callable[[], bytes]]]:
    file.seek(0)
    with zstd.ZstdFile(file) as stream:
        while (header := _whole(stream, BLOCK)) != bytes(BLOCK):
            entry = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
            left = [entry.size + -entry.size % BLOCK]

            def content(size: int = entry.size, left: list[int] = left) -> bytes:
                found = _whole(stream, left.pop())
                return found[:size]

            yield entry.name, entry.size, entry.type == tarfile.REGTYPE, content
        while rest := stream.read(BLOCK):  # up to the checksum, behind a second empty block
            if any(rest):
                raise tarfile.TarError("something stands behind the end")


def _whole(stream: Any, size: int) -> bytes:
    """Exactly ``size`` bytes: read in pieces, so that a size that is a lie takes no memory."""
    read = io.BytesIO()
    while read.tell() < size:
        piece = stream.read(min(size - read.tell(), 1024 * 1024))
        if not piece:
            raise EOFError("it ends too early")
        read.write(piece)
    return read.getvalue()


def countable(line: bytes) -> None:
    """Refuse a row of so many values that they would fill the memory. Raises ``ValueError``."""
    if _values(line) > MOST_VALUES and _values(STRINGS.sub(b"", line)) > MOST_VALUES:
        raise ValueError("more values than a row has")


def _values(line: bytes) -> int:
    """At least as many as the values in a line of JSON."""
    return sum(line.count(sign) for sign in (b",", b"[", b"{"))
