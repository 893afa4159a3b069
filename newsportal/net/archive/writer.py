"""A crawl written down: request and response records (WARC 1.1), each a gzip member of its own.

A member is written in one piece and flushed, so ``kill -9`` costs at most the record that was being written; its torn rest is cut off
when the file is opened again.
"""

from __future__ import annotations

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
except ImportError:  # Windows: two processes that write one archive are not noticed there
    fcntl = None  # type: ignore[assignment]

Headers = tuple[tuple[str, str], ...]
MAGIC = b"\x1f\x8b\x08"
TAIL = 64 * 1024 * 1024  # Where the beginning of the last record is looked for: four times the longest body that is downloaded
SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})  # Request headers that nobody who gets the archive needs


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer as served: ``body`` before any content encoding is undone, header bytes as Latin-1."""

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
    """Appends to a WARC file. Raises :class:`ArchiveError`. Methods may be called from several threads."""

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
            about = {"software": software, "format": "WARC File Format 1.1"}
            self._append([WARCWriter(BytesIO(), warc_version="1.1").create_warcinfo_record(self.path.name, about)])
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
        kept = [(name, value) for name, value in exchange.request_headers if name.lower() not in SECRETS]
        path = "/" + safe_url_string(exchange.url).partition("://")[2].partition("/")[2]
        sent = _AsServed(f"{exchange.method} {path} HTTP/1.1", kept, protocol="")
        self._append([_record(exchange.url, "request", exchange.request_body, pair, http_headers=sent), answer])

    def note(self, url: str, content_type: str, body: bytes, when: datetime | None = None) -> None:
        """Append a metadata record: what is known of the page at ``url``."""
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
                    self._file.truncate(self._end)  # what follows must not stand behind half a record
                raise ArchiveError(f"{self.path}: {error}") from error


class _AsServed(StatusAndHeaders):  # type: ignore[misc]
    """Headers whose bytes stay as they were: warcio would quote those that are not ASCII."""

    def to_ascii_bytes(self, filter_func: object = None) -> bytes:
        return bytes(self.to_str(filter_func).encode("latin-1", "replace")) + b"\r\n"


def _date(when: datetime | None) -> str:
    return (when or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _record(url: str, kind: str, body: bytes, warc: Mapping[str, str], **options: Any) -> Any:
    maker = WARCWriter(BytesIO(), warc_version="1.1")
    return maker.create_warc_record(url, kind, payload=BytesIO(body), length=len(body), warc_headers_dict=dict(warc), **options)


def _sound_length(file: IO[bytes], path: Path) -> int:
    """How many bytes of the file are whole records. Raises :class:`ArchiveError` if it is something else than our kind of archive."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        return 0
    file.seek(0)
    if not _opens_record(file.read(4096)):
        if size < 64:
            return 0  # our first record, torn
        raise ArchiveError(f"{path}: exists and is not a gzipped WARC file; choose another name")
    start = max(0, size - TAIL)
    file.seek(start)
    tail = file.read()
    at = len(tail)
    while (at := tail.rfind(MAGIC, 0, at)) >= 0:
        if _opens_record(tail[at : at + 4096]):
            stream = zlib.decompressobj(31)
            _run(stream, tail[at:])
            return start + (len(tail) - len(stream.unused_data) if stream.eof else at)
    raise ArchiveError(f"{path}: no record begins in its last {TAIL} bytes; choose another name")


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
        pass  # torn: the record does not count
