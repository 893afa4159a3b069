"""An index over a WARC file: positions and metadata of responses by URL. Bodies stay in the file.

Reads ``.warc`` and ``.warc.gz`` (detected by content), with one record per gzip member or all records in one.
"""

from __future__ import annotations

import logging
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

from w3lib.url import safe_url_string
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

from newsportal.errors import ReplayError
from newsportal.text import clean

logger = logging.getLogger(__name__)
Progress = Callable[[int, int], None]  # called occasionally with the bytes read and the total bytes
PROGRESS_RECORDS = 500  # records between two calls of progress: about a fifth of a second
ERRORS = (ArchiveLoadFailed, StatusAndHeadersParserException, zlib.error, ValueError, EOFError, AttributeError)
"""Exceptions of warcio for damaged data; ``AttributeError`` for a record without URL and length."""
UNDATED = datetime.fromtimestamp(0, UTC)  # time of a record without one
DEFAULT_PORT = {"http": "80", "https": "443"}
ESCAPE = re.compile("%[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Recording:
    """A response as it was served: chunks are joined, content encodings are kept. ``truncated``: the body exceeded the limit."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False
    when: datetime = UNDATED


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a response, without its body. ``status`` 0: unreadable; ``location``: of a redirect, as served."""

    url: str
    status: int
    content_type: str
    when: datetime
    location: str | None = None


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Some of the URLs of an :class:`Index`, to be sent to another process that can read the file."""

    path: str
    positions: Mapping[str, int]
    payload: Mapping[str, int]
    one_stream: bool

    def open(self) -> Index:
        """Open the index without scanning the file. Raises :class:`ReplayError`."""
        index = Index(Path(self.path), _open(Path(self.path)))
        if self.one_stream:
            index.unpack()
        index._at, index._payload = dict(self.positions), dict(self.payload)
        return index

    def part(self, urls: Iterable[str]) -> IndexPart:
        names = [name for name in map(url_key, urls) if name in self.positions]
        payload = {name: self.payload[name] for name in names if name in self.payload}
        return replace(self, positions={name: self.positions[name] for name in names}, payload=payload)


def url_key(url: str) -> str:
    """Return the normalized URL for lookups (quoted, without default port and fragment); an invalid URL is unchanged."""
    try:
        parts = urlsplit(safe_url_string(url.strip().removeprefix("<").removesuffix(">")))
    except ValueError:
        return url
    host, _, port = parts.netloc.lower().rpartition("@")[2].partition(":") if "[" not in parts.netloc else (parts.netloc.lower(), "", "")
    netloc = host if port in ("", DEFAULT_PORT.get(parts.scheme)) else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return ESCAPE.sub(lambda match: match[0].upper(), f"{parts.scheme}://{netloc}{parts.path or '/'}{query}")


def open_index(path: Path | str, progress: Progress | None = None) -> Index:
    """Scan the file and record the position of each URL's last response. If the file ends inside a record (its crawl was killed), the
    records before it are used, with a warning. Raises :class:`ReplayError` with file and byte."""
    path = Path(path)
    index = Index(path, _open(path))
    try:
        index._scan(progress)
    except BaseException:
        index.close()
        raise
    for warning in index.warnings:
        logger.warning("%s", warning)
    return index


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise ReplayError(f"{path}: {error.strerror or error}") from error


class Index:
    """Responses of a WARC file by URL. Created by :func:`open_index`; not thread-safe."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.warnings: tuple[str, ...] = ()
        self.answers: Mapping[str, Metadata] = {}  # by names of :func:`url_key`, in file order; empty for an index opened from a part
        self._file = file
        self._one_stream = False
        self._at: dict[str, int] = {}
        self._payload: dict[str, int] = {}  # of revisit records: position of the body

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, url: str) -> bool:
        return url_key(url) in self._at

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def urls(self) -> tuple[str, ...]:
        return tuple(self._at)

    def part(self, urls: Iterable[str]) -> IndexPart:
        """Return the part needed to read the responses of these URLs."""
        return IndexPart(str(self.path), self._at, self._payload, self._one_stream).part(urls)

    def get(self, url: str, max_bytes: int | None = None) -> Recording | None:
        """Return the last response of ``url``, its body truncated to ``max_bytes``; ``None`` if the file has none."""
        name = url_key(url)
        if name not in self._at:
            return None
        record = self._record(self._at[name])
        headers = record.http_headers
        body, truncated = body_of(self._record(self._payload[name]) if name in self._payload else record, max_bytes)
        when = parse_warc_date(record.rec_headers.get_header("WARC-Date") or "")
        if headers is None:  # a resource record: the file itself
            content_type = record.rec_headers.get_header("Content-Type") or "application/octet-stream"
            return Recording(url, 200, (("Content-Type", content_type),), body, truncated, when)
        pairs = tuple((name, value) for name, value in headers.headers if name.lower() not in ("transfer-encoding", "content-length"))
        return Recording(url, status_of(record) or 502, pairs, body, truncated, when)

    def _record(self, offset: int) -> Any:
        self._file.seek(offset)
        try:
            return next(ArchiveIterator(self._file))
        except (*ERRORS, StopIteration) as error:
            raise ReplayError(f"{self.path}: the record at byte {offset} cannot be read any more: {error}") from error

    def _scan(self, progress: Progress | None) -> None:
        try:
            self._read_through(progress)
        except _OneMember:
            self.unpack()
            self._read_through(progress)
        if not self._at and not self.warnings:
            raise ReplayError(f"{self.path}: it contains no HTTP response")

    def unpack(self) -> None:
        """Decompress the file once, because records inside one gzip stream are not seekable. Raises :class:`ReplayError`."""
        self._file, self._one_stream = _unpacked(self._file, self.path), True

    def _read_through(self, progress: Progress | None) -> None:
        size = self._file.seek(0, 2)
        self._file.seek(0)
        notes = _Notes()
        iterator = ArchiveIterator(self._file)
        number = 0
        try:
            for number, record in enumerate(iterator, 1):
                if not hasattr(record.raw_stream, "limit"):
                    raise ArchiveLoadFailed(f"record {number} has no length")
                iterator.read_to_end(record)
                if record.raw_stream.limit > 0:
                    self.warnings = (f"{self.path}: ends inside record {number}; it was cut, {number - 1} records are there",)
                    break
                notes.add(record, iterator.get_record_offset())
                if progress and number % PROGRESS_RECORDS == 0:
                    progress(self._file.tell(), size)
        except ERRORS as error:
            if "non-chunked gzip" in str(error):
                raise _OneMember from error
            reason = clean(str(error))[:80]  # warcio quotes the bytes it failed on
            raise ReplayError(
                f"{self.path}: not a readable WARC file at byte {iterator.offset} (after {number} records): {reason}"
            ) from error
        self._at, self._payload = notes.settled()
        self.answers = {name: notes.answers[name] for name in self._at}
        if progress:
            progress(size, size)


