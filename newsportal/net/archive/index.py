"""A WARC file as a Web: which URL is where, and what was answered there. Bodies stay in the file.

Reads ``.warc`` and ``.warc.gz`` (by content, not by name), one record a gzip member or all records in one.
"""

from __future__ import annotations

import gzip
import logging
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, Self
from urllib.parse import urlsplit

from w3lib.url import safe_url_string
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

from newsportal.errors import ReplayError
from newsportal.text import clean

logger = logging.getLogger(__name__)
Progress = Callable[[int, int], None]  # Called now and then with the bytes read and the bytes there are
PROGRESS_RECORDS = 500  # Records between two calls of progress: about a fifth of a second
BROKEN = (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, ValueError, EOFError)  # what warcio raises over broken bytes
DEFAULT_PORT = {"http": "80", "https": "443"}
ESCAPE = re.compile("%[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer as it was served: chunks are joined, content encodings are kept. ``truncated``: the body passed the limit."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False


def key(url: str) -> str:
    """The spelling under which a URL is looked up (quoted, without default port and fragment); what is no URL stays as it is."""
    try:
        parts = urlsplit(safe_url_string(url.strip().removeprefix("<").removesuffix(">")))
    except ValueError:
        return url
    host, _, port = parts.netloc.lower().rpartition("@")[2].partition(":") if "[" not in parts.netloc else (parts.netloc.lower(), "", "")
    shown = host if port in ("", DEFAULT_PORT.get(parts.scheme)) else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return ESCAPE.sub(lambda match: match[0].upper(), f"{parts.scheme}://{shown}{parts.path or '/'}{query}")


def open_index(path: Path | str, progress: Progress | None = None) -> Index:
    """Read through the file once and remember where each URL's last answer is.

    Raises :class:`ReplayError` with file and byte for what cannot be read. A file that ends inside a record (its crawl was killed)
    gives what is before that, and says so in ``Index.warnings``.
    """
    path = Path(path)
    try:
        file: IO[bytes] = path.open("rb")
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error
    index = Index(path, file)
    try:
        index._scan(progress)
    except BaseException:
        index.close()
        raise
    for warning in index.warnings:
        logger.warning("%s", warning)
    return index


class Index:
    """Answers of a WARC file by URL. Made by :func:`open_index`; for one thread."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.warnings: tuple[str, ...] = ()
        self._file = file
        self._at: dict[str, int] = {}
        self._payload: dict[str, int] = {}  # of revisit records: where the body is

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, url: str) -> bool:
        return key(url) in self._at

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def urls(self) -> tuple[str, ...]:
        return tuple(self._at)

    def get(self, url: str, max_bytes: int | None = None) -> Recorded | None:
        """The last answer of ``url``, its body no longer than ``max_bytes``; ``None`` if the file has none."""
        name = key(url)
        if name not in self._at:
            return None
        record = self._record(self._at[name])
        headers = record.http_headers
        source = self._record(self._payload[name]) if name in self._payload else record
        body, truncated = body_of(source, max_bytes)
        if headers is None:  # a resource record: the file as it is
            content_type = record.rec_headers.get_header("Content-Type") or "application/octet-stream"
            return Recorded(url, 200, (("Content-Type", content_type),), body, truncated)
        kept = tuple((name, value) for name, value in headers.headers if name.lower() not in ("transfer-encoding", "content-length"))
        return Recorded(url, _status(record) or 502, kept, body, truncated)

    def _record(self, offset: int) -> Any:
        self._file.seek(offset)
        try:
            return next(ArchiveIterator(self._file))
        except (*BROKEN, StopIteration) as error:
            raise ReplayError(f"{self.path}: the record at byte {offset} cannot be read any more: {error}") from error

    def _scan(self, progress: Progress | None) -> None:
        try:
            self._read_through(progress)
        except _OneMember:  # records cannot be reached inside one gzip stream, so it is unpacked once
            self._file = _unpacked(self._file, self.path)
            self._read_through(progress)
        if not self._at and not self.warnings:
            raise ReplayError(f"{self.path}: no answer of a Web server in it")

    def _read_through(self, progress: Progress | None) -> None:
        size = self._file.seek(0, 2)
        self._file.seek(0)
        notes = _Notes()
        iterator = ArchiveIterator(self._file)
        number = 0
        try:
            for number, record in enumerate(iterator, 1):
                if not hasattr(record.raw_stream, "limit"):
                    raise ArchiveLoadFailed(f"record {number} does not say how long it is")
                iterator.read_to_end(record)
                if record.raw_stream.limit > 0:
                    self.warnings = (f"{self.path}: ends inside record {number}; it was cut, {number - 1} records are there",)
                    break
                notes.add(record, iterator.get_record_offset())
                if progress and number % PROGRESS_RECORDS == 0:
                    progress(self._file.tell(), size)
        except BROKEN as error:
            if "non-chunked gzip" in str(error):
                raise _OneMember from error
            reason = clean(str(error))[:80]  # warcio quotes the bytes it stumbled over
            raise ReplayError(
                f"{self.path}: not a readable WARC file at byte {iterator.offset} (after {number} records): {reason}"
            ) from error
        self._at, self._payload = notes.settled()
        if progress:
            progress(size, size)


class _OneMember(Exception):
    """All records lie in one gzip stream."""


class _Notes:
    """What a first reading keeps: offsets by URL, and for revisit records where their body may be."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.revisits: dict[str, tuple[int, str, str]] = {}  # URL: offset, digest, URL it repeats
        self.by_digest: dict[str, int] = {}

    def add(self, record: Any, offset: int) -> None:
        target = record.rec_headers.get_header("WARC-Target-URI")
        if record.rec_type not in ("response", "resource", "revisit") or not target or not target.lstrip("<").startswith("http"):
            return
        if record.rec_type == "response" and record.http_headers is None:
            return
        name = key(target)
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        if record.rec_type == "revisit":
            refers = record.rec_headers.get_header("WARC-Refers-To-Target-URI") or target
            self.revisits[name] = (offset, digest, key(refers))
            return
        if _status(record) == 304 and name in self.at:
            return  # "as before", said to a crawl that had it: nobody who replays does
        if digest:
            self.by_digest.setdefault(digest, offset)
        self.at[name] = offset
        self.revisits.pop(name, None)

    def settled(self) -> tuple[dict[str, int], dict[str, int]]:
        """Offsets of the answers, and of the bodies of those that are revisits. A revisit of nothing is no answer."""
        payload: dict[str, int] = {}
        for name, (offset, digest, refers) in self.revisits.items():
            body = self.by_digest.get(digest, self.at.get(refers))
            if body is not None:
                payload[name] = body
                self.at[name] = offset
        return self.at, payload


def _status(record: Any) -> int | None:
    if record.http_headers is None:
        return None
    code = record.http_headers.get_statuscode() or ""
    return int(code) if code.isascii() and code.isdigit() and 100 <= int(code) <= 999 else None


def body_of(record: Any, max_bytes: int | None) -> tuple[bytes, bool]:
    """The payload without its chunks, and whether it was longer than ``max_bytes``."""
    headers = record.http_headers
    chunked = headers is not None and "chunked" in (headers.get_header("Transfer-Encoding") or "").lower()
    stream = ChunkedDataReader(record.raw_stream) if chunked else record.raw_stream
    body = bytearray()
    while piece := stream.read(65536):
        body += piece
        if max_bytes is not None and len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    """The stream unpacked into a temporary file that goes when it is closed."""
    file.seek(0)
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the index closes it
    stream = zlib.decompressobj(31)
    try:
        with file:
            while piece := stream.unconsumed_tail or file.read(1 << 20):
                spool.write(stream.decompress(piece, 1 << 22))
                if stream.eof:
                    break
    except (OSError, zlib.error) as error:
        spool.close()
        raise ReplayError(f"{path}: cannot be unpacked: {error}") from error
    return spool


LONGEST: Final = 64 * 1024 * 1024  # Bytes of a body that are read: four times the longest that is downloaded
ZIPPED: Final = b"\x1f\x8b"
BEGINNING: Final = b"WARC/"


@dataclass(frozen=True, slots=True)
class Record:
    """``kind``: ``response``, ``metadata``, …; ``content_type`` that of the body, ``status`` 0 where there is none; ``body`` as it was
    served, without its chunks and at most ``LONGEST`` bytes of it, and ``encodings`` what is to be undone (the header's value)."""

    kind: str
    url: str
    when: datetime
    content_type: str
    status: int
    encodings: str
    body: bytes


def records(path: Path) -> Iterator[Record]:
    """Every record that names an address. Raises :class:`ReplayError`; a file that ends inside a record gives what is before that."""
    try:
        with path.open("rb") as file:
            for record in ArchiveIterator(_one_stream(file), no_record_parse=False):
                if record.rec_headers.get_header("WARC-Target-URI"):
                    yield _of(record)
    except EOFError:
        return  # the crawl that wrote it was killed
    except BROKEN as error:
        raise ReplayError(f"{path}: not a readable WARC file: {clean(str(error))[:80]}") from error
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


def _one_stream(file: IO[bytes]) -> Any:
    """Unpacked here: warcio refuses files whose records are packed all together."""
    zipped = file.read(2) == ZIPPED
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if zipped else file
    if not stream.read(len(BEGINNING)).startswith(BEGINNING):
        raise ValueError("it does not begin as one")
    stream.seek(0)
    return stream


def _of(record: Any) -> Record:
    http = record.http_headers
    body, _ = body_of(record, LONGEST)
    content_type = (http or record.rec_headers).get_header("Content-Type") or ""
    url = record.rec_headers.get_header("WARC-Target-URI").removeprefix("<").removesuffix(">")
    when = _moment(record.rec_headers.get_header("WARC-Date") or "")
    encodings = (http.get_header("Content-Encoding") or "") if http is not None else ""
    return Record(record.rec_type, url, when, content_type, _status(record) or 0, encodings, body)


def _moment(said: str) -> datetime:
    """WARC-Date; the beginning of time for what is none."""
    try:
        return datetime.fromisoformat(said).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)
