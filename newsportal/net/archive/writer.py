"""Archiving of a crawl: request and response records (WARC 1.1), each a gzip member of its own.

A member is written with one call and flushed, so ``kill -9`` costs at most the record being written; its incomplete rest is truncated when
the file is opened again.
"""

import os
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Self

from w3lib.url import safe_url_string
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from newsportal.errors import ArchiveError

try:
    import fcntl
except ImportError:  # Windows: concurrent writers of one archive are not detected
    fcntl = None  # type: ignore[assignment]

Headers = tuple[tuple[str, str], ...]
MAGIC = b"\x1f\x8b\x08"
TAIL_BYTES = 64 * 1024 * 1024  # range at the end searched for the last record: four times the largest download
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})  # request headers left out of the archive


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response as served: ``body`` with its content encoding, header bytes as Latin-1."""

    url: str
    status: int
    headers: Headers
    body: bytes
    method: str = "GET"
    request_headers: Headers = ()
    request_body: bytes = b""
    address: str | None = None
    when: datetime | None = None


class Writer:
    """Append to a WARC file. Raises :class:`ArchiveError`. Thread-safe."""

    def __init__(self, path: Path | str, software: str = "newsportal") -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._file = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise ArchiveError(f"{self.path}: {error.strerror or error}") from error
        try:
            self._claim()
            self._end = _sound_length(self._file, self.path)
            self._file.truncate(self._end)
            info = {"software": software, "format": "WARC File Format 1.1"}
            self._append([WARCWriter(BytesIO(), warc_version="1.1").create_warcinfo_record(self.path.name, info)])
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, exchange: Exchange) -> None:
        date = {"WARC-Date": _date(exchange.when)}
        if exchange.address:
            date["WARC-IP-Address"] = exchange.address
        try:
            phrase = HTTPStatus(exchange.status).phrase
        except ValueError:
            phrase = ""
        served = _AsServed(f"{exchange.status} {phrase}", list(exchange.headers), protocol="HTTP/1.1")
        answer = _record(exchange.url, "response", exchange.body, date, http_headers=served)
        pair = {**date, "WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID")}
        headers = [(name, value) for name, value in exchange.request_headers if name.lower() not in SECRET_HEADERS]
        path = "/" + safe_url_string(exchange.url).partition("://")[2].partition("/")[2]
        sent = _AsServed(f"{exchange.method} {path} HTTP/1.1", headers, protocol="")
        self._append([_record(exchange.url, "request", exchange.request_body, pair, http_headers=sent), answer])

    def write_metadata(self, url: str, content_type: str, body: bytes, when: datetime | None = None) -> None:
        """Append a metadata record for the page at ``url``."""
        self._append([_record(url, "metadata", body, {"WARC-Date": _date(when)}, warc_content_type=content_type)])

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _claim(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ArchiveError(f"{self.path}: another process writes this archive") from error

    def _append(self, records: list[Any]) -> None:
        packed = BytesIO()
        for record in records:
            WARCWriter(packed, gzip=True, warc_version="1.1").write_record(record)
        with self._lock:
            try:
                data = packed.getbuffer()
                written = 0
                while written < len(data):
                    written += self._file.write(data[written:]) or 0
                self._end += written
            except (OSError, ValueError) as error:  # the disk is full, or the writer is closed
                if not self._file.closed:
                    self._file.truncate(self._end)  # remove the incomplete record before others are appended
                raise ArchiveError(f"{self.path}: {error}") from error


class _AsServed(StatusAndHeaders):  # type: ignore[misc]
    """Headers with unchanged bytes: warcio would quote non-ASCII ones."""

    def to_ascii_bytes(self, filter_func: object = None) -> bytes:
        return bytes(self.to_str(filter_func).encode("latin-1", "replace")) + b"\r\n"


def _date(when: datetime | None) -> str:
    return (when or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _record(url: str, kind: str, body: bytes, warc: Mapping[str, str], **options: Any) -> Any:
    maker = WARCWriter(BytesIO(), warc_version="1.1")
    return maker.create_warc_record(url, kind, payload=BytesIO(body), length=len(body), warc_headers_dict=dict(warc), **options)


def _sound_length(file: IO[bytes], path: Path) -> int:
    """Return the length of the file up to the last complete record. Raises :class:`ArchiveError` for a file of another format."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        return 0
    file.seek(0)
    if not _opens_record(file.read(4096)):
        if size < 64:
            return 0  # our first record, incomplete
        raise ArchiveError(f"{path}: exists and is not a gzipped WARC file; choose another name")
    start = max(0, size - TAIL_BYTES)
    file.seek(start)
    tail = file.read()
    at = len(tail)
    while (at := tail.rfind(MAGIC, 0, at)) >= 0:
        if _opens_record(tail[at : at + 4096]):
            stream = zlib.decompressobj(31)
            _run(stream, tail[at:])
            return start + (len(tail) - len(stream.unused_data) if stream.eof else at)
    raise ArchiveError(f"{path}: no record begins in its last {TAIL_BYTES} bytes; choose another name")


def _opens_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(data, 5) == b"WARC/"
    except zlib.error:
        return False


def _run(stream: Any, data: bytes) -> None:
    try:
        while data and not stream.eof:
            stream.decompress(data, 1 << 20)
            data = stream.unconsumed_tail
    except zlib.error:
        pass  # incomplete: the record is dropped