class _OneMember(Exception):
    """All records are in one gzip stream."""


class _Notes:
    """Results of a scan: positions by URL, and for revisit records the possible positions of their bodies."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.revisits: dict[str, tuple[int, str, str]] = {}  # URL: position, digest, URL it repeats
        self.by_digest: dict[str, int] = {}
        self.answers: dict[str, Metadata] = {}

    def add(self, record: Any, offset: int) -> None:
        target = record.rec_headers.get_header("WARC-Target-URI")
        if record.rec_type not in ("response", "resource", "revisit") or not target or not target.lstrip("<").startswith("http"):
            return
        if record.rec_type == "response" and record.http_headers is None:
            return
        name = url_key(target)
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        if record.rec_type == "revisit":
            refers = record.rec_headers.get_header("WARC-Refers-To-Target-URI") or target
            self.revisits[name] = (offset, digest, url_key(refers))
            self.answers.setdefault(name, _answer(record, target))
            return
        if status_of(record) == 304 and name in self.at:
            return  # the reply to a conditional request of the crawl; useless for replay
        if digest:
            self.by_digest.setdefault(digest, offset)
        self.at[name], self.answers[name] = offset, _answer(record, target)
        self.revisits.pop(name, None)

    def settled(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return positions of responses, and of the bodies of revisits. A revisit without a body is dropped."""
        payload: dict[str, int] = {}
        for name, (offset, digest, refers) in self.revisits.items():
            if (body := self.by_digest.get(digest, self.at.get(refers))) is not None:
                payload[name] = body
                self.at[name] = offset
        return self.at, payload


def _answer(record: Any, target: str) -> Metadata:
    headers = record.http_headers
    content_type = (headers or record.rec_headers).get_header("Content-Type") or ""
    status = (status_of(record) or 0) if headers is not None else 200
    location = headers.get_header("Location") if headers is not None else None
    url = target.strip().removeprefix("<").removesuffix(">")
    return Metadata(url, status, content_type, parse_warc_date(record.rec_headers.get_header("WARC-Date") or ""), location)


def status_of(record: Any) -> int | None:
    if record.http_headers is None:
        return None
    code = record.http_headers.get_statuscode() or ""
    return int(code) if code.isascii() and code.isdigit() and 100 <= int(code) <= 999 else None


def body_of(record: Any, max_bytes: int | None) -> tuple[bytes, bool]:
    """Return the unchunked payload, and whether it was longer than ``max_bytes``."""
    headers = record.http_headers
    chunked = headers is not None and "chunked" in (headers.get_header("Transfer-Encoding") or "").lower()
    stream = ChunkedDataReader(record.raw_stream) if chunked else record.raw_stream
    body = bytearray()
    while chunk := stream.read(65536):
        body += chunk
        if max_bytes is not None and len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    """Decompress the stream into a temporary file that is deleted when closed."""
    file.seek(0)
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the index closes it
    stream = zlib.decompressobj(31)
    try:
        with file:
            while chunk := stream.unconsumed_tail or file.read(1 << 20):
                spool.write(stream.decompress(chunk, 1 << 22))
                if stream.eof:
                    break
    except (OSError, zlib.error) as error:
        spool.close()
        raise ReplayError(f"{path}: cannot be unpacked: {error}") from error
    return spool


def parse_warc_date(text: str) -> datetime:
    """Parse a WARC-Date; return 1970 for an invalid one."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return UNDATED
