"""The archive format of backups: a zip, or a tar compressed with zstd, written to a temporary file beside its path until complete. Nothing
is ever extracted to disk.

Input is untrusted: names that escape a folder, links, devices, duplicate names, oversized files and decompression bombs are refused before
they are read. Tar headers are parsed here, because ``tarfile`` allocates as much memory as they demand.

The writing process locks the file until it ends (ids of processes are the same in different containers): one without lock is left over.
"""

import io
import os
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from newsportal.errors import BackupError

try:
    import fcntl
except ImportError:  # Windows: temporary files of killed backups are not deleted
    fcntl = None  # type: ignore[assignment]

DATED: Final = re.compile(r"newsportal-\d{8}-\d{6}\.tar\.zst")  # file name of a backup in a folder of backups
PART: Final = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.part", re.DOTALL)
"""Name of the temporary file for ``name``; the eight characters come from ``tempfile``."""


@contextmanager
def new_file(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Create a temporary file beside ``path``, readable only by its owner because backups contain passwords. The caller renames it to
    ``path``, or it is deleted.

    Temporary files of killed backups of this name, or of dated names, are deleted first. Raises ``OSError``.
    """
    for old in leftover_files(path):  # files locked by a running process stay, and all files on a disk without locks
        with suppress(OSError), old.open("rb") as locked:  # deleted meanwhile, locked or owned by another user: make the backup anyway
            if fcntl is not None:
                fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
                old.unlink()
    part, file = _create_locked(path)
    try:
        with file:
            yield part, file
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Create and lock a folder. Raises ``BackupError`` if another process holds the lock."""
    with ExitStack() as stack:
        with suppress(OSError):  # no folder, which opening the store in it reports; or a disk without locks
            folder.mkdir(parents=True, exist_ok=True)
            if fcntl is not None:
                stack.callback(os.close, number := os.open(folder, os.O_RDONLY))
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise BackupError(f"{folder}: another restore is running there; wait for its end, or stop it first") from error
        yield


def leftover_files(path: Path) -> list[Path]:
    """Return the temporary files of backups beside ``path``, by their names; some may be in use."""
    found = ((part, PART.fullmatch(part.name)) for part in path.parent.iterdir())
    return sorted(part for part, match in found if match and (match["name"] == path.name or DATED.fullmatch(match["name"])))


def _create_locked(path: Path) -> tuple[Path, IO[bytes]]:
    """Create and lock a new file. Retry if another process deleted it as a leftover before it was locked."""
    while True:
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        file = open(number, "wb")  # noqa: SIM115  closed by the caller
        if fcntl is not None:
            with suppress(OSError):  # a disk without locks: no process deletes the file either
                fcntl.flock(file, fcntl.LOCK_EX)
        if Path(name).exists():
            return Path(name), file
        file.close()


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAME: Final = re.compile(r"manifest\.json|sources\.yaml|records/[a-z_]{1,60}/\d{6}\.jsonl")  # all file names allowed in a backup
PIECE_BYTES: Final = 8 * 1024 * 1024  # bytes of rows after which a new file begins
MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Maximum size of one file, in bytes: :data:`PIECE_BYTES`, plus one row that may be long. An article has at most 16 MB of text."""

MAX_RATIO: Final = 1024
"""Maximum ratio of the files' total size to the size of the backup: texts compress to a fifth, identical rows to a thousandth."""

ALWAYS_ALLOWED: Final = 64 * 1024 * 1024  # bytes that any backup may expand to, even a very small one
MAX_FILES: Final = 100_000  # maximum number of files in a backup: 800 GB of rows
BLOCK: Final = 512  # bytes of a tar header; files are padded to multiples of it
PACKING: Final[Mapping[int, int]] = {zstd.CompressionParameter.compression_level: 6, zstd.CompressionParameter.checksum_flag: 1}
"""Options of zstd: as small as a zip, five times as fast; its checksum detects any changed byte."""

MAX_VALUES: Final = 1_000_000
"""Maximum number of values in one row: rows with lists (a run report, the lines of a site) have thousands. In memory a value takes up to
thirty times its size in JSON."""

STRINGS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')

Put = Callable[[str, bytes], None]  # adds a file, given its name and content
DAMAGED = (zipfile.BadZipFile, zlib.error, zstd.ZstdError, EOFError, NotImplementedError, tarfile.TarError)
"""Exceptions of the libraries for files that are truncated, damaged or not archives."""


@contextmanager
def write_archive(path: Path, file: IO[bytes]) -> Iterator[Put]:
    """Write the files of a backup to an open file, in the archive format given by the suffix of ``path``."""
    if is_zip(path):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            yield archive.writestr
        return
    with zstd.ZstdFile(file, "w", options=PACKING) as stream:

        def put(name: str, content: bytes) -> None:
            header = tarfile.TarInfo(name)
            header.size, header.mode = len(content), 0o600
            stream.write(header.tobuf(tarfile.USTAR_FORMAT))
            stream.write(content)
            stream.write(bytes(-len(content) % BLOCK))

        yield put
        stream.write(bytes(2 * BLOCK))


def is_zip(path: Path) -> bool:
    """Return whether a backup of this name is a zip. Raises ``BackupError`` for an unknown suffix."""
    if path.name.endswith(".zip"):
        return True
    if path.name.endswith((".tar.zst", ".tzst")):
        return False
    raise BackupError(f"{path}: unknown file type; the name must end in .tar.zst or .zip")


def read_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file of a backup, in order. Raises ``BackupError``."""
    try:
        with path.open("rb") as file:
            most = max(ALWAYS_ALLOWED, path.stat().st_size * MAX_RATIO)
            found = _zip_entries(file) if file.read(4) == b"PK\x03\x04" else _tar_entries(file)
            names: set[str] = set()
            total = 0
            for name, size, is_file, content in found:
                total += size
                if not is_file or not NAME.fullmatch(name):
                    raise BackupError(
                        f"{path}: holds {name[:100]!r}, which is not allowed in a backup (a link, or a path outside); nothing was restored"
                    )
                if name in names:
                    raise BackupError(f"{path}: holds {name!r} twice; nothing was restored")
                if not 0 <= size <= MAX_FILE_BYTES or total > most or len(names) >= MAX_FILES:
                    raise BackupError(f"{path}: {name} would be unpacked to more than a backup of this size may have; nothing was restored")
                names.add(name)
                yield name, content()
    except DAMAGED as error:
        raise BackupError(f"{path}: damaged, or not a backup ({error}); nothing was restored") from error
    except OSError as error:
        raise BackupError(f"{path}: cannot be read: {error.strerror or error}") from error


def _zip_entries(file: IO[bytes]) -> Iterator[tuple[str, int, bool, Callable[[], bytes]]]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            plain = not entry.is_dir() and (entry.external_attr >> 16) & 0o170000 in (0, 0o100000) and not entry.flag_bits & 1

            def content(entry: zipfile.ZipInfo = entry) -> bytes:
                with archive.open(entry) as stream:
                    return _read_exactly(stream, entry.file_size)

            yield entry.orig_filename, entry.file_size, plain, content


def _tar_entries(file: IO[bytes]) -> Iterator[tuple[str, int, bool, Callable[[], bytes]]]:
    file.seek(0)
    with zstd.ZstdFile(file) as stream:
        while (header := _read_exactly(stream, BLOCK)) != bytes(BLOCK):
            entry = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
            unread = [entry.size + -entry.size % BLOCK]

            def content(size: int = entry.size, unread: list[int] = unread) -> bytes:
                found = _read_exactly(stream, unread.pop())
                return found[:size]

            yield entry.name, entry.size, entry.type == tarfile.REGTYPE, content
        while block := stream.read(BLOCK):  # read up to the checksum, after a second empty block
            if any(block):
                raise tarfile.TarError("data after the end")


def _read_exactly(stream: Any, size: int) -> bytes:
    """Read exactly ``size`` bytes, in pieces, so that a false size allocates no memory."""
    buffer = io.BytesIO()
    while buffer.tell() < size:
        chunk = stream.read(min(size - buffer.tell(), 1024 * 1024))
        if not chunk:
            raise EOFError("it ends too early")
        buffer.write(chunk)
    return buffer.getvalue()


def check_row(line: bytes) -> None:
    """Check the number of values in a row, which could fill the memory. Raises ``ValueError``."""
    if _count_values(line) > MAX_VALUES and _count_values(STRINGS.sub(b"", line)) > MAX_VALUES:
        raise ValueError("too many values for a row")


def _count_values(line: bytes) -> int:
    """Return an upper bound for the number of values in a line of JSON."""
    return sum(line.count(sign) for sign in (b",", b"[", b"{"))
